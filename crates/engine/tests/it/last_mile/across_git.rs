//! Across git: from a supply chain into the delivery that follows its repository.

use super::*;

#[tokio::test]
async fn commit_is_live_when_the_delivery_that_follows_its_repository_runs_it() {
    let repositories = tempfile::tempdir().unwrap();
    let url = repository(&repositories);
    let mut world = World::embedded().await;
    world.stop_engine().await;
    world.start_engine_with(|options| options.workers = Some(Kinds::all()));
    world.apply_one_resource(commit(&url), &["command"]).await;
    world.apply_params(&[("command", &runs("one"))]).await;
    world
        .wait_missing(1, "current", &format!("no delivery follows {url} yet"))
        .await;
    let is_unknown = |owner: &Value| owner["status"]["live"] == "Unknown";
    world
        .wait_for("Workload", "app", "of which that is unknown", is_unknown)
        .await;

    world.apply_delivery(&url).await;
    world.wait_live(1).await;

    world.replace_and_crash().await;

    world.delete("Deliverable", "app").await;
    world
        .wait_for("Workload", "app", "of which that is unknown", is_unknown)
        .await;
    world.end().await;
}

#[tokio::test]
async fn git_that_could_not_be_asked_is_asked_again() {
    let repositories = tempfile::tempdir().unwrap();
    let url = repository(&repositories);
    let mut world = World::embedded().await;
    world.stop_engine().await;
    // A file is no place to keep what was fetched.
    let history = world.data_dir().join("git-history");
    std::fs::write(&history, "in the way").unwrap();
    world.start_engine_with(|options| options.workers = Some(Kinds::all()));
    world.apply_one_resource(commit(&url), &["command"]).await;
    world.apply_delivery(&url).await;
    world.apply_params(&[("command", &runs("one"))]).await;
    world.wait_missing(1, "current", "is not known yet").await;
    let is_live = |owner: &Value| owner["status"]["live"] == "True";
    world
        .wait_for("Deliverable", "app", "that is live", is_live)
        .await;

    std::fs::remove_file(&history).unwrap();
    world.wait_live(1).await;
    world.end().await;
}

/// Makes an empty repository.
fn repository(directory: &tempfile::TempDir) -> String {
    let arguments = ["init", "-q", "--bare", "-b", "main", "manifests.git"];
    pathline_testkit::git(directory.path(), &arguments);
    format!("file://{}/manifests.git", directory.path().display())
}

fn commit(url: &str) -> Value {
    json!({
        "apiVersion": "pathline.dev/v1alpha1",
        "kind": "GitCommit",
        "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {"url": url, "message": "run it", "files": {"run.sh": "$(params.command)$"}},
    })
}

impl World {
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
}
