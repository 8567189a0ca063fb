//! Controllers that say what is not so, too late or too early: no release counts as deployed before it runs, and before
//! whoever waits for it is told that it is live.
//!
//! Each application is a build, of which the test is the controller, and a StatefulSet with its pods, of which it is the
//! controller too. So the test knows what runs.

mod application;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use kube::Client;
use pathline_testkit::{Dice, is_nightly, seed};
use serde_json::{Value, json};

use self::application::{Application, STEPS};
use crate::answers::played::define_steps;
use crate::tracking::registry;
use crate::tracking::repository::Repository;
use crate::tracking::world::{Config, World};
use crate::up;

const SUITE: &str = "releases and hostile controllers";
/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The number of applications that are played at once.
const APPLICATIONS: u64 = 10;
/// The time in which Pathline would believe what it was told.
const NOTHING: Duration = Duration::from_millis(300);

const PATH: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: hostile-build}
spec:
  imagePath: .status.image
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: played.example.org/v1
    kind: Step
    metadata: {name: $(workload.metadata.name)$}
    spec: {number: n$(params.release.number)$, release: $(params.release)$, of: $(workload.spec.image)$, env: $(workload.spec.env)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: hostile-run}
spec:
  template:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: $(workload.metadata.name)$}
    spec:
      replicas: 1
      serviceName: $(workload.metadata.name)$
      selector: {matchLabels: {app: $(workload.metadata.name)$}}
      template:
        metadata:
          labels: {app: $(workload.metadata.name)$}
          annotations: {release: 'release $(params.release)$'}
        spec: {containers: [{name: n$(params.release.number)$, image: $(image)$}]}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: hostile}
spec:
  selectorMatchExpressions: [{key: pathline.dev/tracker, operator: Exists}]
  resources:
    - {name: build, templateRef: {kind: ClusterImageTemplate, name: hostile-build}}
    - {name: run, templateRef: {kind: ClusterTemplate, name: hostile-run}, images: [{name: image, resource: build}]}
"#;

/// A Pathline that follows applications, and the test as the controller of what is stamped for them.
struct Stage {
    world: World,
    repository: Repository,
    host: String,
    client: Client,
    applications: Vec<Application>,
    /// The number of answers to waits that were compared with what releases are.
    compared: u64,
}

impl Stage {
    /// Follows the applications, with a first release of each; nothing where there is no registry.
    async fn set() -> Option<Self> {
        let (registry, crane) = registry(SUITE)?;
        let applications: Vec<_> = (0..APPLICATIONS).map(Application::new).collect();
        for it in &applications {
            crane.push(
                &format!("{}/hostile/{}:latest", registry.host(), it.name),
                &[],
            );
        }
        let repository = Repository::with("");
        let config = Config::of(&[&repository], &[registry.host()]);
        let world = World::start_moving(&config, &[]);
        let client = client(&world).await;
        define_steps(&client, &json!({})).await;
        let stage = Self {
            world,
            repository,
            host: registry.host().to_owned(),
            client,
            applications,
            compared: 0,
        };
        let hold = json!({"reason": "only the first environment is played"});
        let held = stage.world.rest("POST /environments/ha/hold", Some(&hold));
        assert_eq!(held.status, 200, "{held:?}");
        let dev = json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "dev"},
            "spec": {"type": "dev", "namespace": "default", "releaseFrequency": {"second": ["0-59"]}},
        });
        let manifests = stage.world.home.join("stage.yaml");
        std::fs::write(&manifests, format!("{dev}\n---{PATH}")).expect("it is writable");
        stage
            .world
            .told(&["apply", "-f", manifests.to_str().expect("a path")]);
        stage.configure(1);
        for it in &stage.applications {
            stage.world.follow(&it.tracker(), &stage.repository);
        }
        Some(stage)
    }

    /// Commits a configuration of all applications.
    fn configure(&self, round: u64) {
        let mut group = json!({"group": {"repository": {"image": {"domain": self.host}}}});
        for it in &self.applications {
            let variables = json!({"ROUND": round.to_string()});
            group[&it.name] = json!({"version": "latest", "environment": {"variable": variables}});
        }
        // JSON is YAML.
        self.repository
            .commit(&json!({ "hostile": group }).to_string());
    }

    /// Forms a release of each application, of that number.
    fn release(&self, number: u64) {
        if number > 1 {
            self.configure(number);
            let trackers: Vec<_> = self.applications.iter().map(Application::tracker).collect();
            let trackers: Vec<_> = trackers.iter().map(String::as_str).collect();
            self.world.look_all(&trackers);
            for tracker in trackers {
                let asked = format!("POST /trackers/{tracker}/release");
                let answer = self.world.rest(&asked, Some(&json!({})));
                assert!(answer.status < 300, "{answer:?}");
            }
        }
        for it in &self.applications {
            self.world.until_released(&it.tracker(), number);
        }
    }

    /// Kills Pathline, and starts it again.
    async fn restart(&mut self) {
        let leash = self.world.kill();
        self.world.start_again(leash);
        self.client = client(&self.world).await;
        for it in &mut self.applications {
            it.changed = Timestamp::now();
        }
    }

    /// Plays a round: a release of each application, hostile steps, and an honest end.
    async fn play(&mut self, number: u64, dice: &mut Dice) {
        self.release(number);
        for it in &mut self.applications {
            it.begin(&self.client, number).await;
        }
        let steps = APPLICATIONS * (3 + dice.below(4));
        let killed = dice.chance(40).then(|| dice.below(steps));
        for step in 0..steps {
            if killed == Some(step) {
                self.restart().await;
            }
            let index = dice.index(self.applications.len());
            let step = dice.one_of(&STEPS);
            self.applications[index].step(&self.client, step).await;
            self.compare(index);
        }
        std::thread::sleep(NOTHING);
        self.end().await;
    }

    /// Lets all controllers be honest until every release is deployed.
    async fn end(&mut self) {
        let end = Instant::now() + TIMEOUT;
        let mut left: Vec<_> = (0..self.applications.len()).collect();
        loop {
            left.retain(|index| !self.compare(*index));
            let Some(first) = left.first() else {
                return;
            };
            let asked = format!("GET /trackers/{}/why", self.applications[*first].tracker());
            let why = || self.world.rest(&asked, None);
            assert!(Instant::now() < end, "never deployed: {:?}", why());
            for index in &left {
                self.applications[*index].end(&self.client).await;
            }
        }
    }

    /// Compares what releases of an application are with what runs, and with the answer to a wait; tells whether the
    /// newest one is deployed.
    fn compare(&mut self, index: usize) -> bool {
        let application = &mut self.applications[index];
        let releases = self.world.releases(&application.tracker());
        let newest = releases.last().expect("there is one");
        let entries = newest["entries"].as_array().expect("entries");
        let entry = entries.iter().find(|it| it["environment"] == "dev");
        let Some(entry) = entry else {
            return false;
        };
        let played = &application.played;
        assert_ne!(entry["state"], "failed", "{entry} after {played:?}");
        if entry["state"] != "deployed" {
            return false;
        }
        let since: Timestamp = entry["since"]
            .as_str()
            .and_then(|it| it.parse().ok())
            .expect("a time");
        let ran = application.ran;
        assert!(
            ran.is_some_and(|ran| ran <= since),
            "{} is deployed since {since}, and has run since {ran:?}: {played:#?}",
            application.tracker()
        );
        if !std::mem::replace(&mut application.is_deployed, true) && application.changed < since {
            let waited = waited(&self.world, application);
            let holds = waited["state"] == "holds";
            self.compared += u64::from(holds);
            assert!(
                holds || application.was_settled,
                "{waited:#} after {played:#?}"
            );
        }
        true
    }
}

/// Asks, without waiting, whether what an application says now is live.
fn waited(world: &World, application: &Application) -> Value {
    let path = format!("/workloads/default/{}/wait", application.object);
    let asked = format!("GET {path}?for=current&live=true&timeout=0");
    let answer = world.rest(&asked, None);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn client(world: &World) -> Client {
    up::client(&json!({"kubeconfig": world.data_dir().join("kubeconfig")})).await
}

#[tokio::test]
async fn no_release_is_deployed_before_it_runs_whatever_controllers_say() {
    let Some(mut stage) = Stage::set().await else {
        return;
    };
    let mut dice = Dice::new(seed(SUITE));
    let rounds = if is_nightly() { 100 } else { 10 };
    for round in 1..=rounds {
        stage.play(round, &mut dice).await;
    }
    let compared = stage.compared;
    assert!(compared * 2 > rounds * APPLICATIONS, "only {compared}");
}
