//! Two controllers of one cluster, and the one of them that leads.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::api::{Patch, PatchParams};
use pathline_testkit::Leash;
use pathline_testkit::kube::RealCluster;
use rustix::process::Signal;
use serde_json::json;

use super::proxy::{Proxy, Way};
use super::world::{Config, World};

/// Far longer than a Lease lasts.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The words of a controller that has lost its Lease.
const LOST: &str = "leads no longer";

/// The way in which the Lease of a frozen leader ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// It lasts as long as it does.
    Expires,
    /// Somebody shortens it, so that the frozen leader wakes up while it still counts on it.
    IsShortened,
}

/// Two controllers of one cluster with one ledger.
pub(crate) struct Pair {
    pub(crate) controllers: [World; 2],
    /// The ways of the controllers to the API server.
    ways: [Proxy; 2],
    api_server: SocketAddr,
    leases: Api<Lease>,
    /// The index of the one that leads.
    leader: usize,
}

impl Pair {
    /// Starts both, and waits until one of them leads.
    pub(crate) async fn start(cluster: &RealCluster, ledger: &str, config: &Config) -> Self {
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
            let arguments = ["--ledger", ledger];
            World::start_as(&command, leash, config, &arguments, &environment)
        };
        let first = start(&ways[0], None);
        let second = start(&ways[1], Some(first.rest_token()));
        let client = cluster.client().await.expect("a client");
        let mut pair = Self {
            controllers: [first, second],
            ways,
            api_server,
            leases: Api::namespaced(client, "default"),
            leader: 0,
        };
        pair.leader = pair.until_led(|_| true).await;
        pair
    }

    /// Returns the one that leads.
    pub(crate) fn leader(&self) -> &World {
        &self.controllers[self.leader]
    }

    /// Freezes the leader, and waits until the other one leads; returns the index of the frozen one.
    pub(crate) async fn freeze(&mut self, end: End) -> usize {
        let (frozen, other) = (self.leader, 1 - self.leader);
        self.controllers[frozen].running().signal(Signal::STOP);
        if let End::IsShortened = end {
            self.shorten().await;
        }
        self.leader = self.until_led(|it| it == other).await;
        frozen
    }

    /// Wakes a frozen one up.
    pub(crate) fn wake(&mut self, frozen: usize) {
        self.controllers[frozen].running().signal(Signal::CONT);
    }

    /// Keeps one from the API server.
    pub(crate) fn cut_off(&self, which: usize) {
        self.ways[which].set(Way::Closed);
    }

    /// Lets answers of the API server take their time, so that whoever is frozen is in the middle of something.
    pub(crate) fn slow_down(&self) {
        for way in &self.ways {
            way.set(Way::Slowly(self.api_server));
        }
    }

    /// Lets one get to the API server again.
    pub(crate) fn reconnect(&self, which: usize) {
        self.ways[which].set(Way::To(self.api_server));
    }

    /// Waits until one that has led knows that it does no longer.
    pub(crate) fn until_lost(&mut self, which: usize) {
        self.controllers[which].running().wait_for_next(LOST);
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

    /// Lets the Lease end in a second.
    async fn shorten(&self) {
        let patch = Patch::Merge(json!({"spec": {"leaseDurationSeconds": 1}}));
        let parameters = PatchParams::default();
        let patched = self.leases.patch("pathline", &parameters, &patch);
        patched.await.expect("it is taken");
    }
}
