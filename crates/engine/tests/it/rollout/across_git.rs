//! Across git: from a supply chain into the delivery that follows its repository.

use pathline_ledger::{Carrier, Page, Topic};
use pathline_lineage::Kind;

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

#[tokio::test]
async fn point_16_lineage_crosses_git() {
    let mut world = World::embedded().await;
    point_16_lineage_crosses_git_both_ways(&mut world).await;
    world.end().await;
}

/// A running process is followed to what the commit was made of that it came with, and nothing else is.
pub(super) async fn point_16_lineage_crosses_git_on_a_cluster(world: &mut World, _: &Kubelets) {
    point_16_lineage_crosses_git_both_ways(world).await;
}

async fn point_16_lineage_crosses_git_both_ways(world: &mut World) {
    let repositories = tempfile::tempdir().unwrap();
    let url = repository(&repositories);
    let (one, two) = (runs("one"), runs("two"));
    let with_workers =
        |options: &mut pathline_engine::Options| options.workers = Some(Kinds::all());
    world.stop_engine().await;
    world.start_engine_with(with_workers);
    world.apply_one_resource(commit(&url), &["command"]).await;
    world.apply_params(&[("command", &one)]).await;
    world.apply_delivery(&url).await;
    world.wait_live(1).await;
    world.assert_delivered(&one, &["manifests", "run"]).await;

    // Somebody else adds a file, and nothing that was written changes.
    let others = Others::clone(&repositories);
    let later = others.push("README", "how to run it");
    world.wait_delivered(&one, &later).await;
    world.stop_engine().await;
    world.assert_delivered(&one, &["manifests", "run"]).await;
    world.start_engine_with(with_workers);

    // Somebody else changes what was written: what runs then is none of ours.
    let changed = others.push("run.sh", &two);
    let told = "somebody else changed run.sh";
    world.wait_missing(1, "current", told).await;
    world.wait_undelivered(&one, &changed).await;

    let three = runs("three");
    world.apply_params(&[("command", &three)]).await;
    world.wait_live(2).await;
    world.assert_delivered(&three, &["manifests", "run"]).await;
    world.assert_delivered(&one, &[]).await;

    // Another history, in which the very same file happens to be.
    let another = others.push_another_history("run.sh", &three);
    world.wait_undelivered(&three, &another).await;
}

/// Others who write to the repository of manifests.
struct Others {
    directory: std::path::PathBuf,
}

impl Others {
    fn clone(repositories: &tempfile::TempDir) -> Self {
        let arguments = ["clone", "-q", "manifests.git", "others"];
        pathline_testkit::git(repositories.path(), &arguments);
        Self {
            directory: repositories.path().join("others"),
        }
    }

    /// Writes a file on top of all that is there, and returns the commit.
    fn push(&self, file: &str, content: &str) -> String {
        self.git(&["pull", "-q"]);
        self.commit(file, content);
        self.git(&["push", "-q"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Puts a history in the place of the one that is there.
    fn push_another_history(&self, file: &str, content: &str) -> String {
        self.git(&["checkout", "-q", "--orphan", "another"]);
        self.commit(file, content);
        self.git(&["push", "-q", "--force", "origin", "another:main"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn commit(&self, file: &str, content: &str) {
        std::fs::write(self.directory.join(file), content).unwrap();
        self.git(&["add", file]);
        let author = ["-c", "user.name=Other", "-c", "user.email=other@localhost"];
        self.git(&[&author[..], &["commit", "-q", "-m", "something else"]].concat());
    }

    fn git(&self, arguments: &[&str]) -> String {
        pathline_testkit::git(&self.directory, arguments)
            .trim()
            .to_owned()
    }
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

/// Tells whether something is of a revision.
fn is_of(carrier: &Carrier, revision: &str) -> bool {
    let artifact = carrier.artifact.as_ref();
    artifact.is_some_and(|it| it.shown().ends_with(revision))
}

impl World {
    /// Returns what the delivery makes now of a command that the workload was given.
    async fn delivered(&self, command: &str) -> Vec<Carrier> {
        let page = Page::default();
        let found = self
            .ledger
            .lineage()
            .contains(Kind::Param, command, &page)
            .await;
        let carriers = found.unwrap().items.into_iter();
        let delivered = carriers.filter(|it| it.owner.kind == "Deliverable");
        let delivered = delivered.filter(|it| it.owner.namespace == self.namespace);
        let mut current: Vec<_> = delivered.filter(|it| it.current).collect();
        current.sort_by(|one, other| one.resource.cmp(&other.resource));
        current
    }

    async fn assert_delivered(&self, command: &str, resources: &[&str]) {
        let delivered = self.delivered(command).await;
        assert!(delivered.iter().all(|it| it.proven), "{delivered:#?}");
        let made: Vec<_> = delivered.iter().map(|it| it.resource.as_str()).collect();
        assert_eq!(made, resources, "{delivered:#?}");
    }

    /// Waits until a revision is known to have what the workload was given, and to run. In between nothing
    /// proves what the process is made of, which is stopped and started again.
    async fn wait_delivered(&self, command: &str, revision: &str) {
        let is_it = |it: &Carrier| it.proven && is_of(it, revision);
        self.wait_carriers(command, |them| them.len() == 2 && them.iter().all(is_it))
            .await;
    }

    /// Waits until nothing of what the workload was given is there any more, and asserts that a revision is
    /// never said to have it.
    async fn wait_undelivered(&self, command: &str, revision: &str) {
        self.wait_carriers(command, |them| {
            let found = them.iter().find(|it| is_of(it, revision));
            assert_eq!(found, None);
            them.is_empty()
        })
        .await;
    }

    async fn wait_carriers(&self, command: &str, is_it: impl Fn(&[Carrier]) -> bool) {
        let mut changes = self.ledger.subscribe(Topic::Lineage);
        let waiting = async {
            while !is_it(&self.delivered(command).await) {
                changes.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
        waited.unwrap_or_else(|_| panic!("waited in vain for another way of {command}"));
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
}
