//! Watches: the raw protocol, kube-rs' watcher and reflector, streaming lists.

use anyhow::{Context, Result};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use super::expect::{next, refused, soon};
use super::objects::{merge, mk_secret};
use super::requests::Raw;
use super::target::Target;
use super::widget::{Widget, mk_widget};

conformance!(api:
    watch_resumes_after_a_resource_version,
    watch_from_zero_starts_with_what_exists,
    selected_object_that_changes_its_labels_comes_and_goes,
    watch_ends_after_its_time_out,
    bookmark_ends_the_initial_events,
    metadata_is_watched_without_the_rest,
    watcher_lists_then_follows,
    watcher_streams_its_list,
    metadata_watcher_follows,
    reflector_holds_what_the_server_holds,
    deleted_event_carries_the_last_state_and_a_new_version,
    version_older_than_the_history_is_expired,
    future_version_is_too_large,
);

/// Returns an event as `TYPE NAME`.
fn shown<K: Resource>(event: &WatchEvent<K>) -> String {
    match event {
        WatchEvent::Added(object) => format!("ADDED {}", object.name_any()),
        WatchEvent::Modified(object) => format!("MODIFIED {}", object.name_any()),
        WatchEvent::Deleted(object) => format!("DELETED {}", object.name_any()),
        WatchEvent::Bookmark(mark) => format!("BOOKMARK {:?}", mark.metadata.annotations),
        WatchEvent::Error(status) => format!("ERROR {} {}", status.code, status.reason),
    }
}

async fn watch_resumes_after_a_resource_version(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let create = PostParams::default();
    secrets.create(&create, &mk_secret("a", "x")).await?;
    let version = secrets
        .list(&ListParams::default())
        .await?
        .metadata
        .resource_version;
    let version = version.context("a list has a version")?;
    secrets.create(&create, &mk_secret("b", "x")).await?;
    secrets
        .patch(
            "a",
            &PatchParams::default(),
            &merge(json!({"stringData": {"k": "v"}})),
        )
        .await?;
    secrets.delete("b", &DeleteParams::default()).await?;

    for _ in 0..2 {
        let events = secrets.watch(&WatchParams::default(), &version).await?;
        let events: Vec<_> = soon("three events", events.take(3).try_collect()).await??;
        let events: Vec<_> = events.iter().map(shown).collect();
        assert_eq!(
            events,
            ["ADDED b", "MODIFIED a", "DELETED b"],
            "the same each time"
        );
    }
    Ok(())
}

async fn watch_from_zero_starts_with_what_exists(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    for name in ["a", "b"] {
        widgets
            .create(&PostParams::default(), &mk_widget(name))
            .await?;
    }
    // A real server may answer "0" from a cache that is behind, but never with less in the end.
    let mut events = widgets.watch(&WatchParams::default(), "0").await?.boxed();
    let mut names = Vec::new();
    while names.len() < 2 {
        if let WatchEvent::Added(widget) = next(&mut events).await? {
            names.push(widget.name_any());
        }
    }
    names.sort();
    assert_eq!(names, ["a", "b"]);
    Ok(())
}

async fn selected_object_that_changes_its_labels_comes_and_goes(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let created = secrets
        .create(&PostParams::default(), &mk_secret("a", "x"))
        .await?;
    let version = created.resource_version().context("a version")?;
    let selected = WatchParams::default().labels("tier=y");
    let mut events = secrets.watch(&selected, &version).await?.boxed();
    let relabel = async |tier: &str| {
        let patch = merge(json!({"metadata": {"labels": {"tier": tier}}}));
        secrets.patch("a", &PatchParams::default(), &patch).await
    };
    relabel("z").await?;
    relabel("y").await?;
    relabel("x").await?;
    relabel("y").await?;
    secrets.delete("a", &DeleteParams::default()).await?;
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(shown(&next(&mut events).await?));
    }
    assert_eq!(seen, ["ADDED a", "DELETED a", "ADDED a", "DELETED a"]);
    Ok(())
}

async fn watch_ends_after_its_time_out(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let version = secrets
        .list(&ListParams::default())
        .await?
        .metadata
        .resource_version;
    let events = secrets
        .watch(
            &WatchParams::default().timeout(1),
            &version.context("a version")?,
        )
        .await?;
    let events: Vec<_> = soon("the end of the watch", events.try_collect::<Vec<_>>()).await??;
    let others = events
        .iter()
        .filter(|event| !matches!(event, WatchEvent::Bookmark(_)))
        .count();
    assert_eq!(others, 0, "nothing happened");
    Ok(())
}

async fn bookmark_ends_the_initial_events(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    for name in ["a", "b"] {
        secrets
            .create(&PostParams::default(), &mk_secret(name, "x"))
            .await?;
    }
    for version in ["", "0"] {
        let mut events = secrets
            .watch(&WatchParams::streaming_lists(), version)
            .await?
            .boxed();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(shown(&next(&mut events).await?));
        }
        let bookmark = r#"BOOKMARK {"k8s.io/initial-events-end": "true"}"#;
        assert_eq!(seen, ["ADDED a", "ADDED b", bookmark]);
        secrets
            .patch(
                "a",
                &PatchParams::default(),
                &merge(json!({"stringData": {"v": version}})),
            )
            .await?;
        let mut changed = shown(&next(&mut events).await?);
        // A server may say at any time how far it is.
        while changed == "BOOKMARK {}" {
            changed = shown(&next(&mut events).await?);
        }
        assert_eq!(changed, "MODIFIED a", "the watch goes on");
    }
    Ok(())
}

async fn metadata_is_watched_without_the_rest(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let version = widgets
        .list_metadata(&ListParams::default())
        .await?
        .metadata
        .resource_version;
    let version = version.context("a list has a version")?;
    widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    let mut events = widgets
        .watch_metadata(&WatchParams::default(), &version)
        .await?
        .boxed();
    let WatchEvent::Added(partial) = next(&mut events).await? else {
        panic!("an ADDED event")
    };
    assert_eq!(partial.name_any(), "a");
    let types = partial.types.context("types")?;
    assert_eq!(
        (types.kind.as_str(), types.api_version.as_str()),
        ("PartialObjectMetadata", "meta.k8s.io/v1")
    );
    let path = "/apis/conformance.pathline.dev/v1/namespaces/NS/widgets/a";
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let object = Raw::get(path)
        .header("accept", accept)
        .send(t)
        .await?
        .json();
    assert_eq!(object["kind"], "PartialObjectMetadata");
    assert!(object["spec"].is_null(), "{object}");
    Ok(())
}

async fn watcher_lists_then_follows(t: &Target) -> Result<()> {
    follow(t, watcher::Config::default()).await
}

async fn watcher_streams_its_list(t: &Target) -> Result<()> {
    follow(t, watcher::Config::default().streaming_lists()).await
}

async fn follow(t: &Target, config: watcher::Config) -> Result<()> {
    let widgets = t.widgets();
    widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    let mut events = watcher(widgets.clone(), config).default_backoff().boxed();
    let listed = listed(&mut events).await?;
    let listed: Vec<_> = listed
        .iter()
        .map(|widget| (widget.name_any(), widget.spec.size))
        .collect();
    assert_eq!(listed, [("a".to_owned(), Some(1))], "with its default");

    widgets
        .create(&PostParams::default(), &mk_widget("b"))
        .await?;
    let watcher::Event::Apply(widget) = next(&mut events).await? else {
        panic!("an Apply")
    };
    assert_eq!(widget.name_any(), "b");
    widgets.delete("a", &DeleteParams::default()).await?;
    let watcher::Event::Delete(widget) = next(&mut events).await? else {
        panic!("a Delete")
    };
    assert_eq!(widget.name_any(), "a");
    Ok(())
}

/// Returns what a watcher lists first.
///
/// A real server that still fills its cache of a new kind, or serves it anew, breaks off; a watcher
/// then begins again, which is what its users rely on.
async fn listed(
    events: &mut (impl Stream<Item = watcher::Result<watcher::Event<Widget>>> + Unpin),
) -> Result<Vec<Widget>> {
    const ATTEMPTS: usize = 10;
    let mut listed = Vec::new();
    let mut failures = 0;
    loop {
        let event = soon("the next event", events.next()).await?;
        match event.context("the stream ended")? {
            Ok(watcher::Event::Init) => listed.clear(),
            Ok(watcher::Event::InitApply(widget)) => listed.push(widget),
            Ok(watcher::Event::InitDone) => return Ok(listed),
            Ok(other) => panic!("{other:?} before the list was complete"),
            Err(_) if failures < ATTEMPTS => failures += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

async fn metadata_watcher_follows(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    secrets
        .create(&PostParams::default(), &mk_secret("a", "x"))
        .await?;
    let metadata: Api<PartialObjectMeta<Secret>> = t.api();
    let mut objects = watcher(metadata, watcher::Config::default())
        .applied_objects()
        .boxed();
    assert_eq!(next(&mut objects).await?.name_any(), "a");
    secrets
        .patch(
            "a",
            &PatchParams::default(),
            &merge(json!({"metadata": {"labels": {"tier": "y"}}})),
        )
        .await?;
    assert_eq!(next(&mut objects).await?.labels()["tier"], "y");
    Ok(())
}

async fn reflector_holds_what_the_server_holds(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    let (store, writer) = reflector::store::<Widget>();
    let events = watcher(widgets.clone(), watcher::Config::default()).default_backoff();
    let mut events = reflector(writer, events).boxed();
    listed(&mut events).await?;
    assert_eq!(store.state().len(), 1);
    widgets
        .create(&PostParams::default(), &mk_widget("b"))
        .await?;
    next(&mut events).await?;
    widgets.delete("a", &DeleteParams::default()).await?;
    next(&mut events).await?;
    let names: Vec<_> = store
        .state()
        .iter()
        .map(|widget| widget.name_any())
        .collect();
    assert_eq!(names, ["b"]);
    Ok(())
}

async fn deleted_event_carries_the_last_state_and_a_new_version(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let created = secrets
        .create(&PostParams::default(), &mk_secret("a", "x"))
        .await?;
    let version = created.resource_version().context("a version")?;
    secrets.delete("a", &DeleteParams::default()).await?;
    let mut events = secrets
        .watch(&WatchParams::default(), &version)
        .await?
        .boxed();
    let WatchEvent::Deleted(last) = next(&mut events).await? else {
        panic!("a DELETED event")
    };
    assert_eq!(last.uid(), created.uid());
    assert_eq!(last.labels(), created.labels());
    let deleted_at: u64 = last.resource_version().context("a version")?.parse()?;
    assert!(
        deleted_at > version.parse()?,
        "so that a watch resumes after the deletion"
    );
    Ok(())
}

async fn version_older_than_the_history_is_expired(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    // How much history a server keeps is its own affair, so changes are made until it forgets.
    for _ in 0..40 {
        let mut events = widgets.watch(&WatchParams::default(), "1").await?.boxed();
        if let WatchEvent::Error(status) = next(&mut events).await? {
            assert_eq!(
                (status.code, status.reason.as_str()),
                (410, "Expired"),
                "{status:?}"
            );
            assert!(
                status.message.starts_with("too old resource version: 1 ("),
                "{status:?}"
            );
            return Ok(());
        }
        for change in 0..50 {
            let patch = merge(json!({"spec": {"size": change % 10}}));
            widgets.patch("a", &PatchParams::default(), &patch).await?;
        }
    }
    panic!("2000 changes later the first version still has a history");
}

async fn future_version_is_too_large(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let status = refused(
        secrets
            .list(
                &ListParams::default()
                    .at("999999999999")
                    .matching(kube::api::VersionMatch::NotOlderThan),
            )
            .await,
    );
    assert_eq!(
        (status.code, status.reason.as_str()),
        (504, "Timeout"),
        "{status:?}"
    );
    let details = status.details.context("details")?;
    assert_eq!(details.causes[0].reason, "ResourceVersionTooLarge");
    Ok(())
}
