//! Misuse of lineage.

use serde_json::{Value, json};

use super::{IMAGE, image_of, input, resource, template};
use crate::world::World;

pub(crate) async fn owner_references_in_a_circle_do_no_harm(world: &mut World) {
    world.apply_seed_chain().await;
    world.apply_commit("def567").await;
    world.clone_and_test("def567").await;
    let is_there = |_: &Value| true;
    let tester = world
        .wait_for("Test", "unit-tester", "being stamped", is_there)
        .await;
    let cloner = world
        .wait_for("Test", "source-cloner", "being stamped", is_there)
        .await;
    // Each of the two, and the owner itself, is owned by the next.
    let reference = |object: &Value| {
        json!({
            "apiVersion": object["apiVersion"],
            "kind": object["kind"],
            "name": object["metadata"]["name"],
            "uid": object["metadata"]["uid"],
        })
    };
    let owned_by = |object: &Value| json!({"metadata": {"ownerReferences": [reference(object)]}});
    world
        .apply("Test", "source-cloner", owned_by(&tester))
        .await;
    world.apply("Test", "unit-tester", owned_by(&cloner)).await;
    let owner = world.get("Workload", "app").await.unwrap();
    let mut workload = owned_by(&tester);
    workload["metadata"]["labels"] = owner["metadata"]["labels"].clone();
    workload["spec"] = owner["spec"].clone();
    world.apply("Workload", "app", workload).await;
    world.build("def567", "abc123").await;
    world
        .wait_outputs("Workload", image_of("abc123", "def567"))
        .await;
    world.wait_input("source", json!({"arrived": true})).await;
}

pub(crate) async fn large_values_stay_within_bounds(world: &mut World) {
    let names: Vec<String> = (0..200)
        .map(|index| format!("param-with-a-long-name-{index}"))
        .collect();
    let read = names
        .iter()
        .map(|name| format!("$(params.{name})$"))
        .collect::<String>();
    let build = template(
        "build",
        json!({"size": "$(params.text)$", "read": read}),
        &IMAGE,
    );
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    world
        .apply_chain(
            "large",
            json!([resource("build", "ClusterImageTemplate", &[])]),
        )
        .await;
    let text = "x".repeat(600_000);
    let mut params = vec![json!({"name": "text", "value": text})];
    params.extend(
        names
            .iter()
            .map(|name| json!({"name": name, "value": "v".repeat(500)})),
    );
    world.apply_workload("app", json!({"params": params})).await;
    world
        .done("build", |_| true, json!({"image": "i".repeat(600_000)}))
        .await;
    let is_told = |owner: &Value| owner["status"]["outputs"][0]["type"] == "image";
    let owner = world
        .wait_for("Workload", "app", "with an output", is_told)
        .await;
    let status = &owner["status"];
    let size = [&status["outputs"], &status["inputs"]].map(|list| list.to_string().len());
    assert!(size.iter().sum::<usize>() <= 16 * 1024, "{size:?}");
    let output = &status["outputs"][0];
    assert!(
        output["value"].as_str().unwrap().starts_with("sha256:"),
        "{output:#}"
    );
    assert_eq!(
        (&output["cut"], output["artifact"].is_string()),
        (&json!(true), true)
    );
    let inputs = status["inputs"].as_array().unwrap();
    assert_eq!(
        inputs.last().unwrap()["cut"],
        true,
        "what is missing is said"
    );
    let lineage = world
        .ledger
        .lineage()
        .get(owner["metadata"]["uid"].as_str().unwrap())
        .await;
    let lineage = lineage.unwrap().expect("the ledger knows the owner");
    assert_eq!(lineage.inputs().len(), 201, "the ledger has all of them");
    assert_eq!(
        input(&owner, "param:param-with-a-long-name-0")["arrived"],
        true
    );
}
