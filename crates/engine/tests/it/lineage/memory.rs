//! Lineage that outlives engines, and not owners.

use std::time::Duration;

use pathline_ledger::Topic;
use pathline_lineage::owner_lineage;
use serde_json::json;

use super::{IMAGE, image_of, input, template};
use crate::world::World;

/// The source has flowed as far as the builder, and the engine stops.
async fn stop_before_the_image_is_made(world: &mut World) {
    world.apply_seed_chain().await;
    world.apply_commit("def567").await;
    world.clone_and_test("def567").await;
    world
        .wait_for("Test", "image-builder", "being stamped", |_| true)
        .await;
    world.wait_input("source", json!({"arrived": false})).await;
    world.stop_engine().await;
}

pub(crate) async fn an_engine_that_starts_again_goes_on(world: &mut World) {
    stop_before_the_image_is_made(world).await;
    // The image is made while nobody looks.
    world.build("def567", "abc123").await;
    world.start_engine();
    world
        .wait_outputs("Workload", image_of("abc123", "def567"))
        .await;
    world.wait_input("source", json!({"arrived": true})).await;
}

pub(crate) async fn an_owner_that_is_made_anew_begins_anew(world: &mut World) {
    world.flow_as_in_the_seed().await;
    let first = world.wait_input("source", json!({"arrived": true})).await;
    world.delete("Workload", "app").await;
    for name in ["image-builder", "unit-tester", "source-cloner"] {
        world.wait_gone("Test", name).await;
    }
    world.apply_commit("def567").await;
    let owner = world.wait_input("source", json!({"arrived": false})).await;
    assert_eq!(owner["status"].get("outputs"), None);
    world.clone_and_test("def567").await;
    world.build("def567", "abc123").await;
    let second = world.wait_input("source", json!({"arrived": true})).await;
    assert_eq!(input(&second, "source"), input(&first, "source"));
    let owners = world.ledger.lineage().owners("Workload").await.unwrap();
    let uids: Vec<&str> = owners.iter().map(|owner| owner.uid.as_str()).collect();
    assert_eq!(uids, [second["metadata"]["uid"].as_str().unwrap()]);
}

pub(crate) async fn an_owner_that_goes_while_nobody_looks_is_ended(world: &mut World) {
    stop_before_the_image_is_made(world).await;
    world.delete("Workload", "app").await;
    world.wait_gone("Workload", "app").await;
    let mut changes = world.ledger.subscribe(Topic::Lineage);
    world.start_engine();
    loop {
        let owners = world.ledger.lineage().owners("Workload").await.unwrap();
        if owners.is_empty() {
            return;
        }
        let changed = tokio::time::timeout(Duration::from_secs(60), changes.changed()).await;
        changed.expect("the ledger hears of it").unwrap();
    }
}

pub(crate) async fn labels_are_looked_at_although_no_generation_tells(world: &mut World) {
    let build = template("build", json!({}), &IMAGE);
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    let template_ref = json!({"kind": "ClusterImageTemplate", "name": "build"});
    let resource = json!({"name": "build", "templateRef": template_ref});
    world.apply_chain("labels", json!([resource])).await;
    for colour in ["red", "blue"] {
        let labels = json!({"app": world.namespace, "colour": colour});
        let workload = json!({"metadata": {"labels": labels}, "spec": {}});
        world.apply("Workload", "app", workload).await;
        let metadata = world.get("Workload", "app").await.unwrap()["metadata"].clone();
        assert_eq!(metadata["generation"], 1);
        let metadata_digest = owner_lineage::metadata_digest(&metadata);
        let uid = metadata["uid"].as_str().unwrap();
        let mut lineages = world.ledger.lineage().follow(uid).await.unwrap();
        let looked = lineages.wait_for(|it| {
            it.as_ref()
                .is_some_and(|it| it.metadata_digest == metadata_digest)
        });
        let looked = tokio::time::timeout(Duration::from_secs(60), looked).await;
        looked.expect("the labels are looked at").unwrap();
    }
}
