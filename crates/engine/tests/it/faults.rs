//! The cluster stops and starts, watches break, writes are refused or their answers lost, a template
//! flips, and the engine is killed: in the end all is right, and nothing was made twice.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]

mod server;
mod way;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client, ResourceExt};
use pathline_engine::{Engine, Options, crds};
use pathline_ledger::{Ledger, Location};
use pathline_testkit::{Dice, seed};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::server::Server;
use self::way::Way;
use crate::world::{install, test_kind};

const WORKLOADS: [&str; 3] = ["calm", "storm", "wind"];

/// The time for which everything goes wrong, before and after the server is stopped for certain.
const HALF_A_STORM: Duration = Duration::from_secs(4);

/// The time-out of the end; a loaded machine gets all the time it needs.
const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_made_twice_in_a_storm() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::embedded(&directory.path().join("cluster")).await;
    weather(server, directory.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_made_twice_in_a_storm_on_a_real_api_server() {
    let suite = "faults on a real API server";
    let Some(server) = Server::real(suite).await else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    weather(server, directory.path()).await;
}

async fn weather(server: Server, directory: &Path) {
    let mut dice = Dice::new(seed("faults"));
    let way = Way::to(server);
    let client = way.client().unwrap();
    crds::install(&client).await.unwrap();
    install(&client, test_kind("Test", "tests")).await;
    set_up(&client).await;
    let mut engine = start_engine(&way, directory);
    until_all_show(&way, "first").await;
    let before = uids(&way, "-fetch").await;

    way.set_calm(false);
    let flipping = tokio::spawn(flip(way.clone()));
    engine = storm(&way, directory, engine, &mut dice).await;
    restart(&way, &mut dice).await;
    engine = storm(&way, directory, engine, &mut dice).await;
    flipping.abort();
    let _ = flipping.await;
    way.set_calm(true);
    apply(&way.client().unwrap(), fetch_template("last")).await;

    until_all_show(&way, "last").await;
    assert_eq!(
        uids(&way, "-fetch").await,
        before,
        "no mutable object was made anew"
    );
    assert_eq!(uids(&way, "-show").await.len(), WORKLOADS.len());
    let mut seen = BTreeSet::new();
    for build in list(&way.client().unwrap(), "Test").await {
        let name = build.name_any();
        if let Some((workload, _)) = name.split_once("-build-") {
            let revision = build.data["spec"]["revision"].to_string();
            assert!(
                seen.insert((workload.to_owned(), revision)),
                "{name} was made twice"
            );
        }
    }
    assert!(
        seen.len() >= 2 * WORKLOADS.len(),
        "at least first and last were built: {seen:?}"
    );
    engine.shutdown_background();
    way.server.stop().await;
}

/// Kills the engine, and stops the server where that is quick, now and then; returns the last engine.
async fn storm(way: &Arc<Way>, directory: &Path, mut engine: Runtime, dice: &mut Dice) -> Runtime {
    let end = Instant::now() + HALF_A_STORM;
    while Instant::now() < end {
        sleep(Duration::from_millis(200 + dice.below(700))).await;
        match dice.below(3) {
            0 => {
                engine.shutdown_background();
                engine = start_engine(way, directory);
            }
            1 if way.server.is_quick() => restart(way, dice).await,
            _ => {}
        }
    }
    engine
}

async fn restart(way: &Way, dice: &mut Dice) {
    way.server.stop().await;
    sleep(Duration::from_millis(dice.below(300))).await;
    way.server.start().await;
}

/// Runs an engine on a runtime of its own, so that all of it dies at once when that goes.
fn start_engine(way: &Arc<Way>, directory: &Path) -> Runtime {
    let runtime = Runtime::new().unwrap();
    let (way, directory) = (way.clone(), directory.to_owned());
    runtime.spawn(async move {
        let ledger = Location::File(directory.join("ledger.db"));
        let ledger = Ledger::open(&ledger).await.unwrap();
        let options = Options::new(directory.join("engine"), ledger);
        let running = Engine::run(way.connection(), options, CancellationToken::new());
        running.await.unwrap();
    });
    runtime
}

/// Changes a template every 100 ms.
async fn flip(way: Arc<Way>) {
    for revision in ["one", "two"].into_iter().cycle() {
        if let Some(client) = way.client() {
            let template = fetch_template(revision);
            // The server may stop at any moment, and then not even refuse.
            let _ = timeout(Duration::from_secs(5), try_apply(&client, template)).await;
        }
        sleep(Duration::from_millis(100)).await;
    }
}

async fn until_all_show(way: &Way, revision: &str) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let shown = list(&way.client().unwrap(), "ConfigMap").await;
        let shown = shown.iter().filter(|map| map.name_any().ends_with("-show"));
        let right = shown
            .filter(|map| map.data["data"]["image"] == revision)
            .count();
        let owners = list(&way.client().unwrap(), "Workload").await;
        let ready = owners.iter().filter(|owner| is_ready(owner)).count();
        if right == WORKLOADS.len() && ready == WORKLOADS.len() {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{right} show {revision} and {ready} are ready: {:#}",
            json!(
                owners
                    .iter()
                    .map(|owner| &owner.data["status"])
                    .collect::<Vec<_>>()
            )
        );
        sleep(Duration::from_millis(100)).await;
    }
}

fn is_ready(owner: &DynamicObject) -> bool {
    let conditions = owner.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

async fn uids(way: &Way, ending: &str) -> BTreeMap<String, Option<String>> {
    let client = way.client().unwrap();
    let mut found = list(&client, "Test").await;
    found.extend(list(&client, "ConfigMap").await);
    let found = found
        .into_iter()
        .filter(|object| object.name_any().ends_with(ending));
    found
        .map(|object| (object.name_any(), object.uid()))
        .collect()
}

async fn set_up(client: &Client) {
    apply(client, fetch_template("first")).await;
    let build = json!({
        "apiVersion": "test.pathline.dev/v1", "kind": "Test",
        "metadata": {"generateName": "$(workload.metadata.name)$-build-"},
        "spec": {"revision": "$(source.revision)$"},
    });
    let build = json!({"template": build, "lifecycle": "immutable", "imagePath": ".spec.revision"});
    apply(client, object("ClusterImageTemplate", "build", build)).await;
    let show = json!({"template": {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "$(workload.metadata.name)$-show"},
        "data": {"image": "$(image)$"},
    }});
    apply(client, object("ClusterTemplate", "show", show)).await;
    let chain = json!({"selector": {"weather": "bad"}, "resources": [
        {"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}},
        {
            "name": "build", "templateRef": {"kind": "ClusterImageTemplate", "name": "build"},
            "sources": [{"name": "source", "resource": "fetch"}],
        },
        {
            "name": "show", "templateRef": {"kind": "ClusterTemplate", "name": "show"},
            "images": [{"name": "image", "resource": "build"}],
        },
    ]});
    apply(client, object("ClusterSupplyChain", "chain", chain)).await;
    for name in WORKLOADS {
        let mut workload = object("Workload", name, json!({}));
        workload["metadata"]["labels"] = json!({"weather": "bad"});
        apply(client, workload).await;
    }
}

fn fetch_template(revision: &str) -> Value {
    let fetch = json!({
        "apiVersion": "test.pathline.dev/v1", "kind": "Test",
        "metadata": {"name": "$(workload.metadata.name)$-fetch"},
        "spec": {"url": "file:///there", "revision": revision},
    });
    let spec = json!({"template": fetch, "urlPath": ".spec.url", "revisionPath": ".spec.revision"});
    object("ClusterSourceTemplate", "fetch", spec)
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "carto.run/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

async fn apply(client: &Client, object: Value) {
    try_apply(client, object).await.unwrap();
}

async fn try_apply(client: &Client, object: Value) -> kube::Result<()> {
    let [kind, name] = [&object["kind"], &object["metadata"]["name"]];
    let (kind, name) = (kind.as_str().unwrap(), name.as_str().unwrap());
    let params = PatchParams::apply("a-user").force();
    api(client, kind)
        .patch(name, &params, &Patch::Apply(&object))
        .await?;
    Ok(())
}

async fn list(client: &Client, kind: &str) -> Vec<DynamicObject> {
    api(client, kind)
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
}

fn api(client: &Client, kind: &str) -> Api<DynamicObject> {
    let (group, version) = match kind {
        "ConfigMap" => ("", "v1"),
        "Test" => ("test.pathline.dev", "v1"),
        _ => ("carto.run", "v1alpha1"),
    };
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    if kind.starts_with("Cluster") {
        Api::all_with(client.clone(), &resource)
    } else {
        Api::namespaced_with(client.clone(), "default", &resource)
    }
}
