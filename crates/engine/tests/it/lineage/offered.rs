//! ytt does not tell what it reads: all that it was offered counts, and says so.

use serde_json::{Value, json};

use super::{IMAGE, resource};
use crate::world::World;

#[tokio::test]
async fn inputs_of_ytt_templates_are_offered() {
    let Some(ytt) = pathline_testkit::go_tool("lineage of ytt templates", "ytt") else {
        return;
    };
    let mut world = World::embedded().await;
    world.stop_engine().await;
    world.start_engine_with(|options| options.ytt = Some(ytt));
    let text = "#@ load(\"@ytt:data\", \"data\")\n---\napiVersion: test.pathline.dev/v1\nkind: Test\n\
        metadata:\n  name: build\nspec:\n  debug: #@ data.values.params.debug\n";
    let build = json!({"ytt": text, "imagePath": "status.image", "healthRule": super::ready()});
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    world
        .apply_chain(
            "ytt",
            json!([resource("build", "ClusterImageTemplate", &[])]),
        )
        .await;
    let params = json!([{"name": "debug", "value": "on"}, {"name": "other", "value": "x"}]);
    world.apply_workload("app", json!({"params": params})).await;
    let image = json!({IMAGE[0].1: "i"});
    world.done("build", |_| true, image).await;
    let owner = world
        .wait_input("param:other", json!({"arrived": true}))
        .await;
    let from = owner["status"]["outputs"][0]["from"].as_array().unwrap();
    let offered = |name: &str| {
        from.iter()
            .find(|input| input["name"] == name)
            .map(|it| &it["offered"])
    };
    assert_eq!(offered("debug"), Some(&Value::Bool(true)), "{from:#?}");
    assert_eq!(offered("other"), Some(&Value::Bool(true)), "{from:#?}");
    world.end().await;
}
