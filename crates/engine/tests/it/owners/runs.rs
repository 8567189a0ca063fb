//! Resources whose objects are made anew for every change.

use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use super::{config_map, test_object};
use crate::world::{World, conditions_of, message, resource};

pub(crate) async fn issue_587_a_run_without_a_spec_is_created_once(world: &mut World) {
    let mut body = config_map("", json!({"a": "$(workload.metadata.name)$"}));
    body["metadata"] = json!({"generateName": "once-"});
    let spec = json!({"template": body, "lifecycle": "immutable"});
    world.apply_spec("ClusterTemplate", "once", spec).await;
    world
        .apply_chain(
            "chain",
            json!([
                {"name": "once", "templateRef": {"kind": "ClusterTemplate", "name": "once"}},
            ]),
        )
        .await;
    world.apply_workload("app", json!({})).await;
    let owner = world.wait_ready("Workload", "app").await;
    let stamped = resource(&owner, "once")["stampedRef"]["name"].clone();
    world.stop_engine().await;
    world.start_engine();
    // The spec is new, so the owner is looked at; the run does not show it.
    world.apply_workload("app", json!({"image": "other"})).await;
    world
        .wait_for("Workload", "app", "seen again", |owner| {
            owner["status"]["observedGeneration"] == 2
        })
        .await;
    assert_eq!(world.names("ConfigMap", "once-").await, [stamped]);
}

pub(crate) async fn going_back_to_old_inputs_finds_the_old_run(world: &mut World) {
    world.apply_builds(json!({})).await;
    world.apply_build("1").await;
    let first = world.wait_built("1").await;
    world.apply_build("2").await;
    let second = world.wait_built("2").await;
    assert_ne!(first, second);
    world.apply_build("1").await;
    assert_eq!(world.wait_built("1").await, first);
    world.stop_engine().await;
    world.start_engine();
    world.apply_build("2").await;
    assert_eq!(world.wait_built("2").await, second, "nothing is forgotten");
    assert_eq!(world.names("Test", "build-").await.len(), 2);
}

pub(crate) async fn a_failing_run_keeps_the_output_of_the_last_good_one(world: &mut World) {
    world.apply_builds(json!({})).await;
    world.apply_build("1").await;
    let waiting = [
        "ResourcesSubmitted",
        "Unknown",
        "SetOfImmutableStampedObjectsIncludesNoHealthyObject",
    ];
    world.wait_condition("Workload", "app", waiting).await;
    let run = world.wait_built("1").await;
    world.finish(&run, "True", "image:1").await;
    world.wait_shown_image("image:1").await;
    world.wait_ready("Workload", "app").await;

    world.apply_build("2").await;
    let run = world.wait_built("2").await;
    world.finish(&run, "False", "image:2").await;
    let unhealthy = ["ResourcesHealthy", "False", "HealthyConditionRule"];
    let owner = world.wait_condition("Workload", "app", unhealthy).await;
    let built = resource(&owner, "build");
    assert_eq!(built["stampedRef"]["name"], run.as_str());
    assert_eq!(built["outputs"][0]["preview"], "image:1\n");
    assert!(conditions_of(built).contains(&["Healthy", "False", "SucceededCondition"]));

    world.apply_build("3").await;
    let run = world.wait_built("3").await;
    world.finish(&run, "True", "image:3").await;
    world.wait_shown_image("image:3").await;
    world.wait_ready("Workload", "app").await;
}

pub(crate) async fn runs_that_are_too_many_go(world: &mut World) {
    let retention = json!({"retentionPolicy": {"maxSuccessfulRuns": 1, "maxFailedRuns": 1}});
    world.apply_builds(retention).await;
    let mut runs = Vec::new();
    for revision in ["1", "2", "3"] {
        world.apply_build(revision).await;
        let run = world.wait_built(revision).await;
        world
            .finish(&run, "True", &format!("image:{revision}"))
            .await;
        world.wait_shown_image(&format!("image:{revision}")).await;
        runs.push(run);
    }
    world.wait_gone("Test", &runs[0]).await;
    world.wait_gone("Test", &runs[1]).await;
    assert_eq!(world.names("Test", "build-").await, [runs.remove(2)]);
}

pub(crate) async fn a_lifecycle_that_changes_leaves_nothing_behind(world: &mut World) {
    world.apply_builds(json!({})).await;
    let mutable = json!({"template": test_object("build", json!({"fixed": "image:0"})), "imagePath": "spec.fixed"});
    world
        .apply_spec("ClusterImageTemplate", "build", mutable.clone())
        .await;
    world.apply_build("1").await;
    world.wait_ready("Workload", "app").await;
    world.apply_builds(json!({})).await;
    let run = world.wait_built("1").await;
    world.wait_gone("Test", "build").await;
    world.finish(&run, "True", "image:1").await;
    world.wait_shown_image("image:1").await;
    world
        .apply_spec("ClusterImageTemplate", "build", mutable)
        .await;
    world.wait_gone("Test", &run).await;
    world.wait_ready("Workload", "app").await;
    assert_eq!(world.names("Test", "build").await, ["build"]);
}

pub(crate) async fn a_run_without_a_name_says_so(world: &mut World) {
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}});
    let spec = json!({"template": body, "lifecycle": "immutable"});
    world.apply_spec("ClusterTemplate", "nameless", spec).await;
    world
        .apply_chain("chain", json!([
            {"name": "nameless", "templateRef": {"kind": "ClusterTemplate", "name": "nameless"}},
        ]))
        .await;
    world.apply_workload("app", json!({})).await;
    let failed = ["ResourcesSubmitted", "False", "TemplateStampFailure"];
    let owner = world.wait_condition("Workload", "app", failed).await;
    assert!(
        message(&owner["status"], "ResourcesSubmitted")
            .ends_with("the object needs a text at [metadata.generateName]")
    );
}

impl World {
    /// Returns the names of the objects of a kind that start like this.
    pub(crate) async fn names(&self, kind: &str, prefix: &str) -> Vec<String> {
        let objects = self.api(kind).list(&ListParams::default()).await.unwrap();
        let names = objects.iter().map(ResourceExt::name_any);
        names.filter(|name| name.starts_with(prefix)).collect()
    }

    /// Makes a chain of two: runs that give an image, and a ConfigMap that shows it.
    async fn apply_builds(&self, more: Value) {
        let mut body = test_object("", json!({"revision": "$(params.revision)$"}));
        body["metadata"] = json!({"generateName": "build-"});
        let mut build =
            json!({"template": body, "lifecycle": "tekton", "imagePath": "status.image"});
        build
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.apply_spec("ClusterImageTemplate", "build", build)
            .await;
        let show = json!({"template": config_map("shown", json!({"image": "$(image)$"}))});
        self.apply_spec("ClusterTemplate", "show", show).await;
        self.apply_chain(
            "builds",
            json!([
                {"name": "build", "templateRef": {"kind": "ClusterImageTemplate", "name": "build"}},
                {
                    "name": "show",
                    "templateRef": {"kind": "ClusterTemplate", "name": "show"},
                    "images": [{"name": "image", "resource": "build"}],
                },
            ]),
        )
        .await;
    }

    async fn apply_build(&self, revision: &str) {
        let params = json!([{"name": "revision", "value": revision}]);
        self.apply_workload("app", json!({"params": params})).await;
    }

    /// Waits until the run of a revision is what the owner refers to, and returns its name.
    async fn wait_built(&self, revision: &str) -> String {
        let params = json!([{"name": "revision", "value": revision}]);
        let owner = self
            .wait_for("Workload", "app", "seen", |owner| {
                owner["status"]["observedGeneration"] == owner["metadata"]["generation"]
                    && owner["spec"]["params"] == params
                    && owner["status"]["resources"][0]["stampedRef"]["name"]
                        .as_str()
                        .is_some_and(|name| name.starts_with("build-"))
            })
            .await;
        let name = resource(&owner, "build")["stampedRef"]["name"]
            .as_str()
            .unwrap();
        let run = self.get("Test", name).await.unwrap();
        assert_eq!(run["spec"]["revision"], revision);
        name.to_owned()
    }

    /// Plays the controller of a run: ends it.
    pub(crate) async fn finish(&self, run: &str, succeeded: &str, image: &str) {
        let condition = json!({"type": "Succeeded", "status": succeeded});
        let status = json!({"image": image, "conditions": [condition]});
        let patch = Patch::Merge(json!({"status": status}));
        let api = self.api("Test");
        api.patch_status(run, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    async fn wait_shown_image(&self, image: &str) {
        let what = format!("with {image}");
        self.wait_for("ConfigMap", "shown", &what, |shown| {
            shown["data"]["image"] == image
        })
        .await;
    }
}
