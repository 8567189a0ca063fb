//! One application on its way through environments that tick each second.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use pathline_kinds::carto::Workload;
use pathline_testkit::registry::{Crane, RealRegistry};
use serde_json::{Value, json};

use crate::program::{stderr, stdout};
use crate::tracking::registry;
use crate::tracking::repository::Repository;
use crate::tracking::world::{Config, World};

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

/// A secret that every configuration has, and says twice.
pub(super) const PASSWORD: &str = "hunter2SENTINELhunter2";

/// An application, `web` of a group, its repository and its registry.
pub(super) struct Story {
    pub(super) world: World,
    repository: Repository,
    registry: &'static RealRegistry,
    crane: Crane,
    group: &'static str,
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
        let (registry, crane) = registry(suite)?;
        let repository = Repository::with("");
        let config = Config::of(&[&repository], &[registry.host()]);
        let story = Self {
            world: World::start_moving(&config, arguments),
            repository,
            registry,
            crane,
            group,
            id: format!("{group}.web"),
        };
        for environment in ENVIRONMENTS {
            story.set_environment(environment, settings);
        }
        story.configure(&story.steady(), "1");
        story.push("one");
        Some(story)
    }

    /// Follows the application.
    pub(super) fn follow(&self) {
        self.world.follow(&self.id, &self.repository);
    }

    /// Changes the spec of an environment.
    pub(super) fn set_environment(&self, environment: &str, settings: &[(&str, Value)]) {
        let mut spec = json!({"type": environment, "releaseFrequency": {"second": ["0-59"]}});
        let more = settings.iter().filter(|(name, _)| *name == environment);
        for (_, more) in more {
            let more = more.as_object().expect("fields").clone();
            spec.as_object_mut().expect("fields").extend(more);
        }
        self.apply(&json!({
            "apiVersion": "pathline.dev/v1alpha1",
            "kind": "Environment",
            "metadata": {"name": environment},
            "spec": spec,
        }));
    }

    /// Installs the path.
    pub(super) fn install_path(&self) {
        self.apply_text(PATH);
    }

    pub(super) fn apply(&self, object: &Value) {
        self.apply_text(&object.to_string());
    }

    pub(super) fn apply_text(&self, text: &str) {
        let file = self.world.home.join("applied.yaml");
        fs::write(&file, text).expect("it is writable");
        self.world
            .told(&["apply", "-f", file.to_str().expect("a path")]);
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

    fn with_owners<T>(
        &self,
        environment: &str,
        ask: impl AsyncFnOnce(&Api<DynamicObject>, &str) -> kube::Result<T>,
    ) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let ready = json!({"kubeconfig": self.world.data_dir().join("kubeconfig")});
        let answered = runtime.expect("a runtime").block_on(async {
            let client = crate::up::client(&ready).await;
            let resource = ApiResource::erase::<Workload>(&());
            let owners = Api::namespaced_with(client, environment, &resource);
            ask(&owners, &format!("{}-web", self.group)).await
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
        self.commit(&json!({
            "group": {"repository": {"image": {"domain": self.host()}}},
            "web": {
                "version": "latest",
                "environment": {
                    "variable": {"COMMAND": command, "GREETING": greeting, "DB_PASSWORD": PASSWORD, "COPY": PASSWORD},
                    "file": {"config": {"app": {"mountPath": "/app", "data": [{"name": "a.ini", "value": greeting}]}}},
                },
                "in": {"prod": {"environment": {
                    "variable": {"GREETING": format!("{greeting}-prod")},
                    "file": {"config": {"app": {"mountPath": "/app", "data": [{"name": "a.ini", "value": format!("{greeting}-prod")}]}}},
                }}},
            },
        }))
    }

    /// Commits a group with all that it has.
    pub(super) fn commit(&self, group: &Value) -> String {
        // JSON is YAML.
        self.repository
            .commit(&json!({ self.group: group }).to_string())
    }

    /// Returns the host of the registry.
    pub(super) fn host(&self) -> &str {
        self.registry.host()
    }

    /// Pushes an image, and returns its digest.
    pub(super) fn push(&self, content: &str) -> String {
        let image = |tag| format!("{}/{}/web:{tag}", self.registry.host(), self.group);
        // Pushed in steps, and tagged in one: no poll sees half of it.
        let digest = self.crane.push(&image("build"), &[("content", content)]);
        self.crane.run(&["tag", &image("build"), "latest"]);
        digest
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
        let releases = self.world.releases(&self.id);
        let release = releases.iter().find(|it| it["number"] == number);
        let entries = release.and_then(|it| it["entries"].as_array().cloned());
        let entries = entries.unwrap_or_default();
        let entry = entries.iter().find(|it| it["environment"] == environment);
        let text = |key: &str| {
            let text = entry.and_then(|it| it[key].as_str());
            text.unwrap_or_default().to_owned()
        };
        (text("state"), text("message"))
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
