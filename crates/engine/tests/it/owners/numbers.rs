//! Metrics of the engine, and requests that it never makes.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::world::World;

pub(crate) async fn metrics_tell_of_queues_looks_and_calls(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_ready("Workload", "app").await;
    let mut registry = Registry::with_prefix("pathline");
    world.metrics.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for expected in [
        "pathline_queue_depth{kind=\"Workload\"} ",
        "pathline_reconcile_duration_seconds_count{kind=\"Workload\"} ",
        "pathline_api_calls_total{verb=\"patch\",resource=\"tests\"} ",
        "pathline_api_calls_total{verb=\"update\",resource=\"workloads/status\"} ",
    ] {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
}

pub(crate) async fn issue_984_no_secret_is_listed(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_ready("Workload", "app").await;
    for verb in ["list", "watch", "get"] {
        assert_eq!(world.metrics.calls(verb, "secrets"), 0, "{verb}");
    }
}
