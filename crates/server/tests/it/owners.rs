use axum::http::StatusCode;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use pathline_client::api::{Owner, OwnerPage};
use pathline_kinds::carto::{Deliverable, Workload};
use pathline_ledger::Permissions;
use serde_json::{Value, json};

use crate::story;
use crate::world::World;

pub(crate) async fn create(world: &World, namespace: &str, name: &str) -> Workload {
    let workload: Workload = serde_json::from_value(json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {"name": name, "namespace": namespace}, "spec": {},
    }))
    .expect("a workload");
    let client = world.cluster.as_ref().expect("there is a cluster").client();
    make_namespace(&client, namespace).await;
    let api = Api::<Workload>::namespaced(client, namespace);
    let created = api.create(&PostParams::default(), &workload).await;
    created.expect("it is created")
}

async fn make_namespace(client: &kube::Client, name: &str) {
    let namespace: k8s_openapi::api::core::v1::Namespace =
        serde_json::from_value(json!({"metadata": {"name": name}})).expect("a namespace");
    // Most tests make more than one object in it.
    let _ = Api::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await;
}

/// Writes a status as the engine does.
async fn report(world: &World, workload: &Workload, status: Value) {
    let client = world.cluster.as_ref().expect("there is a cluster").client();
    let api = Api::<Workload>::namespaced(client, &workload.namespace().expect("it has one"));
    let patch = Patch::Merge(json!({"status": status}));
    api.patch_status(&workload.name_any(), &PatchParams::default(), &patch)
        .await
        .expect("the status is written");
}

fn condition(kind: &str, status: &str, reason: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": "",
        "lastTransitionTime": "2027-01-15T08:00:00Z"
    })
}

#[tokio::test]
async fn workload_shows_its_path_its_inputs_its_outputs_and_their_lineage() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    let workload = create(&world, "dev", "web").await;
    story::record(&world.ledger, &workload.uid().unwrap()).await;
    report(&world, &workload, json!({
        "conditions": [condition("Ready", "True", "Ready")],
        "supplyChainRef": {"kind": "ClusterSupplyChain", "name": "chain"},
        "resources": [
            {"name": "source-cloner", "templateRef": {"kind": "ClusterSourceTemplate", "name": "git", "apiVersion": "carto.run/v1alpha1"},
             "conditions": [condition("Ready", "True", "Ready")]},
            {"name": "image-builder", "templateRef": {"kind": "ClusterImageTemplate", "name": "kpack"},
             "inputs": [{"name": "source-cloner"}], "conditions": []},
            {"name": "scanner", "conditions": [condition("Selected", "False", "SelectorMiss")]}
        ],
        "path": [
            {"resource": "source-cloner", "state": "selected", "reason": "Always"},
            {"resource": "image-builder", "state": "selected", "option": 1, "reason": "Matched"},
            {"resource": "scanner", "state": "skipped", "reason": "SelectorMiss"}
        ]
    })).await;

    let answer = world.get("/workloads/dev/web", &token).await;

    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let owner: Owner = serde_json::from_value(answer.body).unwrap();
    assert_eq!(owner.summary.owner.uid, workload.uid().unwrap());
    assert_eq!(owner.summary.ready.unwrap().status, "True");
    assert_eq!(owner.summary.blueprint.unwrap().name, "chain");
    let path: Vec<_> = owner
        .path
        .iter()
        .map(|it| (it.resource.as_str(), it.state.as_str(), it.option))
        .collect();
    assert_eq!(
        path,
        [
            ("source-cloner", "selected", None),
            ("image-builder", "selected", Some(1)),
            ("scanner", "skipped", None)
        ]
    );
    assert_eq!(owner.path[1].inputs, ["source-cloner"]);
    assert_eq!(
        owner.path[1].template.as_ref().unwrap().kind,
        "ClusterImageTemplate"
    );
    assert_eq!(owner.path[2].reason.as_deref(), Some("SelectorMiss"));
    let inputs: Vec<_> = owner
        .inputs
        .iter()
        .map(|it| (it.name.as_str(), it.artifact.value.as_str(), it.arrived))
        .collect();
    assert_eq!(inputs, [("param:debug", "on", true)]);
    assert_eq!(owner.outputs.len(), 1);
    let image = &owner.outputs[0];
    assert_eq!(
        (image.artifact.value.as_str(), &image.passed[..]),
        ("abc123", &["image-builder".to_owned()][..])
    );
    let source = image.from.iter().find(|it| it.artifact.value == "def567");
    assert_eq!(source.unwrap().passed, ["source-cloner"]);
    let lineage: Vec<_> = owner
        .lineage
        .iter()
        .map(|it| it.resource.as_str())
        .collect();
    assert_eq!(lineage, ["source-cloner", "image-builder"]);
}

#[tokio::test]
async fn workload_that_nobody_looked_at_yet_has_no_lineage() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    create(&world, "dev", "web").await;

    let answer = world.get("/workloads/dev/web", &token).await;

    let owner: Owner = serde_json::from_value(answer.body).unwrap();
    assert_eq!(owner.summary.ready, None);
    assert!(owner.path.is_empty() && owner.inputs.is_empty() && owner.outputs.is_empty());
    assert_eq!(owner.live, "Unknown");
}

#[tokio::test]
async fn lineage_of_an_owner_is_not_that_of_a_former_one_with_its_name() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    story::record(&world.ledger, "a-former-uid").await;
    create(&world, "dev", "web").await;

    let answer = world.get("/workloads/dev/web", &token).await;

    let owner: Owner = serde_json::from_value(answer.body).unwrap();
    assert!(owner.lineage.is_empty(), "{owner:?}");
}

#[tokio::test]
async fn owners_come_in_pages_of_one_namespace_or_of_all() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    for (namespace, name) in [("a", "one"), ("a", "three"), ("a", "two"), ("b", "four")] {
        create(&world, namespace, name).await;
    }

    let mut names = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/workloads?limit=3{after}");
        let answer = world.get(&path, &token).await;
        let page: OwnerPage = serde_json::from_value(answer.body).unwrap();
        names.extend(page.items.into_iter().map(|it| it.owner.name));
        let Some(next) = page.next else { break };
        let next = next
            .replace('+', "%2B")
            .replace('=', "%3D")
            .replace('/', "%2F");
        after = format!("&continue={next}");
    }
    assert_eq!(names, ["one", "three", "two", "four"]);

    let one = world.get("/workloads?namespace=b", &token).await;
    let one: OwnerPage = serde_json::from_value(one.body).unwrap();
    assert_eq!(one.items.len(), 1);
    assert_eq!(one.items[0].owner.name, "four");
    let other = world.get("/workloads?namespace=nowhere", &token).await;
    assert_eq!(other.body, json!({"items": []}));
}

#[tokio::test]
async fn deliverables_are_told_in_the_same_way() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    let client = world.cluster.as_ref().unwrap().client();
    make_namespace(&client, "prod").await;
    let deliverable: Deliverable = serde_json::from_value(json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Deliverable",
        "metadata": {"name": "web", "namespace": "prod"}, "spec": {},
    }))
    .unwrap();
    let api = Api::<Deliverable>::namespaced(client, "prod");
    api.create(&PostParams::default(), &deliverable)
        .await
        .unwrap();
    let patch = Patch::Merge(
        json!({"status": {"deliveryRef": {"kind": "ClusterDelivery", "name": "ship"}}}),
    );
    api.patch_status("web", &PatchParams::default(), &patch)
        .await
        .unwrap();

    let listed = world.get("/deliverables", &token).await;
    let shown = world.get("/deliverables/prod/web", &token).await;

    let listed: OwnerPage = serde_json::from_value(listed.body).unwrap();
    let shown: Owner = serde_json::from_value(shown.body).unwrap();
    assert_eq!(listed.items, std::slice::from_ref(&shown.summary));
    assert_eq!(shown.summary.owner.kind, "Deliverable");
    assert_eq!(shown.summary.blueprint.unwrap().name, "ship");
    let none = world.get("/workloads/prod/web", &token).await;
    assert_eq!(
        none.message(),
        "there is no workload `web` in namespace `prod`"
    );
}

#[tokio::test]
async fn workload_that_no_blueprint_selects_any_more_has_none() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    let workload = create(&world, "dev", "web").await;
    let before = json!({"kind": "ClusterSupplyChain", "name": "chain"});
    for (reason, blueprint) in [
        ("SupplyChainNotFound", Value::Null),
        ("TemplatesNotFound", before.clone()),
    ] {
        let conditions = [condition("Ready", "False", reason)];
        let status = json!({"conditions": conditions, "supplyChainRef": before});
        report(&world, &workload, status).await;
        let answer = world.get("/workloads/dev/web", &token).await;
        assert_eq!(answer.body["blueprint"], blueprint, "{reason}");
    }
}
