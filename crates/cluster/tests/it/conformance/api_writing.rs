//! Versions, generations, preconditions and patches.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::expect::{refusal, refused};
use super::objects::{merge, mk_map};
use super::target::Target;
use super::widget::{Widget, WidgetStatus, mk_widget};

conformance!(api:
    stale_update_conflicts,
    update_without_a_version_is_unconditional_except_for_custom_resources,
    update_that_changes_nothing_keeps_the_version,
    generation_follows_the_desired_state_alone,
    status_and_the_rest_are_written_apart,
    server_owns_some_metadata,
    dry_run_answers_as_if_but_stores_nothing,
    json_patch_tests_before_it_changes,
    patch_with_a_version_is_a_precondition,
    immutable_data_stays,
    concurrent_updates_lose_nothing,
    created_object_has_one_version_and_uid,
);

async fn stale_update_conflicts(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    let first = maps
        .create(&PostParams::default(), &mk_map("a", "1"))
        .await?;
    maps.patch(
        "a",
        &PatchParams::default(),
        &merge(json!({"data": {"key": "2"}})),
    )
    .await?;
    let stale = maps.replace("a", &PostParams::default(), &first).await;
    assert_eq!(
        refusal(stale),
        "409 Conflict: Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    let widgets = t.widgets();
    let first = widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    widgets
        .patch(
            "a",
            &PatchParams::default(),
            &merge(json!({"spec": {"size": 2}})),
        )
        .await?;
    let status = refused(widgets.replace("a", &PostParams::default(), &first).await);
    assert_eq!(
        status.message,
        "Operation cannot be fulfilled on widgets.conformance.pathline.dev \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    let details = status.details.context("details")?;
    assert_eq!(
        (
            details.name.as_str(),
            details.group.as_str(),
            details.kind.as_str()
        ),
        ("a", "conformance.pathline.dev", "widgets")
    );
    Ok(())
}

async fn update_without_a_version_is_unconditional_except_for_custom_resources(
    t: &Target,
) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    maps.create(&PostParams::default(), &mk_map("a", "1"))
        .await?;
    let replaced = maps
        .replace("a", &PostParams::default(), &mk_map("a", "2"))
        .await?;
    assert_eq!(replaced.data.context("data")?["key"], "2");
    let widgets = t.widgets();
    widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    assert_eq!(
        refusal(
            widgets
                .replace("a", &PostParams::default(), &mk_widget("a"))
                .await
        ),
        "422 Invalid: widgets.conformance.pathline.dev \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    );
    assert_eq!(
        refusal(
            maps.replace("b", &PostParams::default(), &mk_map("b", "1"))
                .await
        ),
        "404 NotFound: configmaps \"b\" not found"
    );
    Ok(())
}

async fn update_that_changes_nothing_keeps_the_version(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    let first = maps
        .create(&PostParams::default(), &mk_map("a", "1"))
        .await?;
    let same = maps.replace("a", &PostParams::default(), &first).await?;
    assert_eq!(same.resource_version(), first.resource_version());
    let same = maps
        .patch(
            "a",
            &PatchParams::default(),
            &merge(json!({"data": {"key": "1"}})),
        )
        .await?;
    assert_eq!(same.resource_version(), first.resource_version());
    let apply = PatchParams::apply("tester");
    let body = Patch::Apply(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"k": "v"}}),
    );
    let first = maps.patch("b", &apply, &body).await?;
    let second = maps.patch("b", &apply, &body).await?;
    assert_eq!(second.resource_version(), first.resource_version());
    assert_eq!(
        second.managed_fields(),
        first.managed_fields(),
        "not even the time changes"
    );
    Ok(())
}

async fn generation_follows_the_desired_state_alone(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let created = widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    assert_eq!(created.metadata.generation, Some(1));
    let patch = async |value| {
        widgets
            .patch("a", &PatchParams::default(), &merge(value))
            .await
    };
    assert_eq!(
        patch(json!({"metadata": {"labels": {"a": "b"}}}))
            .await?
            .metadata
            .generation,
        Some(1)
    );
    assert_eq!(
        patch(json!({"metadata": {"annotations": {"a": "b"}}}))
            .await?
            .metadata
            .generation,
        Some(1)
    );
    assert_eq!(
        patch(json!({"spec": {"size": 5}}))
            .await?
            .metadata
            .generation,
        Some(2)
    );
    assert_eq!(
        patch(json!({"spec": {"size": 5}}))
            .await?
            .metadata
            .generation,
        Some(2)
    );
    assert_eq!(
        patch(json!({"metadata": {"generation": 9}}))
            .await?
            .metadata
            .generation,
        Some(2)
    );
    let status = merge(json!({"status": {"phase": "Done"}}));
    let patched = widgets
        .patch_status("a", &PatchParams::default(), &status)
        .await?;
    assert_eq!(patched.metadata.generation, Some(2));
    let map = t
        .api::<ConfigMap>()
        .create(&PostParams::default(), &mk_map("a", "1"))
        .await?;
    assert_eq!(
        map.metadata.generation, None,
        "config maps have no desired state apart"
    );
    Ok(())
}

async fn status_and_the_rest_are_written_apart(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let mut widget = mk_widget("a");
    widget.status = Some(WidgetStatus {
        observed_generation: Some(7),
        ..WidgetStatus::default()
    });
    let created = widgets.create(&PostParams::default(), &widget).await?;
    assert_eq!(created.status, None, "a created object has no status yet");

    let mut update = created.clone();
    update.status = Some(WidgetStatus {
        observed_generation: Some(1),
        ..WidgetStatus::default()
    });
    update.spec.color = "blue".to_owned();
    let after_status = widgets
        .replace_status("a", &PostParams::default(), &update)
        .await?;
    assert_eq!(
        after_status.spec.color, "red",
        "the status door leaves the rest alone"
    );
    assert_eq!(
        after_status
            .status
            .as_ref()
            .and_then(|s| s.observed_generation),
        Some(1)
    );

    let mut update = after_status;
    update.status = None;
    update.spec.color = "green".to_owned();
    let after_spec = widgets
        .replace("a", &PostParams::default(), &update)
        .await?;
    assert_eq!(after_spec.spec.color, "green");
    assert_eq!(
        after_spec.status.and_then(|s| s.observed_generation),
        Some(1)
    );
    Ok(())
}

async fn server_owns_some_metadata(t: &Target) -> Result<()> {
    let widgets: Api<Widget> = t.api();
    let mut widget = mk_widget("a");
    widget.metadata.uid = Some("mine".to_owned());
    widget.metadata.generation = Some(40);
    widget.metadata.creation_timestamp = serde_json::from_value(json!("2001-01-01T00:00:00Z"))?;
    widget.metadata.self_link = Some("/somewhere".to_owned());
    widget.metadata.deletion_timestamp = serde_json::from_value(json!("2001-01-01T00:00:00Z"))?;
    let created = widgets.create(&PostParams::default(), &widget).await?;
    assert_ne!(created.uid().as_deref(), Some("mine"));
    assert_eq!(created.metadata.generation, Some(1));
    assert!(
        !serde_json::to_string(&created.metadata)?.contains("2001"),
        "{:?}",
        created.metadata
    );
    widget.metadata.resource_version = Some("1".to_owned());
    widget.metadata.name = Some("b".to_owned());
    assert_eq!(
        refusal(widgets.create(&PostParams::default(), &widget).await),
        "500 : resourceVersion should not be set on objects to be created"
    );
    Ok(())
}

async fn dry_run_answers_as_if_but_stores_nothing(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let shown = widgets.create(&dry, &mk_widget("a")).await?;
    assert_eq!(shown.spec.size, Some(1), "defaults are shown");
    assert!(
        shown.uid().is_some() && shown.resource_version().is_none(),
        "{:?}",
        shown.metadata
    );
    assert!(widgets.get_opt("a").await?.is_none());
    let mut bad = mk_widget("a");
    bad.spec.color = "mauve".to_owned();
    assert_eq!(
        refused(widgets.create(&dry, &bad).await).code,
        422,
        "rules hold in a dry run"
    );
    let stored = widgets
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    let patch = merge(json!({"spec": {"size": 3}}));
    let shown = widgets
        .patch(
            "a",
            &PatchParams {
                dry_run: true,
                ..PatchParams::default()
            },
            &patch,
        )
        .await?;
    assert_eq!(
        (shown.spec.size, shown.metadata.generation),
        (Some(3), Some(2))
    );
    assert_eq!(widgets.get("a").await?.metadata, stored.metadata);
    Ok(())
}

async fn json_patch_tests_before_it_changes(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    maps.create(&PostParams::default(), &mk_map("a", "1"))
        .await?;
    let patch = async |operations: Value| {
        let patch: Patch<Value> =
            Patch::Json(serde_json::from_value(operations).expect("a JSON patch"));
        maps.patch("a", &PatchParams::default(), &patch).await
    };
    let changed = patch(json!([
        {"op": "test", "path": "/metadata/finalizers", "value": null},
        {"op": "test", "path": "/data/key", "value": "1"},
        {"op": "replace", "path": "/data/key", "value": "2"},
    ]))
    .await?;
    assert_eq!(changed.data.as_ref().context("data")?["key"], "2");
    let failed = patch(json!([
        {"op": "replace", "path": "/data/key", "value": "3"},
        {"op": "test", "path": "/data/key", "value": "2"},
    ]))
    .await;
    assert_eq!(
        refusal(failed),
        "422 Invalid: the server rejected our request due to an error in our request"
    );
    assert_eq!(
        maps.get("a").await?.resource_version(),
        changed.resource_version()
    );
    Ok(())
}

async fn patch_with_a_version_is_a_precondition(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    let first = maps
        .create(&PostParams::default(), &mk_map("a", "1"))
        .await?;
    let version = first.resource_version().context("a version")?;
    let with_version =
        merge(json!({"metadata": {"resourceVersion": version}, "data": {"key": "2"}}));
    maps.patch("a", &PatchParams::default(), &with_version)
        .await?;
    let again = merge(json!({"metadata": {"resourceVersion": version}, "data": {"key": "3"}}));
    let status = refused(maps.patch("a", &PatchParams::default(), &again).await);
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    let other = merge(json!({"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}}));
    assert_eq!(
        refusal(maps.patch("a", &PatchParams::default(), &other).await),
        "422 Invalid: ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"00000000-0000-0000-0000-000000000000\": field is immutable"
    );
    Ok(())
}

async fn immutable_data_stays(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let secret: Secret = serde_json::from_value(json!({
        "metadata": {"name": "fixed"}, "immutable": true, "stringData": {"a": "b"},
    }))?;
    let created = secrets.create(&PostParams::default(), &secret).await?;
    assert_eq!(created.type_.as_deref(), Some("Opaque"));
    assert_eq!(created.string_data, None, "it is stored as data");
    let patch = merge(json!({"stringData": {"a": "c"}}));
    assert_eq!(
        refusal(
            secrets
                .patch("fixed", &PatchParams::default(), &patch)
                .await
        ),
        "422 Invalid: Secret \"fixed\" is invalid: data: Forbidden: field is immutable when `immutable` is set"
    );
    let patch = merge(json!({"type": "example.com/other"}));
    let status = refused(
        secrets
            .patch("fixed", &PatchParams::default(), &patch)
            .await,
    );
    assert_eq!(
        status.message,
        "Secret \"fixed\" is invalid: type: Invalid value: \"example.com/other\": field is immutable"
    );
    Ok(())
}

async fn concurrent_updates_lose_nothing(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    maps.create(&PostParams::default(), &mk_map("a", "0"))
        .await?;
    let increments = (0..8).map(|_| async {
        loop {
            let mut map = maps.get("a").await?;
            let data = map.data.as_mut().expect("data");
            let next = data["key"].parse::<u32>()? + 1;
            data.insert("key".to_owned(), next.to_string());
            match maps.replace("a", &PostParams::default(), &map).await {
                Err(kube::Error::Api(status)) if status.is_conflict() => {}
                result => break result.map_err(anyhow::Error::from),
            }
        }
    });
    futures::future::try_join_all(increments).await?;
    assert_eq!(maps.get("a").await?.data.context("data")?["key"], "8");
    let labels = (0..8).map(|i| {
        let patch = merge(json!({"metadata": {"labels": {format!("l{i}"): "x"}}}));
        let maps = maps.clone();
        async move { maps.patch("a", &PatchParams::default(), &patch).await }
    });
    futures::future::try_join_all(labels).await?;
    assert_eq!(
        maps.get("a").await?.labels().len(),
        8,
        "merge patches do not conflict"
    );
    Ok(())
}

async fn created_object_has_one_version_and_uid(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    let first = maps
        .create(&PostParams::default(), &mk_map("a", "1"))
        .await?;
    assert_eq!(
        maps.get("a").await?,
        first,
        "what is answered is what is stored"
    );
    let second = maps
        .create(&PostParams::default(), &mk_map("b", "1"))
        .await?;
    assert_ne!(first.uid(), second.uid());
    let versions = [&first, &second].map(|map| map.resource_version().unwrap_or_default());
    assert!(
        versions[0].parse::<u64>()? < versions[1].parse::<u64>()?,
        "{versions:?}"
    );
    let status = refused(maps.create(&PostParams::default(), &mk_map("a", "2")).await);
    assert_eq!(
        (status.code, status.reason.as_str()),
        (409, "AlreadyExists")
    );
    assert_eq!(status.message, "configmaps \"a\" already exists");
    Ok(())
}
