//! Two leaders: a controller that is frozen past its Lease, and goes on where it was.

use std::time::Duration;

use kube::api::{ApiResource, DynamicObject, PostParams};
use kube::{Api, Client};
use pathline_kinds::environment::Environment;
use pathline_testkit::kube::{self as testkit_kube, Binaries, RealCluster};
use pathline_testkit::postgres::Server;
use pathline_testkit::registry::{Options, Program, RealRegistry};
use pathline_testkit::{Dice, is_nightly, seed, skip};
use serde_json::json;

use super::oracle::Past;
use super::pair::{End, Pair};
use super::upstream::{IN_FILE, Upstream};
use super::world::Config;

const SUITE: &str = "trackers with two leaders";
/// The number of applications.
const APPLICATIONS: usize = 15;

/// Two controllers of one cluster, and what they follow.
struct Story {
    dice: Dice,
    upstream: Upstream,
    pair: Pair,
}

impl Story {
    async fn begin(cluster: &RealCluster, server: &Server, registry: RealRegistry) -> Self {
        let mut dice = Dice::new(seed(SUITE));
        let upstream = Upstream::begin(registry, APPLICATIONS, &mut dice);
        let repositories: Vec<_> = upstream.repositories.iter().collect();
        let config = Config::of(&repositories, &[upstream.registry.host()]);
        let pair = Box::pin(Pair::start(cluster, &server.database(), &config)).await;
        let client = cluster.client().await.expect("a client");
        create_dev(&client).await;
        let story = Self {
            dice,
            upstream,
            pair,
        };
        for application in &story.upstream.applications {
            let (repository, path) = story.upstream.place(application);
            let fields = json!({"token": "gho_0", "sourcePath": path});
            let leader = story.pair.leader();
            leader.follow_so(&application.id, repository, &fields);
        }
        story
    }

    /// Commits and pushes something of everything, and returns those who may see it.
    fn change(&mut self) -> Vec<String> {
        self.upstream.commit_all(&mut self.dice);
        for _ in 0..self.dice.below(6) {
            self.upstream.change(&mut self.dice);
        }
        // One of each file: those that read the same are looked at together.
        let ids = self.upstream.applications.iter().map(|it| it.id.clone());
        ids.step_by(IN_FILE).collect()
    }

    /// Freezes the leader, lets the other one lead, and wakes the frozen one up.
    async fn freeze(&mut self, end: End) {
        for id in self.change() {
            self.pair.leader().poll(&id);
        }
        // In the middle of whatever it does.
        std::thread::sleep(Duration::from_millis(self.dice.below(40)));
        let frozen = self.pair.freeze(end).await;
        // It cannot see that another one leads now: as long as it counts on its Lease, both do.
        self.pair.cut_off(frozen);
        self.pair.wake(frozen);
        for _ in 0..3 {
            self.upstream.move_all();
            for id in self.change() {
                self.pair.leader().poll(&id);
            }
            self.look();
        }
        self.pair.reconnect(frozen);
        self.pair.until_lost(frozen);
        self.check();
    }

    /// Lets the leader look at everything.
    fn look(&self) {
        let ids: Vec<&str> = self
            .upstream
            .applications
            .iter()
            .map(|it| it.id.as_str())
            .collect();
        self.pair.leader().look_all(&ids);
    }

    /// Looks at everything, and fails unless all releases are as the rules say, whoever is asked.
    fn check(&self) {
        self.look();
        for application in &self.upstream.applications {
            let past = Past::of(&self.upstream, application);
            for controller in &self.pair.controllers {
                let releases = controller.releases(&application.id);
                let pending = &controller.tracker(&application.id)["status"]["pending"];
                past.check(&releases, pending);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c03_release_is_formed_once_although_a_frozen_leader_goes_on() {
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => return skip(SUITE, &missing.to_string()),
    };
    let Some(server) = Server::shared(SUITE) else {
        return;
    };
    let Some(registry) = RealRegistry::start(SUITE, Program::Distribution, &Options::default())
    else {
        return;
    };
    let options = testkit_kube::Options {
        allow_everything: true,
        ..testkit_kube::Options::default()
    };
    let cluster = RealCluster::start(&binaries, options).await;
    let cluster = cluster.expect("the cluster starts");
    let mut story = Box::pin(Story::begin(&cluster, server, registry)).await;
    let rounds = match is_nightly() {
        true => 20,
        false => 2,
    };
    // Both are frozen in turn.
    for _ in 0..rounds {
        for end in [End::IsShortened, End::IsShortened, End::Expires] {
            Box::pin(story.freeze(end)).await;
        }
    }
}

/// Creates an environment in which releases are queued, and which takes none of them.
async fn create_dev(client: &Client) {
    let object = json!({
        "apiVersion": "pathline.dev/v1alpha1",
        "kind": "Environment",
        "metadata": {"name": "dev"},
        "spec": {"type": "dev", "releaseFrequency": {"year": 2020}},
    });
    let object = serde_json::from_value(object).expect("an object");
    let resource = ApiResource::erase::<Environment>(&());
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let created = api.create(&PostParams::default(), &object).await;
    created.expect("the environment is created");
}
