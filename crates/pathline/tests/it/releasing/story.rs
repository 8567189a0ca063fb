//! One application on its way through environments that tick each second.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::{Api, Client};
use pathline_kinds::carto::Workload;
use pathline_kinds::environment::Environment;
use serde_json::{Value, json};

use super::application::Application;
use crate::program::{stderr, stdout};
use crate::tracking::world::World;

/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The pause between two questions whether something has happened.
const PAUSE: Duration = Duration::from_millis(50);

/// The names of the environments that `up` makes, in their order.
pub(super) const ENVIRONMENTS: [&str; 4] = ["dev", "ha", "preprod", "prod"];

/// A path that keeps a command of the application running.
const PATH: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: story}
spec:
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {name: $(workload.metadata.name)$}
    spec:
      command: [sh, -c, 'eval "$COMMAND"', $(workload.spec.image)$, n$(params.release.number)$, $(workload.metadata.namespace)$, 'release $(params.release)$']
      env: $(workload.spec.env)$
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: story}
spec:
  selectorMatchExpressions: [{key: pathline.dev/tracker, operator: Exists}]
  resources: [{name: run, templateRef: {kind: ClusterTemplate, name: story}}]
"#;

/// An application, and the Pathline that brings it where it goes.
pub(super) struct Story {
    pub(super) world: World,
    /// Leads to the cluster, as an administrator.
    kubeconfig: PathBuf,
    pub(super) application: Application,
    pub(super) id: String,
}

impl Story {
    /// Follows an application whose first image was pushed, in environments that tick each second; `settings` are more of
    /// what the specs of some of them say. Nothing is deployed before there is a path.
    pub(super) fn begin(
        suite: &str,
        group: &'static str,
        settings: &[(&str, Value)],
    ) -> Option<Self> {
        let story = Self::prepare(suite, group, settings)?;
        story.follow();
        Some(story)
    }

    /// Does all of that but to follow the application.
    pub(super) fn prepare(
        suite: &str,
        group: &'static str,
        settings: &[(&str, Value)],
    ) -> Option<Self> {
        Self::prepare_with(suite, group, settings, &[])
    }

    /// Does the same, with more arguments of `pathline up`.
    pub(super) fn prepare_with(
        suite: &str,
        group: &'static str,
        settings: &[(&str, Value)],
        arguments: &[&str],
    ) -> Option<Self> {
        let application = Application::of(suite, group)?;
        let world = World::start_moving(&application.config(), arguments);
        let kubeconfig = world.data_dir().join("kubeconfig");
        let story = Self::on(world, kubeconfig, application);
        for environment in ENVIRONMENTS {
            story.set_environment(environment, settings);
        }
        story.configure(&story.steady(), "1");
        story.push("one");
        Some(story)
    }

    /// Tells of an application on a Pathline that runs, with the kubeconfig of an administrator of its cluster.
    pub(super) fn on(world: World, kubeconfig: PathBuf, application: Application) -> Self {
        Self {
            world,
            kubeconfig,
            id: application.id.clone(),
            application,
        }
    }

    /// Follows the application.
    pub(super) fn follow(&self) {
        self.application.follow(&self.world);
    }

    /// Changes the spec of an environment.
    pub(super) fn set_environment(&self, environment: &str, settings: &[(&str, Value)]) {
        self.apply(&environment_object(environment, settings));
    }

    /// Installs the path.
    pub(super) fn install_path(&self) {
        self.apply_text(PATH);
    }

    pub(super) fn apply(&self, object: &Value) {
        self.apply_text(&object.to_string());
    }

    pub(super) fn apply_text(&self, text: &str) {
        apply_with(&self.world, &self.kubeconfig, text);
    }

    /// Returns the Workload of an environment.
    pub(super) fn owner(&self, environment: &str) -> Option<Value> {
        let found = self.with_owners(environment, async |owners, name| owners.get_opt(name).await);
        found.map(|it| serde_json::to_value(it).expect("an object is JSON"))
    }

    /// Deletes the Workload of an environment.
    pub(super) fn delete_owner(&self, environment: &str) {
        self.with_owners(environment, async |owners, name| {
            owners.delete(name, &DeleteParams::default()).await
        });
    }

    /// Changes the Workload of an environment.
    pub(super) fn patch_owner(&self, environment: &str, patch: &Value) {
        self.with_owners(environment, async |owners, name| {
            let patch = Patch::Merge(patch);
            owners.patch(name, &PatchParams::default(), &patch).await
        });
    }

    /// Deletes an Environment.
    pub(super) fn delete_environment(&self, environment: &str) {
        self.with_client(async |client| {
            let resource = ApiResource::erase::<Environment>(&());
            let all: Api<DynamicObject> = Api::all_with(client, &resource);
            all.delete(environment, &DeleteParams::default()).await
        });
    }

    fn with_owners<T>(
        &self,
        environment: &str,
        ask: impl AsyncFnOnce(&Api<DynamicObject>, &str) -> kube::Result<T>,
    ) -> T {
        self.with_client(async |client| {
            let resource = ApiResource::erase::<Workload>(&());
            let owners = Api::namespaced_with(client, environment, &resource);
            ask(&owners, &self.application.owner()).await
        })
    }

    fn with_client<T>(&self, ask: impl AsyncFnOnce(Client) -> kube::Result<T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let ready = json!({"kubeconfig": self.kubeconfig});
        let answered = runtime.expect("a runtime").block_on(async {
            let client = crate::up::client(&ready).await;
            ask(client).await
        });
        answered.expect("it answers")
    }

    /// Returns a command that writes down what it runs with, and goes on.
    pub(super) fn steady(&self) -> String {
        let ran = self.ran("$2");
        let said = "${1#n} $GREETING $0";
        format!("echo \"{said}\" > {}; exec sleep 1000", ran.display())
    }

    /// Returns the file in which a process of an environment writes what it runs with.
    fn ran(&self, environment: &str) -> PathBuf {
        self.world.home.join(format!("ran-{environment}"))
    }

    /// Returns the release, the greeting and the digest that the process of an environment was started with last.
    pub(super) fn runs_with(&self, environment: &str) -> (String, String, String) {
        let said = fs::read_to_string(self.ran(environment)).unwrap_or_default();
        let mut words = said.split_whitespace().map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        let (release, greeting, image) = (word(), word(), word());
        let digest = image.split_once('@').map(|(_, digest)| digest.to_owned());
        (release, greeting, digest.unwrap_or_default())
    }

    /// Commits another configuration: a command, and a greeting that differs in prod.
    pub(super) fn configure(&self, command: &str, greeting: &str) -> String {
        self.application.configure(command, greeting)
    }

    /// Commits a group with all that it has.
    pub(super) fn commit(&self, group: &Value) -> String {
        self.application.commit(group)
    }

    /// Returns the host of the registry.
    pub(super) fn host(&self) -> &str {
        self.application.host()
    }

    /// Pushes an image, and returns its digest.
    pub(super) fn push(&self, content: &str) -> String {
        self.application.push(content)
    }

    /// Pushes another image, and waits until it is released.
    pub(super) fn release(&self, content: &str, number: u64) -> String {
        let digest = self.push(content);
        self.world.poll(&self.id);
        self.world.until_released(&self.id, number);
        digest
    }

    /// Returns the state of a release in an environment, and the message there.
    pub(super) fn entry(&self, number: u64, environment: &str) -> (String, String) {
        let entry = self.whole_entry(number, environment);
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        (text("state"), text("message"))
    }

    /// Returns the instant since which a release is in its state in an environment.
    pub(super) fn since(&self, number: u64, environment: &str) -> Timestamp {
        instant(&self.whole_entry(number, environment)["since"])
    }

    fn whole_entry(&self, number: u64, environment: &str) -> Value {
        entry_of(&self.world.releases(&self.id), number, environment)
    }

    /// Waits until a release is in a state in an environment; returns the message there.
    pub(super) fn until(&self, number: u64, environment: &str, state: &str) -> String {
        let end = Instant::now() + TIMEOUT;
        loop {
            let (now, message) = self.entry(number, environment);
            if now == state {
                return message;
            }
            let why = || self.why(number);
            assert!(
                Instant::now() < end,
                "release {number} is never {state} in {environment}: {:#}",
                why()
            );
            std::thread::sleep(PAUSE);
        }
    }

    /// Asks why a release is not everywhere.
    pub(super) fn why(&self, number: u64) -> Value {
        let asked = format!("GET /trackers/{}/why?release={number}", self.id);
        let answer = self.world.rest(&asked, None);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// Returns the answer to why a release is not in one environment.
    pub(super) fn why_in(&self, number: u64, environment: &str) -> Value {
        let why = self.why(number);
        let all = why["environments"].as_array().expect("answers").clone();
        let found = all.iter().find(|it| it["environment"] == environment);
        found.expect("it is one of them").clone()
    }

    /// Waits until the answer to why a release is not in an environment is so.
    pub(super) fn until_told(
        &self,
        (number, environment): (u64, &str),
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let end = Instant::now() + TIMEOUT;
        loop {
            let why = self.why_in(number, environment);
            if is_so(&why) {
                return why;
            }
            assert!(Instant::now() < end, "it is still so: {why}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Runs a command about releases that must succeed.
    pub(super) fn told(&self, arguments: &[&str]) -> String {
        self.world.told(&[&["release"], arguments].concat())
    }

    /// Runs a command about releases that must fail; returns its exit code and what it says.
    pub(super) fn refused(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.world.run(&[&["release"], arguments].concat());
        assert!(!output.status.success(), "{}", stdout(&output));
        (output.status.code(), stderr(&output))
    }
}

/// Returns an Environment that ticks each second; `settings` are more of what the specs of some of them say.
pub(super) fn environment_object(environment: &str, settings: &[(&str, Value)]) -> Value {
    let mut spec = json!({"type": environment, "releaseFrequency": {"second": ["0-59"]}});
    let more = settings.iter().filter(|(name, _)| *name == environment);
    for (_, more) in more {
        let more = more.as_object().expect("fields").clone();
        spec.as_object_mut().expect("fields").extend(more);
    }
    json!({
        "apiVersion": "pathline.dev/v1alpha1",
        "kind": "Environment",
        "metadata": {"name": environment},
        "spec": spec,
    })
}

/// Applies objects as an administrator of the cluster.
pub(super) fn apply_with(world: &World, kubeconfig: &Path, text: &str) {
    let file = world.home.join("applied.yaml");
    fs::write(&file, text).expect("it is writable");
    let [file, kubeconfig] = [&file, kubeconfig].map(|it| it.to_str().expect("a path"));
    world.told(&["apply", "-f", file, "--kubeconfig", kubeconfig]);
}

/// Returns the entry of one of some releases in an environment; nothing if it has not got there.
pub(super) fn entry_of(releases: &[Value], number: u64, environment: &str) -> Value {
    let release = releases.iter().find(|it| it["number"] == number);
    let mut entries = release
        .and_then(|it| it["entries"].as_array())
        .into_iter()
        .flatten();
    let entry = entries.find(|it| it["environment"] == environment);
    entry.cloned().unwrap_or_default()
}

/// Tells whether an answer has these words.
pub(super) fn says(why: &Value, part: &str) -> bool {
    why["sentence"].as_str().is_some_and(|it| it.contains(part))
}

/// Reads an instant.
pub(super) fn instant(value: &Value) -> Timestamp {
    let text = value.as_str().expect("an instant");
    text.parse().expect("an instant")
}
