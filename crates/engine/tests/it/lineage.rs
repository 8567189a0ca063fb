//! The lineage in the status of owners, with controllers that are played by the tests.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]

mod bad_input;
mod change;
mod memory;
mod metadata_only;
mod offered;
mod outage;
mod paths;
mod runs;
mod seed;

use pathline_testkit::kube::{Options, RealCluster};
use serde_json::{Value, json};

use crate::world::World;

crate::world::embedded_stories![
    seed::an_image_shows_the_source_it_is_made_of,
    change::an_output_of_the_old_source_stays_with_it,
    change::going_there_and_back_ends_with_the_old_value_and_no_false_arrival,
    change::a_new_base_image_gives_a_new_artifact_from_the_same_source,
    change::what_nobody_vouches_for_is_assumed,
    paths::a_source_is_the_same_after_it_was_passed_through,
    paths::a_path_that_switches_makes_history_of_what_came_by_the_old_one,
    paths::a_label_that_only_chooses_an_option_is_an_input_of_what_it_chose,
    paths::a_diamond_of_two_revisions_is_mixed,
    paths::a_delivery_is_fed_by_git,
    paths::params_arrive_with_their_defaults,
    runs::an_output_belongs_to_the_inputs_of_its_run,
    runs::the_run_of_a_runnable_is_looked_through_to,
    memory::an_engine_that_starts_again_goes_on,
    memory::an_owner_that_is_made_anew_begins_anew,
    memory::labels_are_looked_at_although_no_generation_tells,
    memory::an_owner_that_goes_while_nobody_looks_is_ended,
    metadata_only::generation_of_somebody_else_is_not_taken_for_that_of_an_apply,
    metadata_only::object_is_looked_at_although_its_kind_is_not_listed_yet,
    bad_input::owner_references_in_a_circle_do_no_harm,
    bad_input::large_values_stay_within_bounds,
];

#[tokio::test]
async fn lineage_holds_on_a_real_api_server() {
    let suite = "lineage on a real API server";
    let options = Options {
        definitions: pathline_engine::crds::all(),
        ..Options::default()
    };
    let Some(cluster) = RealCluster::shared(suite, options).await else {
        return;
    };
    let mut world = Box::pin(World::on(cluster.kubeconfig())).await;
    Box::pin(seed::an_image_shows_the_source_it_is_made_of(&mut world)).await;
    world.end().await;
    let mut world = Box::pin(World::on(cluster.kubeconfig())).await;
    let story = metadata_only::generation_of_somebody_else_is_not_taken_for_that_of_an_apply;
    Box::pin(story(&mut world)).await;
    world.end().await;
}

/// The health rule of all objects of this kind: they are done when they say Ready.
fn ready() -> Value {
    json!({"singleConditionType": "Ready"})
}

/// Returns a template that stamps a Test with this spec, and gives what is at this path of its status.
fn template(name: &str, spec: Value, outputs: &[(&str, &str)]) -> Value {
    let body = json!({
        "apiVersion": "test.pathline.dev/v1",
        "kind": "Test",
        "metadata": {"name": name},
        "spec": spec,
    });
    let mut template = json!({"template": body, "healthRule": ready()});
    for (path, value) in outputs {
        template[*path] = json!(format!("status.{value}"));
    }
    template
}

const SOURCE: [(&str, &str); 2] = [("urlPath", "url"), ("revisionPath", "revision")];
const IMAGE: [(&str, &str); 1] = [("imagePath", "image")];

/// Returns a resource of a blueprint that takes sources from others, under their names.
fn resource(name: &str, kind: &str, sources: &[&str]) -> Value {
    let mut resource = json!({"name": name, "templateRef": {"kind": kind, "name": name}});
    if !sources.is_empty() {
        let sources = sources.iter();
        let sources = sources.map(|name| json!({"name": name, "resource": name}));
        resource["sources"] = sources.collect();
    }
    resource
}

fn source(revision: &str) -> Value {
    json!({"url": "https://git.example/app", "revision": revision})
}

impl World {
    /// Makes the chain of the seed: clone, test, build.
    async fn apply_seed_chain(&self) {
        let git = "workload.spec.source.git";
        let clone =
            json!({"url": format!("$({git}.url)$"), "commit": format!("$({git}.ref.commit)$")});
        let taken = json!({"revision": "$(source.revision)$", "url": "$(source.url)$"});
        for (kind, name, spec, outputs) in [
            ("ClusterSourceTemplate", "source-cloner", clone, &SOURCE[..]),
            (
                "ClusterSourceTemplate",
                "unit-tester",
                taken.clone(),
                &SOURCE,
            ),
            ("ClusterImageTemplate", "image-builder", taken, &IMAGE),
        ] {
            self.apply_spec(kind, name, template(name, spec, outputs))
                .await;
        }
        let resources = json!([
            resource("image-builder", "ClusterImageTemplate", &["unit-tester"]),
            resource("unit-tester", "ClusterSourceTemplate", &["source-cloner"]),
            resource("source-cloner", "ClusterSourceTemplate", &[]),
        ]);
        self.apply_chain("seed", resources).await;
    }

    /// Lets a commit flow through the chain of the seed until its image is there.
    async fn flow_as_in_the_seed(&self) {
        self.apply_seed_chain().await;
        self.apply_commit("def567").await;
        self.clone_and_test("def567").await;
        self.build("def567", "abc123").await;
        self.wait_outputs("Workload", image_of("abc123", "def567"))
            .await;
    }

    /// Applies a workload at a commit.
    async fn apply_commit(&self, commit: &str) {
        let git = json!({"url": "https://git.example/app", "ref": {"commit": commit}});
        self.apply_workload("app", json!({"source": {"git": git}}))
            .await;
    }

    /// Plays the controllers of cloner and tester, which hand a commit on.
    async fn clone_and_test(&self, commit: &str) {
        let is_given = |field: &'static str, commit: &str| {
            let commit = commit.to_owned();
            move |object: &Value| object["spec"][field] == commit.as_str()
        };
        self.done("source-cloner", is_given("commit", commit), source(commit))
            .await;
        self.done("unit-tester", is_given("revision", commit), source(commit))
            .await;
    }

    /// Plays the controller that builds an image of a commit.
    async fn build(&self, commit: &str, image: &str) {
        let is_given = |object: &Value| object["spec"]["revision"] == commit;
        self.done("image-builder", is_given, json!({"image": image}))
            .await;
    }

    /// Waits until an object is as wanted, then plays a controller that is done with it: it is Ready at
    /// this generation, and its status has these outputs.
    async fn done(&self, name: &str, is_wanted: impl Fn(&Value) -> bool, outputs: Value) {
        let object = self
            .wait_for("Test", name, "to be worked on", is_wanted)
            .await;
        let generation = &object["metadata"]["generation"];
        let condition =
            json!({"type": "Ready", "status": "True", "observedGeneration": generation});
        let mut status = outputs;
        status["conditions"] = json!([condition]);
        status["observedGeneration"] = generation.clone();
        self.set_status(name, status).await;
    }

    /// Waits until the owner shows these outputs.
    async fn wait_outputs(&self, kind: &str, outputs: Value) -> Value {
        let what = format!("with the outputs {outputs:#}");
        self.wait_for(kind, "app", &what, |owner| {
            owner["status"]["outputs"] == outputs
        })
        .await
    }

    /// Waits until the workload says this of an input.
    async fn wait_input(&self, name: &str, wanted: Value) -> Value {
        let what = format!("which says of {name} {wanted}");
        let is_said = |owner: &Value| {
            let input = input(owner, name);
            let wanted = wanted.as_object().expect("fields are wanted");
            wanted.iter().all(|(field, value)| input[field] == *value)
        };
        self.wait_for("Workload", "app", &what, is_said).await
    }
}

/// Returns what an owner says of an input; null if nothing.
fn input(owner: &Value, name: &str) -> Value {
    let inputs = owner["status"]["inputs"].as_array();
    let found = inputs
        .into_iter()
        .flatten()
        .find(|input| input["name"] == name);
    found.cloned().unwrap_or_default()
}

/// The outputs of the chain of the seed.
fn image_of(image: &str, commit: &str) -> Value {
    json!([{
        "type": "image",
        "value": image,
        "passed": ["image-builder"],
        "from": [{
            "type": "source",
            "value": commit,
            "url": "https://git.example/app",
            "evidence": "generation",
            "passed": ["workload", "source-cloner", "unit-tester"],
        }],
    }])
}
