//! Changes that no generation tells of: which of them an output was made from can't be known.

use futures::FutureExt;
use kube::ResourceExt;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::runtime::wait::await_condition;
use pathline_testkit::postgres::Server;
use serde_json::{Value, json};

use super::{IMAGE, template};
use crate::world::World;

pub(crate) async fn generation_of_somebody_else_is_not_taken_for_that_of_an_apply(
    world: &mut World,
) {
    world.build_in_mode_one().await;

    // After Pathline has looked and before it applies, somebody else makes a new generation.
    world.just_before("/tests/build", world.meddle());
    world.apply_mode("two").await;
    world.assume_mode_two().await;
}

pub(crate) async fn object_is_looked_at_although_its_kind_is_not_listed_yet(world: &mut World) {
    world.build_in_mode_one().await;
    world.stop_engine().await;
    world.meddle().await;
    world.apply_mode("two").await;
    // The listing takes longer than Pathline waits for it.
    let is_given = |object: Option<&DynamicObject>| {
        object.is_some_and(|it| it.labels().get("mode").is_some_and(|it| it == "two"))
    };
    let given = await_condition(world.api("Test"), "build", is_given);
    world.just_before("/v1/tests", given.map(drop));
    world.start_engine();
    world.assume_mode_two().await;
}

#[tokio::test]
async fn applies_that_were_never_written_down_are_not_forgotten() {
    let Some(postgres) = Server::start("applies while PostgreSQL is away") else {
        return;
    };
    let mut world = World::remembering_in(&postgres).await;
    world.build_in_mode_one().await;

    postgres.stop();
    world.apply_mode("two").await;
    world.build_in_mode("two", "of two").await;
    world.apply_mode("one").await;
    world.wait_mode_of_build("one").await;
    world.stop_engine().await;
    postgres.resume().unwrap();
    world.start_engine();
    world.wait_mode(built("of two", "one", "assumed")).await;
    world.end().await;
}

impl World {
    /// Makes a chain that renders a param into a label, and nothing else.
    async fn apply_mode_chain(&self) {
        let mut build = template("build", json!({}), &IMAGE);
        build["template"]["metadata"]["labels"] = json!({"mode": "$(params.mode)$"});
        self.apply_spec("ClusterImageTemplate", "build", build)
            .await;
        let template_ref = json!({"kind": "ClusterImageTemplate", "name": "build"});
        let resource = json!({"name": "build", "templateRef": template_ref});
        self.apply_chain("modes", json!([resource])).await;
    }

    /// Lets an image be built in mode one, and Pathline know it.
    async fn build_in_mode_one(&self) {
        self.apply_mode_chain().await;
        self.apply_mode("one").await;
        self.build_in_mode("one", "first").await;
        self.wait_mode(built("first", "one", "generation")).await;
    }

    async fn apply_mode(&self, mode: &str) {
        let params = json!([{"name": "mode", "value": mode}]);
        self.apply_workload("app", json!({"params": params})).await;
    }

    /// Somebody else makes a new generation of the build, and touches nothing of ours.
    fn meddle(&self) -> impl Future<Output = ()> + Send + use<> {
        let api = self.api("Test");
        async move {
            let patch = Patch::Merge(json!({"spec": {"extra": "theirs"}}));
            let patched = api.patch("build", &PatchParams::default(), &patch).await;
            patched.unwrap();
        }
    }

    /// Plays the controller of a build that somebody else gave its generation, in one mode or two.
    async fn assume_mode_two(&self) {
        let build = self.build_in_mode("two", "of one or two").await;
        assert_eq!(build["metadata"]["generation"], 2);
        assert_eq!(build["spec"]["extra"], "theirs");
        self.wait_mode(built("of one or two", "two", "assumed"))
            .await;
    }

    async fn wait_mode_of_build(&self, mode: &str) -> Value {
        let is_given = |object: &Value| object["metadata"]["labels"]["mode"] == mode;
        self.wait_for("Test", "build", "given the mode", is_given)
            .await
    }

    /// Plays the controller that builds an image in a mode; returns what it was built from.
    async fn build_in_mode(&self, mode: &str, image: &str) -> Value {
        let build = self.wait_mode_of_build(mode).await;
        self.done("build", |_| true, json!({"image": image})).await;
        build
    }

    async fn wait_mode(&self, outputs: Value) {
        self.wait_outputs("Workload", outputs).await;
    }
}

/// The outputs of the chain: an image, built in a mode.
fn built(image: &str, mode: &str, evidence: &str) -> Value {
    json!([{
        "type": "image",
        "value": image,
        "passed": ["build"],
        "from": [{
            "type": "param",
            "name": "mode",
            "value": mode,
            "evidence": evidence,
            "passed": ["workload"],
        }],
    }])
}
