//! kube-rs controllers: owned objects, finalizers, events.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{Event as Finalizer, finalizer};
use kube::runtime::wait::{await_condition, conditions::is_deleted};
use kube::runtime::{Controller, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::sync::oneshot;

use super::expect::soon;
use super::target::Target;
use super::widget::{Widget, mk_widget};

conformance!(api:
    controller_keeps_what_it_owns_and_cleans_up,
    recorder_stores_events,
);

const FINALIZER: &str = "conformance.pathline.dev/cleanup";

struct Connection {
    client: Client,
}

async fn reconcile(
    widget: Arc<Widget>,
    context: Arc<Connection>,
) -> Result<Action, ReconcileError> {
    let namespace = widget.namespace().unwrap_or_default();
    let widgets: Api<Widget> = Api::namespaced(context.client.clone(), &namespace);
    let maps: Api<ConfigMap> = Api::namespaced(context.client.clone(), &namespace);
    let reconciled = finalizer(&widgets, FINALIZER, widget, |event| async {
        match event {
            Finalizer::Apply(widget) => keep(&widgets, &maps, &widget).await?,
            Finalizer::Cleanup(_) => {
                let patch = Patch::Merge(json!({"data": {"cleaned": "yes"}}));
                maps.patch("journal", &PatchParams::default(), &patch)
                    .await?;
            }
        }
        Ok::<_, kube::Error>(Action::await_change())
    });
    reconciled
        .await
        .map_err(|error| ReconcileError(Box::new(error)))
}

/// Applies the owned config map and the status, as every controller does on every round.
async fn keep(widgets: &Api<Widget>, maps: &Api<ConfigMap>, widget: &Widget) -> kube::Result<()> {
    let apply = PatchParams::apply("controller").force();
    let owned = ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("{}-owned", widget.name_any())),
            owner_references: widget.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([(
            "color".to_owned(),
            widget.spec.color.clone(),
        )])),
        ..ConfigMap::default()
    };
    maps.patch(&owned.name_any(), &apply, &Patch::Apply(&owned))
        .await?;
    let status = json!({
        "apiVersion": Widget::api_version(&()), "kind": Widget::kind(&()),
        "status": {"observedGeneration": widget.metadata.generation},
    });
    widgets
        .patch_status(&widget.name_any(), &apply, &Patch::Apply(status))
        .await?;
    Ok(())
}

#[derive(Debug)]
struct ReconcileError(Box<dyn std::error::Error + Send + Sync>);

impl std::fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ReconcileError {}

async fn controller_keeps_what_it_owns_and_cleans_up(t: &Target) -> Result<()> {
    let (widgets, maps) = (t.widgets(), t.api::<ConfigMap>());
    let journal = serde_json::from_value(json!({"metadata": {"name": "journal"}}))?;
    maps.create(&PostParams::default(), &journal).await?;
    let (stop, stopped) = oneshot::channel::<()>();
    let controller = Controller::new(widgets.clone(), watcher::Config::default())
        .owns(maps.clone(), watcher::Config::default())
        .graceful_shutdown_on(async { drop(stopped.await) })
        .run(
            reconcile,
            |_, _: &ReconcileError, _| Action::requeue(std::time::Duration::from_millis(100)),
            Arc::new(Connection {
                client: t.client.clone(),
            }),
        )
        .for_each(|_| async {});
    let story = async {
        let widget = widgets
            .create(&PostParams::default(), &mk_widget("a"))
            .await?;
        let color = |color: &'static str| {
            move |map: Option<&ConfigMap>| {
                map.and_then(|map| map.data.as_ref())
                    .is_some_and(|data| data["color"] == color)
            }
        };
        let wait = await_condition(maps.clone(), "a-owned", color("red"));
        let first = soon("the owned object", wait)
            .await??
            .context("it exists")?;

        let paint = Patch::Merge(json!({"spec": {"color": "blue"}}));
        widgets.patch("a", &PatchParams::default(), &paint).await?;
        soon(
            "the new color",
            await_condition(maps.clone(), "a-owned", color("blue")),
        )
        .await??;

        maps.delete("a-owned", &DeleteParams::default()).await?;
        let replaced = |map: Option<&ConfigMap>| map.is_some_and(|map| map.uid() != first.uid());
        soon(
            "the replacement",
            await_condition(maps.clone(), "a-owned", replaced),
        )
        .await??;

        let observed = |widget: Option<&Widget>| {
            widget
                .and_then(|widget| widget.status.as_ref())
                .is_some_and(|status| status.observed_generation == Some(2))
        };
        soon(
            "the status",
            await_condition(widgets.clone(), "a", observed),
        )
        .await??;
        let uid = widget.uid().context("a uid")?;
        widgets.delete("a", &DeleteParams::default()).await?;
        soon(
            "the deletion",
            await_condition(widgets.clone(), "a", is_deleted(&uid)),
        )
        .await??;
        let cleaned = maps.get("journal").await?.data.unwrap_or_default();
        assert_eq!(cleaned.get("cleaned").map(String::as_str), Some("yes"));
        drop(stop);
        anyhow::Ok(())
    };
    let (told, ()) = tokio::join!(story, controller);
    told
}

async fn recorder_stores_events(t: &Target) -> Result<()> {
    let widget = t
        .widgets()
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    let recorder = Recorder::new(t.client.clone(), Reporter::from("tester"));
    let event = Event {
        type_: EventType::Normal,
        reason: "Painted".to_owned(),
        note: Some("it is red".to_owned()),
        action: "Paint".to_owned(),
        secondary: None,
    };
    let reference = widget.object_ref(&());
    recorder.publish(&event, &reference).await?;
    recorder.publish(&event, &reference).await?;
    let events: Api<k8s_openapi::api::core::v1::Event> = t.api();
    let stored = events.list(&Default::default()).await?.items;
    assert_eq!(stored.len(), 1, "the second one counts up the first");
    let stored = &stored[0];
    assert_eq!(stored.message.as_deref(), Some("it is red"));
    assert_eq!(stored.involved_object.uid, widget.uid());
    assert_eq!(
        stored.series.as_ref().and_then(|series| series.count),
        Some(2)
    );
    Ok(())
}
