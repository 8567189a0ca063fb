//! Several engines on one cluster.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::client::Body;
use kube::runtime::wait::await_condition;
use kube::{Api, Client};
use parking_lot::Mutex;
use pathline_engine::{Connection, Election, Engine, Metrics, Options};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// One of several engines.
struct Replica {
    metrics: Metrics,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), pathline_engine::Error>>,
}

impl Replica {
    fn start(world: &World, identity: &str) -> Self {
        let election = Election {
            duration: Duration::from_secs(60),
            deadline: Duration::from_secs(40),
            interval: Duration::from_millis(50),
            ..Election::new(&world.namespace, "pathline", identity)
        };
        Self::start_by(world, world.connection.clone(), election)
    }

    fn start_by(world: &World, connection: Connection, election: Election) -> Self {
        let (metrics, shutdown) = (Metrics::default(), CancellationToken::new());
        let options = Options {
            metrics: metrics.clone(),
            election: Some(election),
            ..Options::new(std::env::temp_dir(), world.ledger.clone())
        };
        let running = Engine::run(connection, options, shutdown.clone());
        Self {
            running: tokio::spawn(running),
            metrics,
            shutdown,
        }
    }

    fn writes(&self) -> u64 {
        self.metrics.calls("patch", "configmaps") + self.metrics.calls("update", "workloads/status")
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.running.await.unwrap().unwrap();
    }
}

async fn wait_leader(world: &World, identity: &str) {
    let api: Api<Lease> = Api::namespaced(world.client.clone(), &world.namespace);
    let leads = await_condition(api, "pathline", |lease: Option<&Lease>| {
        let spec = lease.and_then(|lease| lease.spec.as_ref());
        spec.and_then(|spec| spec.holder_identity.as_deref()) == Some(identity)
    });
    let waiting = tokio::time::timeout(Duration::from_secs(60), leads).await;
    waiting
        .unwrap_or_else(|_| panic!("waited in vain for {identity} to lead"))
        .unwrap();
}

async fn apply_template(world: &World, revision: u32) {
    let body = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "$(workload.metadata.name)$"},
        "data": {"revision": revision.to_string()},
    });
    world
        .apply_spec("ClusterTemplate", "t", json!({"template": body}))
        .await;
}

async fn apply_chain(world: &World) {
    let only = json!({"name": "only", "templateRef": {"kind": "ClusterTemplate", "name": "t"}});
    world.apply_chain("chain", json!([only])).await;
}

#[tokio::test]
async fn issue_599_of_two_controllers_one_acts() {
    let mut world = World::embedded().await;
    world.stop_engine().await;
    apply_template(&world, 0).await;
    apply_chain(&world).await;
    let first = Replica::start(&world, "first");
    wait_leader(&world, "first").await;
    let second = Replica::start(&world, "second");
    for name in ["a", "b", "c"] {
        world.apply_workload(name, json!({})).await;
        world.wait_ready("Workload", name).await;
    }
    assert!(first.writes() >= 6, "the leader acts");
    assert_eq!(second.writes(), 0, "the other one waits");

    // One that stops gives the lease up, so the other need not wait for its end.
    first.stop().await;
    wait_leader(&world, "second").await;
    world.apply_workload("d", json!({})).await;
    world.wait_ready("Workload", "d").await;
    assert!(second.writes() >= 2);
    second.stop().await;
    world.start_engine();
    world.end().await;
}

/// The replicas that wrote for the owners, in the order in which it was asked for.
type Writers = Arc<Mutex<Vec<&'static str>>>;

/// Returns a connection that notes writes, and on which Leases are out of reach while `is_cut`.
fn watched(
    world: &World,
    identity: &'static str,
    writers: &Writers,
    is_cut: &Arc<AtomicBool>,
) -> Connection {
    world.connection.clone().map(|client| {
        let (writers, is_cut) = (writers.clone(), is_cut.clone());
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let path = request.uri().path();
            let is_lost = path.contains("/leases/") && is_cut.load(Ordering::Relaxed);
            if request.method() != http::Method::GET
                && (path.contains("/configmaps/") || path.ends_with("/status"))
            {
                writers.lock().push(identity);
            }
            let client = client.clone();
            async move {
                if is_lost {
                    return std::future::pending().await;
                }
                client.send(request).await
            }
        });
        Client::new(service, "default")
    })
}

#[tokio::test]
async fn a_leader_that_cannot_renew_stops_acting_before_another_begins() {
    let mut world = World::embedded().await;
    world.stop_engine().await;
    apply_template(&world, 0).await;
    apply_chain(&world).await;
    let (writers, is_cut) = (Writers::default(), Arc::new(AtomicBool::new(false)));
    let start = |identity: &'static str, is_cut: &Arc<AtomicBool>| {
        let election = Election {
            duration: Duration::from_secs(10),
            deadline: Duration::from_secs(6),
            interval: Duration::from_millis(50),
            ..Election::new(&world.namespace, "pathline", identity)
        };
        let connection = watched(&world, identity, &writers, is_cut);
        Replica::start_by(&world, connection, election)
    };
    let first = start("first", &is_cut);
    wait_leader(&world, "first").await;
    let second = start("second", &Arc::default());
    world.apply_workload("a", json!({})).await;
    world.wait_ready("Workload", "a").await;

    is_cut.store(true, Ordering::Relaxed);
    // There is something to do all the time, and only Leases are out of the first one's reach.
    let acts = |who: &str| {
        writers
            .lock()
            .iter()
            .filter(|writer| **writer == who)
            .count()
    };
    let before = acts("first");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(120);
    for revision in 1.. {
        if acts("second") >= 5 {
            break;
        }
        let now = tokio::time::Instant::now();
        assert!(
            now < deadline,
            "the second one took over: {:?}",
            writers.lock()
        );
        apply_template(&world, revision).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(acts("first") > before, "the first one went on for a while");
    let writers = writers.lock().clone();
    let taken = writers.iter().position(|writer| *writer == "second");
    let late = writers[taken.unwrap()..]
        .iter()
        .filter(|writer| **writer == "first");
    assert_eq!(late.count(), 0, "{writers:?}");
    is_cut.store(false, Ordering::Relaxed);
    second.stop().await;
    first.stop().await;
    world.start_engine();
    world.end().await;
}
