//! Two leaders: a controller that is frozen past its Lease while it deploys, and goes on where it was.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use parking_lot::Mutex;
use pathline_kinds::carto::Workload;
use pathline_release::objects::RELEASE;
use pathline_testkit::kube::{Binaries, Kubelets, Options, RealCluster};
use pathline_testkit::postgres::Server;
use pathline_testkit::{Dice, is_nightly, seed, skip};
use serde_json::json;

use super::application::Application;
use super::moves::{CHANGES, assert_deployed_once_and_in_order};
use super::story::{ENVIRONMENTS, apply_with, entry_of, environment_object};
use crate::release_path::printed;
use crate::tracking::pair::{End, Pair};

const SUITE: &str = "releases with two leaders";
/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The pause between two questions whether something has happened.
const PAUSE: Duration = Duration::from_millis(2);
/// The numbers of the releases that were written to objects of a kind in each namespace, each once in a row.
type Written = Arc<Mutex<BTreeMap<String, Vec<u64>>>>;

/// Two controllers of one cluster, and the application that they release.
struct Story {
    dice: Dice,
    application: Application,
    pair: Pair,
    /// The releases whose Secrets were written: the owner is next.
    secrets: Written,
    /// The number of the newest release.
    released: u64,
}

impl Story {
    async fn begin(cluster: &RealCluster, ledger: &str, application: Application) -> Self {
        let pair = Box::pin(Pair::start(cluster, ledger, &application.config())).await;
        let namespace =
            |name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let namespaces = ENVIRONMENTS.map(namespace);
        let environments = ENVIRONMENTS.map(|it| environment_object(it, &[]));
        let objects = namespaces.iter().chain(&environments);
        let objects: Vec<_> = objects.map(ToString::to_string).collect();
        let text = [printed(&["--cluster"]), objects.join("\n---\n")].join("\n---\n");
        apply_with(pair.leader(), cluster.kubeconfig(), &text);
        pair.slow_down();
        let client = cluster.client().await.expect("a client");
        let mut story = Self {
            dice: Dice::new(seed(SUITE)),
            application,
            pair,
            secrets: watch::<Secret>(client),
            released: 0,
        };
        story.push();
        story.application.follow(story.pair.leader());
        story.until_released();
        story
    }

    /// Commits and pushes what becomes the next release.
    fn push(&mut self) {
        self.released += 1;
        let content = format!("content {}", self.released);
        self.application.configure("", &content);
        self.application.push(&content);
    }

    fn until_released(&self) {
        let leader = self.pair.leader();
        leader.until_released(&self.application.id, self.released);
    }

    /// Releases something new.
    fn release(&mut self) {
        self.push();
        self.pair.leader().poll(&self.application.id);
        self.until_released();
    }

    /// Waits until the newest release is deployed in an environment.
    fn until_deployed(&self, environment: &str) {
        let (number, end) = (self.released, Instant::now() + TIMEOUT);
        loop {
            let releases = self.pair.leader().releases(&self.application.id);
            let entry = entry_of(&releases, number, environment);
            if entry["state"] == "deployed" {
                return;
            }
            let is_late = Instant::now() > end;
            assert!(!is_late, "release {number} in {environment}: {entry:#}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until all of the newest release is written in dev but for its owner.
    fn until_half_written(&self) {
        let end = Instant::now() + TIMEOUT;
        let written = || {
            self.secrets
                .lock()
                .get("dev")
                .and_then(|it| it.last().copied())
        };
        while written() != Some(self.released) {
            assert!(
                Instant::now() < end,
                "release {} is not written",
                self.released
            );
            std::thread::sleep(PAUSE);
        }
    }

    /// Freezes the leader while it deploys, lets the other one deploy something newer, and wakes the frozen one up.
    async fn freeze(&mut self, end: End) {
        self.release();
        self.until_half_written();
        // Then, or in the middle of whatever it does.
        if self.dice.below(2) == 0 {
            std::thread::sleep(Duration::from_millis(self.dice.below(2000)));
        }
        let frozen = self.pair.freeze(end).await;
        self.release();
        self.until_deployed("dev");
        self.pair.wake(frozen);
        self.pair.until_lost(frozen);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c04_c05_release_is_deployed_once_and_in_order_although_a_frozen_leader_goes_on() {
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => return skip(SUITE, &missing.to_string()),
    };
    let Some(server) = Server::shared(SUITE) else {
        return;
    };
    let Some(application) = Application::of(SUITE, "lead") else {
        return;
    };
    let options = Options {
        allow_everything: true,
        ..Options::with_pods()
    };
    let cluster = RealCluster::start(&binaries, options).await;
    let cluster = cluster.expect("the cluster starts");
    let client = cluster.client().await.expect("a client");
    let kubelets = Kubelets::start(client.clone()).await;
    let _kubelets = kubelets.expect("there are nodes");
    let ledger = server.database();
    let mut story = Box::pin(Story::begin(&cluster, &ledger, application)).await;
    let written = watch::<Workload>(client);
    let rounds = match is_nightly() {
        true => 20,
        false => 1,
    };
    for _ in 0..rounds {
        for end in [End::IsShortened; 4].into_iter().chain([End::Expires]) {
            Box::pin(story.freeze(end)).await;
        }
    }
    story.until_deployed("prod");
    let changes = server.sql(&ledger, CHANGES).expect("the ledger answers");
    assert_deployed_once_and_in_order(&changes);
    let written = written.lock();
    for environment in ENVIRONMENTS {
        let numbers = &written[environment];
        assert!(numbers.is_sorted(), "{environment}: {numbers:?}");
        assert_eq!(numbers.last(), Some(&story.released), "{environment}");
    }
}

/// Watches objects of a kind in all namespaces until the test ends.
fn watch<K: Resource<DynamicType = ()>>(client: Client) -> Written {
    let resource = ApiResource::erase::<K>(&());
    let objects: Api<DynamicObject> = Api::all_with(client, &resource);
    let written = Written::default();
    let seen = Arc::clone(&written);
    let objects = watcher(objects, watcher::Config::default()).applied_objects();
    tokio::spawn(objects.try_for_each(move |object| {
        let release = object.annotations().get(RELEASE);
        let release = release.map(|it| it.parse().expect("a number"));
        let mut written = seen.lock();
        let numbers = written.entry(object.namespace().unwrap_or_default());
        let numbers = numbers.or_default();
        if let Some(release) = release.filter(|it| numbers.last() != Some(it)) {
            numbers.push(release);
        }
        futures::future::ok(())
    }));
    written
}
