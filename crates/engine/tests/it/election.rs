//! Several engines on one cluster.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::runtime::wait::await_condition;
use pathline_engine::{Election, Engine, Metrics, Options};
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
        let (metrics, shutdown) = (Metrics::default(), CancellationToken::new());
        let election = Election {
            duration: Duration::from_secs(60),
            deadline: Duration::from_secs(40),
            interval: Duration::from_millis(50),
            ..Election::new(&world.namespace, "pathline", identity)
        };
        let options = Options {
            metrics: metrics.clone(),
            election: Some(election),
            ..Options::new(std::env::temp_dir())
        };
        let running = Engine::run(world.connection.clone(), options, shutdown.clone());
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

#[tokio::test]
async fn issue_599_of_two_controllers_one_acts() {
    let mut world = World::embedded().await;
    world.stop_engine().await;
    let body = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "$(workload.metadata.name)$"},
    });
    world
        .apply_spec("ClusterTemplate", "t", json!({"template": body}))
        .await;
    world
        .apply_chain(
            "chain",
            json!([
                {"name": "only", "templateRef": {"kind": "ClusterTemplate", "name": "t"}},
            ]),
        )
        .await;
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
