//! Whether what owners lead to runs.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

use std::time::Duration;

use pathline_engine::workers::Kinds;
use pathline_lineage::wait::{Never, Options as Enough, Verdict, Waiter};
use pathline_testkit::kube::{Binaries, Crash, Kubelets, Options, RealCluster};
use serde_json::{Value, json};

use crate::world::World;

/// What is awaited takes seconds; a loaded machine gets all the time it needs.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn process_is_live_when_it_runs_with_what_the_owner_says_and_fails_when_it_crashes() {
    let mut world = World::embedded().await;
    world.stop_engine().await;
    world.start_engine_with(|options| options.workers = Some(Kinds::all()));
    let process = json!({
        "apiVersion": "pathline.dev/v1alpha1",
        "kind": "Process",
        "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {"command": ["sh", "-c", "$(params.command)$"]},
    });
    world.apply_one_resource(process, &["command"]).await;
    let runs = |mark: &str| format!("echo {mark}; exec sleep 1000");
    world.apply_params(&[("command", &runs("one"))]).await;
    world.wait_live(1).await;

    world.apply_params(&[("command", &runs("two"))]).await;
    world.assert_not_live_with("command", &runs("two")).await;
    world.wait_live(2).await;

    let crashes = "echo there is no config; exit 3";
    world.apply_params(&[("command", crashes)]).await;
    let reason = world
        .wait_never(3, &format!("param:command={crashes}"))
        .await;
    assert!(reason.contains("there is no config"), "{reason}");

    world.apply_params(&[("command", &runs("one"))]).await;
    world.wait_live(4).await;
    world.end().await;
}

#[tokio::test]
async fn deployment_is_live_when_only_new_pods_run_and_fails_when_they_crash() {
    let suite = "last miles on a real API server";
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => return pathline_testkit::skip(suite, &missing.to_string()),
    };
    let options = Options {
        definitions: pathline_engine::crds::all(),
        ..Options::with_pods()
    };
    let cluster = RealCluster::start(&binaries, options).await.unwrap();
    let kubelets = Kubelets::start(cluster.client().await.unwrap())
        .await
        .unwrap();
    let mut world = Box::pin(World::on(cluster.kubeconfig())).await;
    world
        .apply_one_resource(deployment(), &["debug", "image"])
        .await;
    world
        .apply_params(&[("debug", "off"), ("image", "app:1")])
        .await;
    world.wait_live(1).await;

    world
        .apply_params(&[("debug", "on"), ("image", "app:1")])
        .await;
    world.assert_not_live_with("debug", "on").await;
    world.wait_live(2).await;

    let crash = Crash {
        restarts: 3,
        exit_code: 7,
        message: "there is no config".to_owned(),
    };
    kubelets.crash("app:2", crash);
    world
        .apply_params(&[("debug", "on"), ("image", "app:2")])
        .await;
    let reason = world.wait_never(3, "param:image=app:2").await;
    assert!(
        reason.contains("exit code 7: there is no config"),
        "{reason}"
    );

    world
        .apply_params(&[("debug", "on"), ("image", "app:1")])
        .await;
    world.wait_live(4).await;

    world.stop_engine().await;
    world.start_engine();
    world
        .apply_params(&[("debug", "off"), ("image", "app:1")])
        .await;
    world.wait_live(5).await;
    world.end().await;
}

#[tokio::test]
async fn commit_is_live_when_the_delivery_that_follows_its_repository_runs_it() {
    let repositories = tempfile::tempdir().unwrap();
    pathline_testkit::git(
        repositories.path(),
        &["init", "-q", "--bare", "-b", "main", "manifests.git"],
    );
    let url = format!("file://{}/manifests.git", repositories.path().display());
    let mut world = World::embedded().await;
    world.stop_engine().await;
    world.start_engine_with(|options| options.workers = Some(Kinds::all()));
    world.apply_one_resource(commit(&url), &["command"]).await;
    world.apply_delivery(&url).await;
    let runs = |mark: &str| format!("echo {mark}; exec sleep 1000");
    world.apply_params(&[("command", &runs("one"))]).await;
    world.wait_live(1).await;

    world.apply_params(&[("command", &runs("two"))]).await;
    world.assert_not_live_with("command", &runs("two")).await;
    world.wait_live(2).await;

    let crashes = "echo there is no config; exit 3";
    world.apply_params(&[("command", crashes)]).await;
    let reason = world
        .wait_never(3, &format!("param:command={crashes}"))
        .await;
    assert!(reason.contains("there is no config"), "{reason}");
    world.end().await;
}

fn commit(url: &str) -> Value {
    json!({
        "apiVersion": "pathline.dev/v1alpha1",
        "kind": "GitCommit",
        "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {"url": url, "message": "run it", "files": {"run.sh": "$(params.command)$"}},
    })
}

fn deployment() -> Value {
    let labels = json!({"app": "$(workload.metadata.name)$"});
    let container = json!({
        "name": "app",
        "image": "$(params.image)$",
        "env": [{"name": "DEBUG", "value": "$(params.debug)$"}],
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    })
}

impl World {
    /// Makes a supply chain with one resource, whose template reads params of the workload.
    async fn apply_one_resource(&self, body: Value, params: &[&str]) {
        let params: Vec<_> = params
            .iter()
            .map(|name| json!({"name": name, "default": ""}))
            .collect();
        let template = json!({"template": body, "params": params});
        self.apply_spec("ClusterTemplate", "run", template).await;
        let resource =
            json!({"name": "run", "templateRef": {"kind": "ClusterTemplate", "name": "run"}});
        self.apply_chain("run", json!([resource])).await;
    }

    /// Makes a delivery that runs what is in a repository.
    async fn apply_delivery(&self, url: &str) {
        let ready = json!({"singleConditionType": "Ready"});
        let repository = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": {"name": "manifests"},
            "spec": {"interval": "1s", "url": url, "ref": {"branch": "main"}},
        });
        let fetch = json!({
            "urlPath": ".status.artifact.url", "revisionPath": ".status.artifact.revision",
            "healthRule": ready, "template": repository,
        });
        self.apply_spec("ClusterSourceTemplate", "manifests", fetch)
            .await;
        let process = json!({
            "apiVersion": "pathline.dev/v1alpha1",
            "kind": "Process",
            "metadata": {"name": "$(deliverable.metadata.name)$"},
            "spec": {
                "source": {"url": "$(deployment.url)$", "revision": "$(deployment.revision)$"},
                "command": ["sh", "run.sh"],
            },
        });
        let matches =
            json!({"input": "spec.source.revision", "output": "status.running.source.revision"});
        let run = json!({"observedMatches": [matches], "healthRule": ready, "template": process});
        self.apply_spec("ClusterDeploymentTemplate", "run", run)
            .await;
        let selector = json!({"app": self.namespace});
        let resources = json!([
            {"name": "manifests", "templateRef": {"kind": "ClusterSourceTemplate", "name": "manifests"}},
            {
                "name": "run",
                "templateRef": {"kind": "ClusterDeploymentTemplate", "name": "run"},
                "deployment": {"resource": "manifests"},
            },
        ]);
        let delivery = json!({"selector": selector, "resources": resources});
        self.apply_spec("ClusterDelivery", "run", delivery).await;
        let spec = json!({"source": {"git": {"url": url, "ref": {"branch": "main"}}}});
        let owner = json!({"metadata": {"labels": selector}, "spec": spec});
        self.apply("Deliverable", "app", owner).await;
    }

    /// Lets the workload have these params.
    async fn apply_params(&self, params: &[(&str, &str)]) {
        let params: Vec<_> = params
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        self.apply_workload("app", json!({ "params": params }))
            .await;
    }

    /// Waits until a generation of the workload is live, and all of it at that time.
    async fn wait_live(&self, generation: i64) {
        let is_live = |owner: &Value| owner["status"]["liveGeneration"] == generation;
        let what = format!("with generation {generation} live");
        let owner = self.wait_for("Workload", "app", &what, is_live).await;
        assert_eq!(owner["status"]["live"], "True", "{owner:#}");
        let inputs = owner["status"]["inputs"].as_array().unwrap();
        assert!(inputs.iter().all(|it| it["live"] == "True"), "{owner:#}");
    }

    /// Asserts that the report which first names a value does not say that it is live.
    async fn assert_not_live_with(&self, param: &str, value: &str) {
        let name = format!("param:{param}");
        let names = |owner: &Value| {
            let inputs = owner["status"]["inputs"].as_array().into_iter().flatten();
            let mut inputs = inputs.filter(|it| it["name"] == name.as_str());
            inputs.any(|it| it["value"] == value)
        };
        let owner = self
            .wait_for("Workload", "app", "with the new value", names)
            .await;
        assert_eq!(owner["status"]["live"], "False", "{owner:#}");
    }

    /// Waits as whoever waits for a change does, until it can't happen any more; returns why.
    async fn wait_never(&self, generation: i64, wish: &str) -> String {
        let enough = Enough {
            live: true,
            since_generation: Some(generation),
            ..Enough::default()
        };
        let mut waiter = Waiter::new(vec![wish.parse().unwrap()], enough);
        let owner = self
            .ledger
            .find_owner("Workload", &self.namespace, "app")
            .await;
        let mut tracks = self
            .ledger
            .follow(&owner.unwrap().unwrap().uid)
            .await
            .unwrap();
        let waiting = async {
            loop {
                let track = tracks.borrow_and_update().clone();
                match track.map(|track| waiter.look(&track)) {
                    Some(Verdict::Never(Never::Failed { message, .. })) => return message,
                    Some(Verdict::Waiting(_)) | None => tracks.changed().await.unwrap(),
                    Some(other) => panic!("{other:?} in the place of a failure"),
                }
            }
        };
        let told = tokio::time::timeout(PATIENCE, waiting).await;
        told.unwrap_or_else(|_| panic!("waited in vain for {wish} to fail"))
    }
}
