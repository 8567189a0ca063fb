//! Releases on a real API server, with the rights of the manifests: from an image that was pushed to pods that run it.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::ListParams;
use kube::{Api, Client};
use pathline_release::objects::RELEASE_OBJECTS;
use pathline_testkit::kube::{Binaries, Crash, Kubelets, Options, RealCluster};
use pathline_testkit::{Leash, repository_root, skip};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::application::Application;
use super::story::{ENVIRONMENTS, Story, instant, says};
use crate::kubectl::Kubectl;
use crate::program::stderr;
use crate::real_cluster::{kubeconfig_of_the_account, wait_for_rights};
use crate::release_path::printed;
use crate::tracking::world::World;

const SUITE: &str = "releases on a real API server";
/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time from the instant that was told to the deployment.
const PROMPTLY: SignedDuration = SignedDuration::from_secs(3);

/// The account under which prod is written, as deploy/README.md binds it, with rights for what the path stamps.
const DEPLOYER: &str = "
apiVersion: v1
kind: ServiceAccount
metadata: {name: deployer, namespace: prod}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deployer, namespace: prod}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pathline-deployer}
subjects: [{kind: ServiceAccount, name: deployer, namespace: prod}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: stamper, namespace: prod}
rules:
  - apiGroups: ['']
    resources: [services]
    verbs: [get, list, watch, create, update, patch, delete]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [get, list, watch, create, update, patch, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: stamper, namespace: prod}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: stamper}
subjects: [{kind: ServiceAccount, name: deployer, namespace: prod}]
";

/// An application on a real cluster, on which `pathline controller` has the rights of the manifests and no others.
struct Real {
    story: Story,
    kubelets: Kubelets,
    client: Client,
    _cluster: RealCluster,
    runtime: Runtime,
}

/// A pod: its image, and what is in the file that the application is configured with.
type Running = (String, String);

impl Real {
    /// Begins with a release that has nowhere to go.
    fn begin() -> Option<Self> {
        let binaries = Binaries::find();
        let binaries = binaries
            .map_err(|missing| skip(SUITE, &missing.to_string()))
            .ok()?;
        let application = Application::of(SUITE, "real")?;
        let runtime = Runtime::new().expect("a runtime");
        let (cluster, client, kubelets) = runtime.block_on(Box::pin(async {
            let cluster = RealCluster::start(&binaries, Options::with_pods()).await;
            let cluster = cluster.expect("the cluster starts");
            let client = cluster.client().await.expect("a client");
            let kubelets = Kubelets::start(client.clone()).await;
            (cluster, client, kubelets.expect("there are nodes"))
        }));
        let kubectl = Kubectl {
            binaries: &binaries,
            kubeconfig: cluster.kubeconfig(),
        };
        let world = start_controller(&kubectl, &application);
        let story = Story::on(world, cluster.kubeconfig().to_owned(), application);
        story.configure("", "1");
        Some(Self {
            story,
            kubelets,
            client,
            _cluster: cluster,
            runtime,
        })
    }

    /// Changes the spec of an environment, which writes under an account of its own.
    fn set_environment(&self, environment: &str, more: &Value) {
        let account = match environment {
            "prod" => "deployer",
            _ => "releases",
        };
        let owner = json!({"owner": {"serviceAccountName": account}});
        let settings = [(environment, owner), (environment, more.clone())];
        self.story.set_environment(environment, &settings);
    }

    /// Returns the files of all releases in an environment.
    fn files(&self, environment: &str) -> Vec<String> {
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), environment);
        let of_releases = ListParams::default().labels(RELEASE_OBJECTS);
        let maps = self.runtime.block_on(maps.list(&of_releases));
        let maps = maps.expect("it answers").into_iter();
        let mut files: Vec<_> = maps.filter_map(file_of).collect();
        files.sort();
        files
    }

    /// Returns the pods of an environment.
    fn pods(&self, environment: &str) -> Vec<Running> {
        let client = self.client.clone();
        let pods: Api<Pod> = Api::namespaced(client.clone(), environment);
        let maps: Api<ConfigMap> = Api::namespaced(client, environment);
        let found = self.runtime.block_on(async {
            let mut found = Vec::new();
            for pod in pods.list(&ListParams::default()).await? {
                let pod = serde_json::to_value(pod).expect("an object is JSON");
                let map = pod["spec"]["volumes"][0]["configMap"]["name"].as_str();
                let map = maps.get(map.expect("a ConfigMap is mounted")).await?;
                let image = pod["status"]["containerStatuses"][0]["imageID"].as_str();
                let file = file_of(map).expect("a file");
                found.push((image.unwrap_or_default().to_owned(), file));
            }
            Ok::<_, kube::Error>(found)
        });
        found.expect("it answers")
    }

    /// Asserts that the pods of an environment run an image, with a greeting, and that there are no others.
    fn assert_runs(&self, environment: &str, digest: &str, greeting: &str) {
        let greeting = match environment {
            "prod" => format!("{greeting}-prod"),
            _ => greeting.to_owned(),
        };
        let expected = (self.story.application.image(digest), greeting);
        let pods = self.pods(environment);
        assert_eq!(pods, [expected.clone(), expected], "{environment}");
    }

    /// Pushes an image that does as the nodes are told, and waits until it is released.
    fn release(&self, number: u64, order: impl FnOnce(&Kubelets, &str)) -> String {
        let digest = self.story.push(&format!("content {number}"));
        order(&self.kubelets, &self.story.application.image(&digest));
        self.story.world.poll(&self.story.id);
        self.story.world.until_released(&self.story.id, number);
        digest
    }

    /// Waits until a release is deployed in an environment, and `why` says so.
    fn until_deployed(&self, number: u64, environment: &str) {
        self.story.until(number, environment, "deployed");
        let why = self.story.why_in(number, environment);
        assert_eq!(why["state"], "deployed", "{why}");
        let sentence = format!("release {number} is deployed since");
        assert!(says(&why, &sentence), "{why}");
        assert_eq!(why["earliest"], Value::Null, "{why}");
    }

    /// Lets an image that no environment has started yet be taken, and asserts that this happens at the instant that
    /// `why` has told; then lets it start.
    fn assert_taken_as_told(&self, (number, environment): (u64, &str), digest: &str, why: &Value) {
        let image = self.story.application.image(digest);
        self.story.until(number, environment, "deploying");
        let (told, taken) = (
            instant(&why["earliest"]),
            self.story.since(number, environment),
        );
        assert!(taken >= told, "taken at {taken}: {why}");
        assert!(taken < told + PROMPTLY, "taken at {taken}: {why}");
        let sentence = format!("release {number} is being deployed since");
        let waits = |it: &Value| says(it, &sentence) && says(it, "`run` rolls out: ");
        let why = self.story.until_told((number, environment), waits);
        assert_eq!(why["state"], "deploying", "{why}");
        self.kubelets.release(&image);
        self.until_deployed(number, environment);
    }
}

/// Returns what is in the file of a ConfigMap, if it has one.
fn file_of(map: ConfigMap) -> Option<String> {
    map.data?.remove("a.ini")
}

/// Installs the kinds, the rights and the path, and starts a controller under its account.
fn start_controller(kubectl: &Kubectl<'_>, application: &Application) -> World {
    kubectl.assert_installs_the_kinds();
    let root = repository_root();
    let apply = |arguments: &[&str], input: &str| {
        let arguments = [&["apply", "--server-side"], arguments].concat();
        let applied = kubectl.run(&arguments, input);
        assert!(applied.status.success(), "{}", stderr(&applied));
    };
    let apply_file = |file: &str, more: &[&str]| {
        let file = root.join(file);
        let file = file.to_str().expect("a path");
        apply(&[&["-f", file], more].concat(), "");
    };
    apply_file("deploy/kustomize/namespace.yaml", &[]);
    for rights in ["rbac.yaml", "rbac-own.yaml"] {
        let own = ["--namespace", "pathline-system"];
        apply_file(&format!("deploy/kustomize/{rights}"), &own);
    }
    apply_file("examples/release/deployment/rights.yaml", &[]);
    apply(&["-f", "-"], DEPLOYER);
    let unbound = ["delete", "rolebinding", "releases", "--namespace", "prod"];
    assert!(kubectl.run(&unbound, "").status.success());
    apply(&["-f", "-"], &printed(&["--cluster"]));
    wait_for_rights(kubectl);
    let leash = Leash::new("pathline-releasing-").expect("a scratch directory");
    let kubeconfig = kubeconfig_of_the_account(kubectl, leash.directory());
    let command = [
        "controller",
        "--kubeconfig",
        kubeconfig.to_str().expect("a path"),
        "--namespace=pathline-system",
        "--listen=127.0.0.1:0",
        "--output=json",
    ];
    World::start_as(&command, leash, &application.config(), &[], &[])
}

/// One test, because a cluster is expensive.
#[test]
fn release_walks_fails_comes_back_and_waits_on_a_real_api_server_as_why_says() {
    let Some(real) = Real::begin() else { return };
    let first = walks_to_prod_when_there_are_environments(&real);
    crash_loop_fails_and_what_ran_comes_back(&real, &first);
    let third = promoted_release_gets_to_prod(&real);
    rollback_stays_until_it_is_resumed_and_a_freeze_is_over(&real, &first, &third);
    files_of_old_releases_are_removed(&real);
}

fn walks_to_prod_when_there_are_environments(real: &Real) -> String {
    let story = &real.story;
    let first = story.push("content 1");
    real.kubelets.hold(&story.application.image(&first));
    story.follow();
    story.world.until_released(&story.id, 1);
    story.world.until_condition(&story.id, "NoEnvironment");
    let told = story.told(&["why", &story.id]);
    assert!(
        told.contains("NoEnvironment: there is no Environment"),
        "{told}"
    );

    // One of them takes nothing before this instant.
    let tick = whole_second_in(6);
    let second = tick.as_second().rem_euclid(60);
    let rarely = json!({"releaseFrequency": {"second": second}, "onFailure": "restore"});
    real.set_environment("dev", &rarely);
    for environment in ["ha", "preprod", "prod"] {
        real.set_environment(environment, &json!({}));
    }
    story.until(1, "dev", "queued");
    let why = story.why_in(1, "dev");
    assert!(
        says(&why, "release 1 is queued; `dev` takes it at"),
        "{why}"
    );
    assert_eq!(instant(&why["earliest"]), tick, "{why}");
    let of_prod = story.why_in(1, "prod");
    assert!(says(&of_prod, "at the earliest"), "{of_prod}");
    assert!(instant(&of_prod["earliest"]) >= tick, "{of_prod}");
    real.assert_taken_as_told((1, "dev"), &first, &why);
    real.set_environment("dev", &json!({"onFailure": "restore"}));
    for environment in ENVIRONMENTS {
        real.until_deployed(1, environment);
        real.assert_runs(environment, &first, "1");
    }
    first
}

fn crash_loop_fails_and_what_ran_comes_back(real: &Real, first: &str) {
    let crash = Crash {
        restarts: 3,
        exit_code: 7,
        message: "there is no config".to_owned(),
    };
    real.story.configure("", "2");
    real.release(2, |kubelets, image| kubelets.crash(image, crash));
    let message = real.story.until(2, "dev", "failed");
    for part in ["CrashLoopBackOff", "exit code 7", "there is no config"] {
        assert!(message.contains(part), "no {part} in {message}");
    }
    let restored = |it: &Value| says(it, "; release 1 is restored; ");
    let why = real.story.until_told((2, "dev"), restored);
    assert!(says(&why, &message), "{why}");
    assert_eq!(why["earliest"], Value::Null, "{why}");
    real.assert_runs("dev", first, "1");
    let why = real.story.why_in(2, "ha");
    assert_eq!(why["state"], Value::Null, "what failed goes no further");
    assert!(says(&why, "there is no config"), "{why}");
}

fn promoted_release_gets_to_prod(real: &Real) -> String {
    real.set_environment("prod", &json!({"promotion": "manual"}));
    let third = real.release(3, |_, _| {});
    let story = &real.story;
    story.until(3, "prod", "held");
    let why = story.why_in(3, "prod");
    assert!(says(&why, "`prod` is promoted by hand"), "{why}");
    let promote = "`pathline release promote prod real.web --release 3`";
    assert!(says(&why, promote), "{why}");
    assert_eq!(why["earliest"], Value::Null, "{why}");
    story.told(&["promote", "prod", &story.id, "--release", "3"]);
    real.until_deployed(3, "prod");
    real.assert_runs("prod", &third, "2");
    third
}

fn rollback_stays_until_it_is_resumed_and_a_freeze_is_over(real: &Real, first: &str, third: &str) {
    let story = &real.story;
    real.set_environment("prod", &json!({}));
    story.told(&["rollback", "prod", &story.id, "--reason", "slow"]);
    real.until_deployed(4, "prod");
    real.assert_runs("prod", first, "1");
    real.assert_runs("preprod", third, "2");

    let fifth = real.release(5, |_, _| {});
    story.until(5, "preprod", "deployed");
    story.until(5, "prod", "queued");
    real.kubelets.hold(&story.application.image(&fifth));
    // Some ticks pass.
    std::thread::sleep(Duration::from_secs(2));
    let why = story.why_in(5, "prod");
    assert_eq!(why["state"], "queued", "{why}");
    for part in ["slow", "`pathline release resume prod real.web`"] {
        assert!(says(&why, part), "{why}");
    }
    assert_eq!(why["earliest"], Value::Null, "{why}");
    real.assert_runs("prod", first, "1");

    let until = whole_second_in(6);
    let from = Timestamp::UNIX_EPOCH.to_string();
    let freeze = json!({"from": from, "until": until.to_string(), "reason": "audit"});
    real.set_environment("prod", &json!({"freezes": [freeze]}));
    story.told(&["resume", "prod", &story.id]);
    let why = story.why_in(5, "prod");
    assert_eq!(why["state"], "queued", "{why}");
    assert!(says(&why, "`prod` is frozen until"), "{why}");
    assert!(says(&why, ": audit, and takes it at"), "{why}");
    assert_eq!(instant(&why["earliest"]), until, "{why}");
    real.assert_taken_as_told((5, "prod"), &fifth, &why);
    real.assert_runs("prod", &fifth, "2");
}

fn files_of_old_releases_are_removed(real: &Real) {
    assert_eq!(real.files("prod"), ["1-prod", "2-prod"]);
    let story = &real.story;
    // The first file was written for release 4 last, and those of ten releases are kept.
    for _ in 6..=14 {
        story.told(&["rollback", "prod", &story.id, "--release", "5"]);
    }
    real.until_deployed(14, "prod");
    let end = Instant::now() + TIMEOUT;
    while real.files("prod") != ["2-prod"] {
        assert!(Instant::now() < end, "{:?}", real.files("prod"));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Returns the instant after some seconds, without fractions of one.
fn whole_second_in(seconds: i64) -> Timestamp {
    let second = Timestamp::now().as_second() + seconds;
    Timestamp::from_second(second).expect("an instant")
}
