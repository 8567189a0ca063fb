//! The blueprints and templates of the cluster, always at hand.

use std::sync::Arc;

use futures::StreamExt;
use futures::future::join_all;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::conditions::{self, Verdict};
use pathline_blueprint::model::{
    BlueprintStatus, ClusterConfigTemplate, ClusterDelivery, ClusterDeploymentTemplate,
    ClusterImageTemplate, ClusterSourceTemplate, ClusterSupplyChain, ClusterTemplate, GROUP,
};
use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::selection::Plan;
use pathline_blueprint::template::{Template, TemplateKind};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::shelf::Shelf;
use crate::wakeups::Wakeups;

/// A blueprint with what it last reported of itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) blueprint: Blueprint,
    pub(crate) generation: Option<i64>,
    pub(crate) status: BlueprintStatus,
}

/// What could be read of an object; one that cannot be read says why.
type Read<T> = Result<Arc<T>, String>;

/// Holds every blueprint and every template.
pub(crate) struct Catalogue {
    supply_chains: Shelf<Read<Listed>>,
    deliveries: Shelf<Read<Listed>>,
    templates: [(TemplateKind, Shelf<Read<Template>>); 5],
    changes: watch::Sender<u64>,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            supply_chains: Shelf::default(),
            deliveries: Shelf::default(),
            templates: TemplateKind::ALL.map(|kind| (kind, Shelf::default())),
            changes: watch::Sender::new(0),
        }
    }
}

impl Catalogue {
    /// Returns the blueprints for a kind of owners, by name; unreadable ones are left out.
    pub(crate) fn blueprints(&self, kind: OwnerKind) -> Vec<Arc<Listed>> {
        let listed = self.blueprint_shelf(kind).all();
        listed
            .iter()
            .filter_map(|listed| listed.as_ref().as_ref().ok().cloned())
            .collect()
    }

    /// Returns a template, or why there is none.
    pub(crate) fn template(&self, kind: TemplateKind, name: &str) -> Read<Template> {
        match self.template_shelf(kind).get(name) {
            Some(template) => template.as_ref().clone(),
            None => Err(format!("{} [{name}] does not exist", kind.name())),
        }
    }

    /// Judges whether a blueprint can be used: the conditions it reports, `Ready` last.
    pub(crate) fn judge(&self, blueprint: &Blueprint) -> Vec<Verdict> {
        let missing: Vec<&str> = blueprint
            .templates()
            .filter(|(resource, name)| {
                self.template_shelf(resource.template_kind)
                    .get(name)
                    .is_none()
            })
            .map(|(resource, _)| resource.name.as_str())
            .collect();
        conditions::of_blueprint(&missing, Plan::new(blueprint).err().as_ref())
    }

    /// Waits until everything there was at the start is known.
    pub(crate) async fn filled(&self) {
        self.supply_chains.filled().await;
        self.deliveries.filled().await;
        join_all(self.templates.iter().map(|(_, shelf)| shelf.filled())).await;
    }

    /// Returns a counter of changes, to wait on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Follows the cluster until told to stop, and wakes the owners that a change may concern.
    pub(crate) async fn follow(
        self: Arc<Self>,
        client: Client,
        wakeups: Wakeups,
        stop: CancellationToken,
    ) {
        let templates = self.templates.iter().map(|(kind, shelf)| {
            let events = watch_kind(&client, kind.name(), None, &stop);
            shelf.follow(
                events,
                |object| read_template(*kind, object),
                |old, new| {
                    self.touched(&wakeups, &OwnerKind::ALL, old != new);
                },
            )
        });
        let blueprints = OwnerKind::ALL.map(|kind| {
            let plural = (kind == OwnerKind::Deliverable).then_some("clusterdeliveries");
            let events = watch_kind(&client, kind.blueprint_kind(), plural, &stop);
            let (catalogue, wakeups) = (&self, &wakeups);
            self.blueprint_shelf(kind).follow(
                events,
                move |object| read_blueprint(kind, object),
                move |old, new| {
                    let is_changed = rules_of(old) != rules_of(new);
                    catalogue.touched(wakeups, &[kind], is_changed);
                },
            )
        });
        tokio::join!(join_all(templates), join_all(blueprints));
    }

    fn touched(&self, wakeups: &Wakeups, kinds: &[OwnerKind], is_changed: bool) {
        self.changes.send_modify(|count| *count += 1);
        for kind in kinds.iter().filter(|_| is_changed) {
            wakeups.wake_all(*kind);
        }
    }

    fn blueprint_shelf(&self, kind: OwnerKind) -> &Shelf<Read<Listed>> {
        match kind {
            OwnerKind::Workload => &self.supply_chains,
            OwnerKind::Deliverable => &self.deliveries,
        }
    }

    fn template_shelf(&self, kind: TemplateKind) -> &Shelf<Read<Template>> {
        let shelf = self.templates.iter().find(|(shelved, _)| *shelved == kind);
        &shelf
            .expect("there is a shelf for every kind of templates")
            .1
    }
}

/// What matters to owners; what a blueprint reports of itself does not.
fn rules_of(read: Option<&Read<Listed>>) -> Option<&Blueprint> {
    read.and_then(|read| read.as_ref().ok())
        .map(|listed| &listed.blueprint)
}

fn watch_kind(
    client: &Client,
    kind: &str,
    plural: Option<&str>,
    stop: &CancellationToken,
) -> impl futures::Stream<Item = watcher::Result<watcher::Event<DynamicObject>>> {
    let plural = plural.map_or_else(|| format!("{}s", kind.to_lowercase()), str::to_owned);
    let gvk = GroupVersionKind::gvk(GROUP, "v1alpha1", kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let events = watcher(api, watcher::Config::default()).default_backoff();
    events
        .modify(|object| object.managed_fields_mut().clear())
        .take_until(stop.clone().cancelled_owned())
}

fn read_blueprint(kind: OwnerKind, object: DynamicObject) -> Read<Listed> {
    let generation = object.metadata.generation;
    let status = object.data.get("status").cloned().unwrap_or_default();
    let status: BlueprintStatus = serde_json::from_value(status).unwrap_or_default();
    let blueprint: Blueprint = match kind {
        OwnerKind::Workload => parse::<ClusterSupplyChain>(object)?.into(),
        OwnerKind::Deliverable => parse::<ClusterDelivery>(object)?.into(),
    };
    Ok(Arc::new(Listed {
        blueprint,
        generation,
        status,
    }))
}

fn read_template(kind: TemplateKind, object: DynamicObject) -> Read<Template> {
    let template: Template = match kind {
        TemplateKind::Source => parse::<ClusterSourceTemplate>(object)?.into(),
        TemplateKind::Image => parse::<ClusterImageTemplate>(object)?.into(),
        TemplateKind::Config => parse::<ClusterConfigTemplate>(object)?.into(),
        TemplateKind::Deployment => parse::<ClusterDeploymentTemplate>(object)?.into(),
        TemplateKind::Plain => parse::<ClusterTemplate>(object)?.into(),
    };
    Ok(Arc::new(template))
}

fn parse<K: kube::Resource + DeserializeOwned>(object: DynamicObject) -> Result<K, String> {
    let name = object.name_any();
    object.try_parse().map_err(|error| {
        tracing::warn!(%name, %error, "an object of the catalogue cannot be read");
        error.to_string()
    })
}
