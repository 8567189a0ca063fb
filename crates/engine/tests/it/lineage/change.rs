//! New inputs, and what becomes of the outputs of the old ones.

use serde_json::{Value, json};

use super::{IMAGE, image_of, input, template};
use crate::world::World;

pub(crate) async fn an_output_of_the_old_source_stays_with_it(world: &mut World) {
    world.flow_as_in_the_seed().await;

    world.apply_commit("0123abc").await;
    let owner = world
        .wait_input("source", json!({"value": "0123abc", "arrived": false}))
        .await;
    assert_eq!(owner["status"]["outputs"], image_of("abc123", "def567"));
    world.clone_and_test("0123abc").await;
    // The new source is there, and the image is still the old one.
    let is_given = |object: &Value| object["spec"]["revision"] == "0123abc";
    world
        .wait_for("Test", "image-builder", "given the new source", is_given)
        .await;
    let owner = world
        .wait_input("source", json!({"value": "0123abc", "arrived": false}))
        .await;
    assert_eq!(owner["status"]["outputs"], image_of("abc123", "def567"));
    world.build("0123abc", "cafe99").await;
    world
        .wait_outputs("Workload", image_of("cafe99", "0123abc"))
        .await;
    world
        .wait_input("source", json!({"value": "0123abc", "arrived": true}))
        .await;
}

pub(crate) async fn going_there_and_back_ends_with_the_old_value_and_no_false_arrival(
    world: &mut World,
) {
    world.apply_seed_chain().await;
    world.apply_commit("aaaaaaa").await;
    world.clone_and_test("aaaaaaa").await;
    world.build("aaaaaaa", "image-a").await;
    world.wait_input("source", json!({"arrived": true})).await;

    world.apply_commit("bbbbbbb").await;
    world.clone_and_test("bbbbbbb").await;
    let is_given = |object: &Value| object["spec"]["revision"] == "bbbbbbb";
    world
        .wait_for("Test", "image-builder", "given the other source", is_given)
        .await;
    world
        .wait_input("source", json!({"value": "bbbbbbb", "arrived": false}))
        .await;

    // Back to the first: what it made is history until it is made again, though the content is the same.
    world.apply_commit("aaaaaaa").await;
    let owner = world
        .wait_input("source", json!({"value": "aaaaaaa"}))
        .await;
    assert_eq!(
        input(&owner, "source")["arrived"],
        false,
        "history never counts"
    );
    world.clone_and_test("aaaaaaa").await;
    world.build("aaaaaaa", "image-a").await;
    world
        .wait_input("source", json!({"value": "aaaaaaa", "arrived": true}))
        .await;
    world
        .wait_outputs("Workload", image_of("image-a", "aaaaaaa"))
        .await;
}

pub(crate) async fn a_new_base_image_gives_a_new_artifact_from_the_same_source(world: &mut World) {
    world.flow_as_in_the_seed().await;
    world.build("def567", "abc123-rebased").await;
    world
        .wait_outputs("Workload", image_of("abc123-rebased", "def567"))
        .await;
    world
        .wait_input("source", json!({"value": "def567", "arrived": true}))
        .await;
}

pub(crate) async fn what_nobody_vouches_for_is_assumed(world: &mut World) {
    let build = template("build", json!({"debug": "$(params.debug)$"}), &IMAGE);
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    let resources = json!([{"name": "build", "templateRef": {"kind": "ClusterImageTemplate", "name": "build"}}]);
    world.apply_chain("silent", resources).await;
    let params = json!([{"name": "debug", "value": "on"}]);
    world.apply_workload("app", json!({"params": params})).await;
    let conditions = json!([{"type": "Ready", "status": "True"}]);
    world
        .set_status("build", json!({"image": "i", "conditions": conditions}))
        .await;
    let outputs = json!([{
        "type": "image",
        "value": "i",
        "passed": ["build"],
        "from": [{
            "type": "param",
            "name": "debug",
            "value": "on",
            "evidence": "assumed",
            "passed": ["workload"],
        }],
    }]);
    let owner = world.wait_outputs("Workload", outputs).await;
    let told = json!({"name": "param:debug", "value": "on", "arrived": false, "live": "Unknown"});
    assert_eq!(input(&owner, "param:debug"), told);
}
