//! Two leaders: a controller that is frozen past its Lease, and goes on where it was.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use pathline_kinds::environment::Environment;
use pathline_testkit::kube::{self as testkit_kube, Binaries, RealCluster};
use pathline_testkit::postgres::Server;
use pathline_testkit::registry::{Options, Program, RealRegistry};
use pathline_testkit::{Dice, Leash, is_nightly, seed, skip};
use rustix::process::Signal;
use serde_json::json;

use super::oracle::Past;
use super::proxy::{Proxy, Way};
use super::upstream::{IN_FILE, Upstream};
use super::world::{Config, World};

const SUITE: &str = "trackers with two leaders";
/// The number of applications.
const APPLICATIONS: usize = 15;
/// Far longer than a Lease lasts.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The words of a controller that has lost its Lease.
const LOST: &str = "leads no longer";

/// The way in which the Lease of a frozen leader ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It lasts as long as it does.
    Expires,
    /// Somebody shortens it, so that the frozen leader wakes up while it still counts on it.
    IsShortened,
}

/// Two controllers of one cluster, and what they follow.
struct Story {
    dice: Dice,
    upstream: Upstream,
    controllers: [World; 2],
    /// The ways of the controllers to the API server.
    ways: [Proxy; 2],
    api_server: SocketAddr,
    leases: Api<Lease>,
    /// The index of the one that leads.
    leader: usize,
}

impl Story {
    async fn begin(cluster: &RealCluster, server: &Server, registry: RealRegistry) -> Self {
        let mut dice = Dice::new(seed(SUITE));
        let upstream = Upstream::begin(registry, APPLICATIONS, &mut dice);
        let repositories: Vec<_> = upstream.repositories.iter().collect();
        let config = Config::of(&repositories, &[upstream.registry.host()]);
        let ledger = server.database();
        let kubeconfig = fs::read_to_string(cluster.kubeconfig()).expect("it is readable");
        let address = kubeconfig.split("https://").nth(1).expect("an address");
        let end = address.find(|it: char| !it.is_ascii_digit() && !".:".contains(it));
        let api_server = address[..end.unwrap_or(address.len())].parse();
        let api_server = api_server.expect("an address");
        let command = [
            "controller",
            "--kubeconfig=kubeconfig",
            "--namespace=default",
            "--listen=127.0.0.1:0",
            "--install-crds",
            "--output=json",
            "--log=info",
        ];
        let key = "cd".repeat(32);
        let ways = [(); 2].map(|()| Proxy::start(Way::To(api_server)));
        let start = |way: &Proxy, token: Option<&str>| {
            let leash = Leash::new("pathline-leaders-").expect("a scratch directory");
            let data_dir = leash.directory().join(".pathline");
            fs::create_dir(&data_dir).expect("it is writable");
            let own = kubeconfig.replace(&api_server.to_string(), &way.host());
            fs::write(leash.directory().join("kubeconfig"), own).expect("it is writable");
            // The first one makes the token of the administrator.
            if let Some(token) = token {
                fs::write(data_dir.join("rest.token"), token).expect("it is writable");
            }
            let environment = [("PATHLINE_SEAL_KEY", key.as_str())];
            let arguments = ["--ledger", &ledger];
            World::start_as(&command, leash, &config, &arguments, &environment)
        };
        let first = start(&ways[0], None);
        let second = start(&ways[1], Some(first.rest_token()));
        let client = cluster.client().await.expect("a client");
        create_dev(&client).await;
        let mut story = Self {
            controllers: [first, second],
            ways,
            api_server,
            dice,
            upstream,
            leases: Api::namespaced(client, "default"),
            leader: 0,
        };
        story.leader = story.until_led(|_| true).await;
        for application in &story.upstream.applications {
            let (repository, path) = story.upstream.place(application);
            let fields = json!({"token": "gho_0", "sourcePath": path});
            story.controllers[story.leader].follow_so(&application.id, repository, &fields);
        }
        story
    }

    /// Waits until one of the controllers leads that may; returns its index.
    async fn until_led(&mut self, may: impl Fn(usize) -> bool) -> usize {
        let end = Instant::now() + TIMEOUT;
        loop {
            let lease = self.leases.get_opt("pathline").await.expect("it answers");
            let holder = lease
                .and_then(|it| it.spec?.holder_identity)
                .unwrap_or_default();
            let pids = self.controllers.each_mut().map(|it| it.running().pid());
            let leads = |pid: &u32| holder.starts_with(&format!("pathline-{pid}-"));
            let found = pids.iter().position(leads).filter(|it| may(*it));
            match found {
                Some(leader) => return leader,
                None => assert!(Instant::now() < end, "nobody leads: {holder:?}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
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
        let (frozen, other) = (self.leader, 1 - self.leader);
        for id in self.change() {
            self.controllers[frozen].poll(&id);
        }
        // In the middle of whatever it does.
        std::thread::sleep(Duration::from_millis(self.dice.below(40)));
        self.controllers[frozen].running().signal(Signal::STOP);
        if let End::IsShortened = end {
            self.shorten().await;
        }
        self.leader = self.until_led(|it| it == other).await;
        // It cannot see that another one leads now: as long as it counts on its Lease, both do.
        self.ways[frozen].set(Way::Closed);
        self.controllers[frozen].running().signal(Signal::CONT);
        for _ in 0..3 {
            self.upstream.move_all();
            for id in self.change() {
                self.controllers[other].poll(&id);
            }
            self.look();
        }
        self.ways[frozen].set(Way::To(self.api_server));
        self.controllers[frozen].running().wait_for_next(LOST);
        self.check();
    }

    /// Lets the Lease end in a second.
    async fn shorten(&self) {
        let patch = Patch::Merge(json!({"spec": {"leaseDurationSeconds": 1}}));
        let parameters = PatchParams::default();
        let patched = self.leases.patch("pathline", &parameters, &patch);
        patched.await.expect("it is taken");
    }

    /// Lets the leader look at everything.
    fn look(&self) {
        let ids: Vec<&str> = self
            .upstream
            .applications
            .iter()
            .map(|it| it.id.as_str())
            .collect();
        self.controllers[self.leader].look_all(&ids);
    }

    /// Looks at everything, and fails unless all releases are as the rules say, whoever is asked.
    fn check(&self) {
        self.look();
        for application in &self.upstream.applications {
            let past = Past::of(&self.upstream, application);
            for controller in &self.controllers {
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
