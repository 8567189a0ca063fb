//! Server-side apply through the API.

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::expect::{refusal, refused};
use super::requests::Raw;
use super::session::assert_recorded;
use super::target::Target;
use super::widget::mk_widget;

conformance!(api:
    apply_creates_updates_and_rests,
    conflict_names_the_manager_and_the_field,
    forced_apply_takes_the_field_over,
    lists_of_a_custom_resource_merge_by_key,
    containers_of_a_deployment_merge_by_name,
    status_is_applied_apart,
    update_after_apply_owns_what_it_changed,
    managed_fields_tell_who_wrote_what,
);

fn widget(spec: &Value) -> Patch<Value> {
    Patch::Apply(json!({
        "apiVersion": "conformance.pathline.dev/v1", "kind": "Widget",
        "metadata": {"name": "one"}, "spec": spec,
    }))
}

async fn apply_creates_updates_and_rests(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let apply = PatchParams::apply("tester");
    let first = widgets
        .patch(
            "one",
            &apply,
            &widget(&json!({"color": "red", "note": "x"})),
        )
        .await?;
    assert_eq!(
        (first.spec.size, first.metadata.generation),
        (Some(1), Some(1))
    );
    let same = widgets
        .patch(
            "one",
            &apply,
            &widget(&json!({"color": "red", "note": "x"})),
        )
        .await?;
    assert_eq!(
        same.resource_version(),
        first.resource_version(),
        "it rests"
    );
    let second = widgets
        .patch("one", &apply, &widget(&json!({"color": "blue"})))
        .await?;
    assert_eq!(second.spec.color, "blue");
    assert_eq!(
        second.spec.note, None,
        "what is no longer applied is removed"
    );
    assert_eq!(second.metadata.generation, Some(2));
    assert_eq!(second.uid(), first.uid());
    Ok(())
}

async fn conflict_names_the_manager_and_the_field(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    widgets
        .patch(
            "one",
            &PatchParams::apply("alice"),
            &widget(&json!({"color": "red", "size": 2})),
        )
        .await?;
    let status = refused(
        widgets
            .patch(
                "one",
                &PatchParams::apply("bob"),
                &widget(&json!({"color": "blue", "size": 3})),
            )
            .await,
    );
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert_eq!(
        status.message,
        "Apply failed with 2 conflicts: conflicts with \"alice\":\n- .spec.color\n- .spec.size"
    );
    let causes: Vec<_> = status
        .details
        .context("details")?
        .causes
        .into_iter()
        .map(|cause| (cause.reason, cause.field, cause.message))
        .collect();
    let conflict = |field: &str| {
        (
            "FieldManagerConflict".to_owned(),
            field.to_owned(),
            "conflict with \"alice\"".to_owned(),
        )
    };
    assert_eq!(causes, [conflict(".spec.color"), conflict(".spec.size")]);
    let same = widgets
        .patch(
            "one",
            &PatchParams::apply("bob"),
            &widget(&json!({"color": "red"})),
        )
        .await?;
    assert_eq!(
        same.managed_fields().len(),
        2,
        "agreeing is no conflict, and both own the field"
    );
    Ok(())
}

async fn forced_apply_takes_the_field_over(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    widgets
        .patch(
            "one",
            &PatchParams::apply("alice"),
            &widget(&json!({"color": "red", "size": 2})),
        )
        .await?;
    let forced = PatchParams::apply("bob").force();
    let taken = widgets
        .patch("one", &forced, &widget(&json!({"color": "blue"})))
        .await?;
    assert_eq!(
        (taken.spec.color.as_str(), taken.spec.size),
        ("blue", Some(2))
    );
    let status = refused(
        widgets
            .patch(
                "one",
                &PatchParams::apply("alice"),
                &widget(&json!({"color": "red", "size": 2})),
            )
            .await,
    );
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"bob\": .spec.color"
    );
    Ok(())
}

async fn lists_of_a_custom_resource_merge_by_key(t: &Target) -> Result<()> {
    let path = "/apis/conformance.pathline.dev/v1/namespaces/NS/widgets/one";
    let apply = async |manager: &str, spec: Value| {
        let body = json!({
            "apiVersion": "conformance.pathline.dev/v1", "kind": "Widget",
            "metadata": {"name": "one"}, "spec": spec,
        });
        let path = format!("{path}?fieldManager={manager}&force=true");
        let answer = Raw::patch(path, "apply-patch+yaml", body.to_string())
            .send(t)
            .await?;
        anyhow::Ok(answer.json()["spec"].clone())
    };
    apply(
        "alice",
        json!({"color": "red", "tags": ["a"], "ports": [{"name": "web", "port": 80}]}),
    )
    .await?;
    let merged = apply(
        "bob",
        json!({"tags": ["b"], "ports": [{"name": "admin", "port": 90}]}),
    )
    .await?;
    assert_eq!(merged["tags"], json!(["a", "b"]));
    assert_eq!(
        merged["ports"],
        json!([
            {"name": "web", "port": 80, "protocol": "TCP"}, {"name": "admin", "port": 90, "protocol": "TCP"},
        ])
    );
    let changed = apply(
        "bob",
        json!({"ports": [{"name": "admin", "port": 91}, {"name": "web", "port": 80}]}),
    )
    .await?;
    assert_eq!(changed["tags"], json!(["a"]));
    assert_eq!(
        changed["ports"],
        json!([
            {"name": "admin", "port": 91, "protocol": "TCP"}, {"name": "web", "port": 80, "protocol": "TCP"},
        ])
    );
    let left = apply("bob", json!({})).await?;
    assert_eq!(
        left["ports"],
        json!([{"name": "web", "port": 80, "protocol": "TCP"}]),
        "alice keeps what she applied"
    );
    Ok(())
}

async fn containers_of_a_deployment_merge_by_name(t: &Target) -> Result<()> {
    let deployments: Api<Deployment> = t.api();
    let body = |containers: Value| {
        Patch::Apply(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
            },
        }))
    };
    let apply = |manager: &str| PatchParams::apply(manager).force();
    let port = |port: u16| json!({"containerPort": port, "protocol": "TCP"});
    let web = json!([{"name": "web", "image": "web:1", "ports": [port(80)], "env": [{"name": "A", "value": "a"}]}]);
    deployments
        .patch("web", &apply("alice"), &body(web))
        .await?;
    let more = json!([
        {"name": "web", "ports": [port(81)], "env": [{"name": "B", "value": "b"}]},
        {"name": "side", "image": "side:1"},
    ]);
    let merged = deployments.patch("web", &apply("bob"), &body(more)).await?;
    let shown = |deployment: &Deployment| {
        let pod = deployment.spec.template.spec.as_ref().expect("a pod spec");
        pod.containers
            .iter()
            .map(|c| {
                let ports: Vec<_> = c
                    .ports
                    .iter()
                    .flatten()
                    .map(|p| p.container_port.to_string())
                    .collect();
                let env: Vec<_> = c.env.iter().flatten().map(|e| e.name.as_str()).collect();
                format!(
                    "{} {} [{}] [{}]",
                    c.name,
                    c.image.as_deref().unwrap_or_default(),
                    ports.join(" "),
                    env.join(" ")
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&merged),
        ["web web:1 [80 81] [A B]", "side side:1 [] []"]
    );
    let rest = deployments
        .patch(
            "web",
            &apply("bob"),
            &body(json!([{"name": "side", "image": "side:2"}])),
        )
        .await?;
    assert_eq!(shown(&rest), ["web web:1 [80] [A]", "side side:2 [] []"]);
    Ok(())
}

async fn status_is_applied_apart(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    widgets
        .patch(
            "one",
            &PatchParams::apply("alice"),
            &widget(&json!({"color": "red"})),
        )
        .await?;
    let status = |conditions: Value| {
        Patch::Apply(json!({
            "apiVersion": "conformance.pathline.dev/v1", "kind": "Widget", "metadata": {"name": "one"},
            "spec": {"color": "blue"}, "status": {"conditions": conditions},
        }))
    };
    let ready = json!([{"type": "Ready", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
    let first = widgets
        .patch_status(
            "one",
            &PatchParams::apply("controller").force(),
            &status(ready.clone()),
        )
        .await?;
    assert_eq!(first.spec.color, "red");
    let again = widgets
        .patch_status(
            "one",
            &PatchParams::apply("controller").force(),
            &status(ready),
        )
        .await?;
    assert_eq!(
        again.resource_version(),
        first.resource_version(),
        "a status that is the same rests"
    );
    let other = json!([{"type": "Healthy", "status": "True", "reason": "H", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
    let merged = widgets
        .patch_status("one", &PatchParams::apply("prober"), &status(other))
        .await?;
    let types: Vec<_> = merged
        .status
        .context("a status")?
        .conditions
        .into_iter()
        .map(|c| c.type_)
        .collect();
    assert_eq!(types, ["Ready", "Healthy"]);
    let managers: Vec<_> = merged
        .metadata
        .managed_fields
        .unwrap_or_default()
        .into_iter()
        .map(|entry| (entry.manager.unwrap_or_default(), entry.subresource))
        .collect();
    let on_status = Some("status".to_owned());
    assert_eq!(
        managers,
        [
            ("alice".to_owned(), None),
            ("controller".to_owned(), on_status.clone()),
            ("prober".to_owned(), on_status),
        ]
    );
    Ok(())
}

async fn update_after_apply_owns_what_it_changed(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let applied = widgets
        .patch(
            "one",
            &PatchParams::apply("alice"),
            &widget(&json!({"color": "red", "note": "x"})),
        )
        .await?;
    let mut update = applied;
    update.spec.color = "blue".to_owned();
    let writer = PostParams {
        field_manager: Some("writer".to_owned()),
        ..PostParams::default()
    };
    widgets.replace("one", &writer, &update).await?;
    let status = refused(
        widgets
            .patch(
                "one",
                &PatchParams::apply("alice"),
                &widget(&json!({"color": "red", "note": "x"})),
            )
            .await,
    );
    assert_eq!(
        status.message.replace(|c: char| c.is_ascii_digit(), "N"),
        "Apply failed with N conflict: conflict with \"writer\" using conformance.pathline.dev/vN: .spec.color"
    );
    Ok(())
}

async fn managed_fields_tell_who_wrote_what(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let create = PostParams {
        field_manager: Some("creator".to_owned()),
        ..PostParams::default()
    };
    let mut first = mk_widget("one");
    first.labels_mut().insert("a".to_owned(), "b".to_owned());
    widgets.create(&create, &first).await?;
    let patch = Patch::Merge(json!({"spec": {"size": 4}, "metadata": {"labels": {"c": "d"}}}));
    let patcher = PatchParams {
        field_manager: Some("patcher".to_owned()),
        ..PatchParams::default()
    };
    widgets.patch("one", &patcher, &patch).await?;
    let condition = json!({"type": "T", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let status = Patch::Merge(json!({"status": {"phase": "P", "conditions": [condition]}}));
    widgets.patch_status("one", &patcher, &status).await?;
    widgets
        .patch(
            "one",
            &PatchParams::apply("applier").force(),
            &widget(&json!({"size": 5})),
        )
        .await?;
    let maps: Api<ConfigMap> = t.api();
    let map = serde_json::from_value(
        json!({"metadata": {"name": "m"}, "data": {"a.b": "c"}, "binaryData": {"d": ""}}),
    )?;
    maps.create(&create, &map).await?;
    let entries = [
        serde_json::to_value(widgets.get_metadata("one").await?.metadata.managed_fields)?,
        serde_json::to_value(maps.get("m").await?.metadata.managed_fields)?,
    ];
    assert_recorded!("managed_fields", serde_json::to_string_pretty(&entries)?);
    let refused = maps.patch("m", &PatchParams::apply("x"), &Patch::Apply(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a.b": "z"},
    }))).await;
    assert_eq!(
        refusal(refused),
        "409 Conflict: Apply failed with 1 conflict: conflict with \"creator\" using v1: .data.a.b"
    );
    Ok(())
}
