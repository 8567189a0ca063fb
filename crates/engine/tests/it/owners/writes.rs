//! The number of requests to the cluster.

use serde_json::json;

use super::config_map;
use crate::world::World;

/// The number of resources of the chain, and of owners.
const RESOURCES: usize = 3;
const OWNERS: usize = 10;

pub(crate) async fn few_writes_and_no_reads(world: &mut World) {
    let named = |step: &str, from: &str| {
        let body = config_map(
            &format!("$(workload.metadata.name)$-{step}"),
            json!({"from": from}),
        );
        json!({"template": body, "configPath": "data.from"})
    };
    let steps = [
        ("one", "$(workload.metadata.name)$", None),
        ("two", "$(config)$", Some("one")),
        ("three", "$(config)$", Some("two")),
    ];
    let mut resources = Vec::new();
    for (step, from, producer) in steps {
        world
            .apply_spec("ClusterConfigTemplate", step, named(step, from))
            .await;
        let mut resource =
            json!({"name": step, "templateRef": {"kind": "ClusterConfigTemplate", "name": step}});
        if let Some(producer) = producer {
            resource["configs"] = json!([{"name": "in", "resource": producer}]);
        }
        resources.push(resource);
    }
    world.apply_chain("steps", json!(resources)).await;
    let names: Vec<String> = (0..OWNERS).map(|index| format!("app-{index}")).collect();
    for name in &names {
        world.apply_workload(name, json!({})).await;
    }
    for name in &names {
        world.wait_ready("Workload", name).await;
    }
    // A round of wake-ups that change nothing must write nothing.
    for name in &names {
        world
            .apply(
                "ConfigMap",
                &format!("{name}-three"),
                json!({"data": {"of-others": "x"}}),
            )
            .await;
    }
    // An owner that comes after them shows that they have been dealt with.
    world.apply_workload("last", json!({})).await;
    world.wait_ready("Workload", "last").await;
    world.stop_engine().await;
    world.start_engine();

    let calls = world.calls();
    let of = |method: &str, part: &str| {
        let all = calls
            .iter()
            .filter(|call| call.starts_with(method) && call.contains(part));
        all.count()
    };
    let stamped = format!("/namespaces/{}/configmaps/", world.namespace);
    let written = of("PATCH", &stamped) + of("PUT", "/workloads/") + of("PATCH", "/workloads/");
    let owners = OWNERS + 1;
    assert_eq!(
        of("PATCH", &stamped),
        owners * RESOURCES,
        "each object is written once"
    );
    assert!(
        written <= owners * (2 + RESOURCES),
        "{written} writes: {calls:#?}"
    );
    assert_eq!(of("GET", &stamped), 0, "a watch delivers them");
}

pub(crate) async fn independent_resources_do_not_wait_for_each_other(world: &mut World) {
    let mut resources = Vec::new();
    for name in ["slow", "fast"] {
        let template = json!({"template": config_map(name, json!({}))});
        world.apply_spec("ClusterTemplate", name, template).await;
        resources
            .push(json!({"name": name, "templateRef": {"kind": "ClusterTemplate", "name": name}}));
    }
    world.apply_chain("both", json!(resources)).await;
    world.hold_back("/configmaps/slow", "/configmaps/fast");
    world.apply_workload("app", json!({})).await;
    let owner = world.wait_ready("Workload", "app").await;
    let calls = world.calls();
    let slow = calls
        .iter()
        .filter(|call| call.ends_with("/configmaps/slow"));
    assert_eq!(
        slow.count(),
        1,
        "one after the other, the first would have run out of time"
    );
    let names =
        ["/resources/0/name", "/resources/1/name"].map(|name| owner["status"].pointer(name));
    assert_eq!(
        names,
        [Some(&json!("slow")), Some(&json!("fast"))],
        "declared order"
    );
}
