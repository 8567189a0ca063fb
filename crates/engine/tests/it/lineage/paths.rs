//! Paths that pass through, switch, meet again, or belong to a delivery.

use serde_json::{Value, json};

use super::{IMAGE, SOURCE, image_of, input, resource, source, template};
use crate::world::World;

impl World {
    /// Makes a chain whose source is tested or passed through, as a label says.
    async fn apply_optional_tests(&self) {
        self.apply_seed_chain().await;
        let options = json!([
            {"name": "unit-tester", "selector": {"matchLabels": {"has-tests": "yes"}}},
            {
                "passThrough": "source-cloner",
                "selector": {"matchExpressions": [{"key": "has-tests", "operator": "DoesNotExist"}]},
            },
        ]);
        let mut tester = resource("unit-tester", "ClusterSourceTemplate", &["source-cloner"]);
        tester["templateRef"] = json!({"kind": "ClusterSourceTemplate", "options": options});
        let resources = json!([
            resource("source-cloner", "ClusterSourceTemplate", &[]),
            tester,
            resource("image-builder", "ClusterImageTemplate", &["unit-tester"]),
        ]);
        self.apply_chain("seed", resources).await;
    }

    /// Applies a workload at a commit that has tests.
    async fn apply_tested(&self, commit: &str) {
        let git = json!({"url": "https://git.example/app", "ref": {"commit": commit}});
        let labels = json!({"app": self.namespace, "has-tests": "yes"});
        let workload = json!({"metadata": {"labels": labels}, "spec": {"source": {"git": git}}});
        self.apply("Workload", "app", workload).await;
    }

    async fn clone_only(&self, commit: &str) {
        let is_given = |object: &Value| object["spec"]["commit"] == commit;
        self.done("source-cloner", is_given, source(commit)).await;
    }
}

const LABEL: &str = "field:metadata.labels.has-tests";

pub(crate) async fn a_source_is_the_same_after_it_was_passed_through(world: &mut World) {
    world.apply_optional_tests().await;
    world.apply_commit("def567").await;
    world.clone_only("def567").await;
    world.build("def567", "abc123").await;
    world
        .wait_outputs("Workload", image_of("abc123", "def567"))
        .await;
    let owner = world.wait_input("source", json!({"arrived": true})).await;
    assert_eq!(input(&owner, LABEL)["arrived"], true, "{owner:#}");
}

pub(crate) async fn a_path_that_switches_makes_history_of_what_came_by_the_old_one(
    world: &mut World,
) {
    world.apply_optional_tests().await;
    world.apply_commit("def567").await;
    world.clone_only("def567").await;
    world.build("def567", "abc123").await;
    world.wait_input("source", json!({"arrived": true})).await;

    world.apply_tested("def567").await;
    world
        .wait_input(LABEL, json!({"value": "yes", "arrived": false}))
        .await;
    let is_given = |object: &Value| object["spec"]["revision"] == "def567";
    world.done("unit-tester", is_given, source("def567")).await;
    world
        .wait_input(LABEL, json!({"value": "yes", "arrived": true}))
        .await;
    world
        .wait_outputs("Workload", image_of("abc123", "def567"))
        .await;
}

pub(crate) async fn a_label_that_only_chooses_an_option_is_an_input_of_what_it_chose(
    world: &mut World,
) {
    let build = |name: &str| template(name, json!({"kind": name}), &IMAGE);
    for name in ["plain", "fancy"] {
        world
            .apply_spec("ClusterImageTemplate", name, build(name))
            .await;
    }
    let option = |name: &str, value: &str| json!({"name": name, "selector": {"matchLabels": {"style": value}}});
    let options = json!([option("plain", "plain"), option("fancy", "fancy")]);
    let template_ref = json!({"kind": "ClusterImageTemplate", "options": options});
    world
        .apply_chain(
            "styles",
            json!([{"name": "build", "templateRef": template_ref}]),
        )
        .await;
    for style in ["plain", "fancy"] {
        let labels = json!({"app": world.namespace, "style": style});
        let workload = json!({"metadata": {"labels": labels}, "spec": {}});
        world.apply("Workload", "app", workload).await;
        world
            .done(style, |_| true, json!({"image": format!("{style}-image")}))
            .await;
        let outputs = json!([{
            "type": "image",
            "value": format!("{style}-image"),
            "passed": ["build"],
            "from": [{
                "type": "field",
                "name": "metadata.labels.style",
                "value": style,
                "evidence": "generation",
                "passed": ["workload"],
            }],
        }]);
        world.wait_outputs("Workload", outputs).await;
        world
            .wait_input(
                "field:metadata.labels.style",
                json!({"value": style, "arrived": true}),
            )
            .await;
    }
}

pub(crate) async fn a_diamond_of_two_revisions_is_mixed(world: &mut World) {
    let git = "workload.spec.source.git";
    let clone = json!({"commit": format!("$({git}.ref.commit)$")});
    let one = json!({"revision": "$(source.revision)$"});
    let both = json!({"left": "$(sources.left.revision)$", "right": "$(sources.right.revision)$"});
    for (kind, name, spec, outputs) in [
        ("ClusterSourceTemplate", "fetch", clone, &SOURCE[..]),
        ("ClusterSourceTemplate", "left", one.clone(), &SOURCE),
        ("ClusterSourceTemplate", "right", one, &SOURCE),
        ("ClusterImageTemplate", "join", both, &IMAGE),
    ] {
        world
            .apply_spec(kind, name, template(name, spec, outputs))
            .await;
    }
    let resources = json!([
        resource("fetch", "ClusterSourceTemplate", &[]),
        resource("left", "ClusterSourceTemplate", &["fetch"]),
        resource("right", "ClusterSourceTemplate", &["fetch"]),
        resource("join", "ClusterImageTemplate", &["left", "right"]),
    ]);
    world.apply_chain("diamond", resources).await;
    let made = |side: &str, revision: &str| json!({"url": format!("https://{side}.example"), "revision": format!("{side}-{revision}")});
    let given = |field: &'static str, value: &str| {
        let value = value.to_owned();
        move |object: &Value| object["spec"][field] == value.as_str()
    };
    world.apply_commit("r1").await;
    world
        .done("fetch", given("commit", "r1"), source("r1"))
        .await;
    world
        .done("left", given("revision", "r1"), made("left", "r1"))
        .await;
    world
        .done("right", given("revision", "r1"), made("right", "r1"))
        .await;
    world
        .done("join", given("right", "right-r1"), json!({"image": "i1"}))
        .await;
    world
        .wait_input(
            "source",
            json!({"value": "r1", "arrived": true, "mixed": null}),
        )
        .await;

    world.apply_commit("r2").await;
    world
        .done("fetch", given("commit", "r2"), source("r2"))
        .await;
    world
        .done("left", given("revision", "r2"), made("left", "r2"))
        .await;
    world
        .done(
            "join",
            given("left", "left-r2"),
            json!({"image": "i-mixed"}),
        )
        .await;
    world
        .wait_input(
            "source",
            json!({"value": "r2", "arrived": false, "mixed": true}),
        )
        .await;

    world
        .done("right", given("revision", "r2"), made("right", "r2"))
        .await;
    world
        .done("join", given("right", "right-r2"), json!({"image": "i2"}))
        .await;
    world
        .wait_input(
            "source",
            json!({"value": "r2", "arrived": true, "mixed": null}),
        )
        .await;
}

pub(crate) async fn a_delivery_is_fed_by_git(world: &mut World) {
    let git = "deliverable.spec.source.git";
    let fetch = json!({"branch": format!("$({git}.ref.branch)$")});
    let fetch = template("fetch", fetch, &SOURCE);
    world
        .apply_spec("ClusterSourceTemplate", "fetch", fetch)
        .await;
    let mut deploy = template(
        "deploy",
        json!({"revision": "$(deployment.revision)$"}),
        &[],
    );
    deploy["observedMatches"] = json!([{"input": "spec.revision", "output": "status.running"}]);
    world
        .apply_spec("ClusterDeploymentTemplate", "deploy", deploy)
        .await;
    let resources = json!([
        resource("fetch", "ClusterSourceTemplate", &[]),
        {
            "name": "deploy",
            "templateRef": {"kind": "ClusterDeploymentTemplate", "name": "deploy"},
            "deployment": {"resource": "fetch"},
        },
    ]);
    let selector = json!({"app": world.namespace});
    let delivery = json!({"selector": selector, "resources": resources});
    world
        .apply_spec("ClusterDelivery", "delivery", delivery)
        .await;
    let git = json!({"url": "https://git.example/app", "ref": {"branch": "main"}});
    let labels = json!({"app": world.namespace});
    let deliverable = json!({"metadata": {"labels": labels}, "spec": {"source": {"git": git}}});
    world.apply("Deliverable", "app", deliverable).await;
    for commit in ["1111111", "2222222"] {
        let revision = format!("main@sha1:{commit}");
        world.done("fetch", |_| true, source(&revision)).await;
        let is_given = |object: &Value| object["spec"]["revision"] == revision.as_str();
        world
            .done("deploy", is_given, json!({"running": revision}))
            .await;
        let outputs = json!([{
            "type": "deployment",
            "value": revision,
            "url": "https://git.example/app",
            "passed": ["deploy"],
            "from": [{
                "type": "source",
                "value": revision,
                "url": "https://git.example/app",
                "evidence": "same",
                "passed": ["fetch"],
                "from": [{
                    "type": "field",
                    "name": "spec.source.git.ref.branch",
                    "value": "main",
                    "evidence": "generation",
                    "passed": ["deliverable"],
                }],
            }],
        }]);
        let owner = world.wait_outputs("Deliverable", outputs).await;
        let branch = input(&owner, "field:spec.source.git.ref.branch");
        assert_eq!(branch["arrived"], true, "{owner:#}");
        let url = input(&owner, "field:spec.source.git.url");
        assert_eq!(url["unused"], true, "nothing reads it: {owner:#}");
    }
}

pub(crate) async fn params_arrive_with_their_defaults(world: &mut World) {
    let mut build = template(
        "build",
        json!({"debug": "$(params.debug)$", "size": "$(params.size)$"}),
        &IMAGE,
    );
    build["params"] = json!([{"name": "debug", "default": "off"}, {"name": "size", "default": 1}]);
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    let mut resource = resource("build", "ClusterImageTemplate", &[]);
    resource["params"] = json!([{"name": "size", "value": 5}]);
    world.apply_chain("params", json!([resource])).await;
    let debug_on =
        json!({"params": [{"name": "debug", "value": "on"}, {"name": "extra", "value": 1}]});
    for (spec, value) in [(debug_on, "on"), (json!({}), "off")] {
        world.apply_workload("app", spec).await;
        let is_given = |object: &Value| object["spec"]["debug"] == value;
        world
            .done(
                "build",
                is_given,
                json!({"image": format!("image-{value}")}),
            )
            .await;
        let owner = world
            .wait_input("param:debug", json!({"value": value, "arrived": true}))
            .await;
        assert_eq!(input(&owner, "param:size"), Value::Null, "it is fixed");
        let extra = input(&owner, "param:extra");
        assert_eq!(extra["unused"] == true, value == "on", "{owner:#}");
    }
}
