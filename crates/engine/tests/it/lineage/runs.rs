//! Runs: the inputs of an output are those of its run.

use serde_json::{Value, json};

use super::{input, template};
use crate::world::World;

fn made_of(run: &str, revision: &str) -> Value {
    json!([{
        "type": "image",
        "value": run,
        "passed": ["build"],
        "from": [{
            "type": "param",
            "name": "revision",
            "value": revision,
            "evidence": "immutable",
            "passed": ["workload"],
        }],
    }])
}

impl World {
    async fn apply_revision(&self, revision: &str) {
        let params = json!([{"name": "revision", "value": revision}]);
        self.apply_workload("app", json!({"params": params})).await;
    }

    /// Waits for the run of a revision, and ends it.
    async fn end_run(&self, revision: &str, status: &str, image: &str) {
        let run = self
            .wait_any("Test", "of the revision", |run| {
                run["spec"]["revision"] == revision
            })
            .await;
        self.finish(&run, status, image).await;
    }

    /// Goes there and back, with a failure in between.
    async fn go_there_and_back(&self) {
        self.apply_revision("1").await;
        self.end_run("1", "True", "image:1").await;
        self.wait_outputs("Workload", made_of("image:1", "1")).await;
        self.wait_input("param:revision", json!({"value": "1", "arrived": true}))
            .await;

        self.apply_revision("2").await;
        self.end_run("2", "False", "image:broken").await;
        let owner = self
            .wait_input("param:revision", json!({"value": "2"}))
            .await;
        assert_eq!(input(&owner, "param:revision")["arrived"], false);
        assert_eq!(owner["status"]["outputs"], made_of("image:1", "1"));

        self.apply_revision("3").await;
        self.end_run("3", "True", "image:3").await;
        self.wait_outputs("Workload", made_of("image:3", "3")).await;

        self.apply_revision("1").await;
        self.wait_outputs("Workload", made_of("image:1", "1")).await;
        self.wait_input("param:revision", json!({"value": "1", "arrived": true}))
            .await;
    }
}

pub(crate) async fn an_output_belongs_to_the_inputs_of_its_run(world: &mut World) {
    let mut build = template(
        "build",
        json!({"revision": "$(params.revision)$"}),
        &super::IMAGE,
    );
    build["template"]["metadata"] = json!({"generateName": "build-"});
    build["lifecycle"] = json!("tekton");
    build.as_object_mut().unwrap().remove("healthRule");
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    world
        .apply_chain(
            "runs",
            json!([super::resource("build", "ClusterImageTemplate", &[])]),
        )
        .await;
    world.go_there_and_back().await;
}

pub(crate) async fn the_run_of_a_runnable_is_looked_through_to(world: &mut World) {
    let run = json!({
        "apiVersion": "test.pathline.dev/v1",
        "kind": "Test",
        "metadata": {"generateName": "run-"},
        "spec": {"revision": "$(runnable.spec.inputs.revision)$"},
    });
    let run = json!({"template": run, "outputs": {"image": "status.image"}});
    world
        .apply_spec("ClusterRunTemplate", "pipeline", run)
        .await;
    let runnable = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "Runnable",
        "metadata": {"name": "build"},
        "spec": {
            "runTemplateRef": {"name": "pipeline"},
            "inputs": {"revision": "$(params.revision)$"},
        },
    });
    let build = json!({"template": runnable, "imagePath": "status.outputs.image"});
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    world
        .apply_chain(
            "runs",
            json!([super::resource("build", "ClusterImageTemplate", &[])]),
        )
        .await;
    world.go_there_and_back().await;
}
