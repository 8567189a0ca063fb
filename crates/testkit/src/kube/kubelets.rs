//! A stand-in for scheduler and kubelets: pods of a cluster without nodes "run" at once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ::kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use ::kube::runtime::watcher::Event;
use ::kube::runtime::{WatchStreamExt, watcher};
use ::kube::{Api, Client, ResourceExt};
use anyhow::{Context, Result};
use futures::StreamExt;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The nodes on which everything "runs": what does not ask for one of them, on the first.
const NODES: [&str; 2] = ["stand-in", "stand-in-2"];

/// The end of a container: again and again, or once for all where it is never started again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The number of times it was started again.
    pub restarts: i64,
    /// With what it ends.
    pub exit_code: i64,
    /// Its last message.
    pub message: String,
}

impl Crash {
    fn end(&self) -> Value {
        json!({"terminated": {
            "exitCode": self.exit_code, "reason": "Error", "message": self.message,
        }})
    }
}

/// A stand-in for scheduler and kubelets: it binds pods to nodes that are not there, and says of
/// each container that it runs, with an image id, or that it crashes. Ends when it is dropped.
///
/// Orders are for pods that are not ready yet, those that are there and those to come.
pub struct Kubelets {
    client: Client,
    orders: Arc<Mutex<Orders>>,
    ordered: Arc<Notify>,
    task: JoinHandle<()>,
}

/// The ends of containers, by the image they ask for.
#[derive(Default)]
struct Orders {
    crashes: HashMap<String, Crash>,
    image_ids: HashMap<String, String>,
    held: HashSet<String>,
}

impl Kubelets {
    /// Adds nodes and begins to look after pods of all namespaces.
    pub async fn start(client: Client) -> Result<Self> {
        for node in NODES {
            let added = add_node(&client, node).await;
            added.with_context(|| format!("there is no node {node}"))?;
        }
        let (orders, ordered) = (Arc::<Mutex<Orders>>::default(), Arc::<Notify>::default());
        let task = tokio::spawn(look_after(client.clone(), orders.clone(), ordered.clone()));
        Ok(Self {
            client,
            orders,
            ordered,
            task,
        })
    }

    /// Lets containers of an image crash from now on.
    pub fn crash(&self, image: &str, crash: Crash) {
        self.order(|orders| {
            orders.crashes.insert(image.to_owned(), crash);
        });
    }

    /// Keeps containers of an image from starting until it is released.
    pub fn hold(&self, image: &str) {
        self.order(|orders| {
            orders.held.insert(image.to_owned());
        });
    }

    /// Lets containers of an image start that was held.
    pub fn release(&self, image: &str) {
        self.order(|orders| {
            orders.held.remove(image);
        });
    }

    /// Lets an image have an id. Without, it is the reference, with its digest or one made up.
    pub fn identify(&self, image: &str, image_id: &str) {
        self.order(|orders| {
            let (image, image_id) = (image.to_owned(), image_id.to_owned());
            orders.image_ids.insert(image, image_id);
        });
    }

    /// Starts the containers of all pods of a namespace again, in the pods that are there. The clock of
    /// the node may be ahead: it says that this happened then.
    pub async fn restart(&self, namespace: &str, then: Timestamp) -> Result<()> {
        let then = Time(Timestamp::from_second(then.as_second())?);
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        for pod in pods.list(&ListParams::default()).await? {
            let status = serde_json::to_value(&pod.status)?;
            let mut statuses = status["containerStatuses"].clone();
            for status in statuses.as_array_mut().into_iter().flatten() {
                let restarts = status["restartCount"].as_i64().unwrap_or_default();
                status["restartCount"] = json!(restarts + 1);
                let before = status["state"]["running"]["startedAt"].take();
                status["lastState"] = json!({"terminated": {
                    "exitCode": 0, "startedAt": before, "finishedAt": then,
                }});
                status["state"] = json!({"running": {"startedAt": then}});
            }
            let patch = Patch::Merge(json!({"status": {"containerStatuses": statuses}}));
            let params = PatchParams::default();
            pods.patch_status(&pod.name_any(), &params, &patch).await?;
        }
        Ok(())
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.orders.lock());
        self.ordered.notify_one();
    }
}

impl Drop for Kubelets {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn add_node(client: &Client, name: &str) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
    match nodes
        .create(&PostParams::default(), &serde_json::from_value(node)?)
        .await
    {
        Err(::kube::Error::Api(error)) if error.is_already_exists() => {}
        other => drop(other?),
    }
    let untainted = json!({"spec": {"taints": null}});
    nodes
        .patch(name, &PatchParams::default(), &Patch::Merge(untainted))
        .await?;
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "1000000"});
    let status = json!({"status": {
        "capacity": room, "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True", "reason": "StandIn"}],
    }});
    nodes
        .patch_status(name, &PatchParams::default(), &Patch::Strategic(status))
        .await?;
    Ok(())
}

async fn look_after(client: Client, orders: Arc<Mutex<Orders>>, ordered: Arc<Notify>) {
    let pods: Api<Pod> = Api::all(client.clone());
    let events = watcher(pods, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events);
    let mut known: HashMap<String, Pod> = HashMap::new();
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(Ok(Event::Apply(pod) | Event::InitApply(pod))) => {
                    let uid = pod.uid().unwrap_or_default();
                    // What our own write answered may be newer than what the watch has brought.
                    if known.get(&uid).is_none_or(|it| version(it) <= version(&pod)) {
                        known.insert(uid, advance(&client, &orders, pod).await);
                    }
                }
                Some(Ok(Event::Delete(pod))) => {
                    known.remove(&pod.uid().unwrap_or_default());
                }
                Some(_) => {}
                None => return,
            },
            () = ordered.notified() => {
                for pod in known.values_mut() {
                    *pod = advance(&client, &orders, pod.clone()).await;
                }
            }
        }
    }
}

fn version(pod: &Pod) -> Option<u64> {
    pod.resource_version()?.parse().ok()
}

/// Takes one pod one step further, and returns it as it is then.
async fn advance(client: &Client, orders: &Mutex<Orders>, pod: Pod) -> Pod {
    match step(client, orders, &pod).await {
        Ok(newer) => newer.unwrap_or(pod),
        Err(error) => {
            // The next event of the pod tries again; one that is gone needs nothing.
            tracing::debug!(pod = pod.name_any(), %error, "the stand-in for kubelets");
            pod
        }
    }
}

/// Does what comes next for a pod; that it was done is the event for the next step.
async fn step(client: &Client, orders: &Mutex<Orders>, pod: &Pod) -> Result<Option<Pod>> {
    let namespace = pod.namespace().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let name = pod.name_any();
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
    if pod.metadata.deletion_timestamp.is_some() && node.is_some() {
        let this_one = Preconditions {
            uid: pod.uid(),
            resource_version: None,
        };
        let at_once = DeleteParams::default()
            .grace_period(0)
            .preconditions(this_one);
        pods.delete(&name, &at_once).await?;
        return Ok(None);
    }
    if node.is_none() {
        bind(client, &namespace, &name, wanted_node(pod)).await?;
        return Ok(None);
    }
    let status = status_of(pod, &orders.lock());
    if !is_new(pod, &status) {
        return Ok(None);
    }
    let status = Patch::Merge(json!({ "status": status }));
    let newer = pods
        .patch_status(&name, &PatchParams::default(), &status)
        .await?;
    Ok(Some(newer))
}

/// Returns the node that a pod asks for, as those of daemon sets do.
fn wanted_node(pod: &Pod) -> &'static str {
    let affinity = pod.spec.as_ref().and_then(|it| it.affinity.as_ref());
    let affinity = affinity.and_then(|it| it.node_affinity.as_ref());
    let required = affinity.and_then(|it| {
        it.required_during_scheduling_ignored_during_execution
            .as_ref()
    });
    let terms = required.into_iter().flat_map(|it| &it.node_selector_terms);
    let fields = terms.flat_map(|it| it.match_fields.iter().flatten());
    let names = fields.filter(|it| it.key == "metadata.name");
    let mut names = names.flat_map(|it| it.values.iter().flatten());
    let wanted = names.find_map(|name| NODES.into_iter().find(|node| node == name));
    wanted.unwrap_or(NODES[0])
}

async fn bind(client: &Client, namespace: &str, name: &str, node: &str) -> Result<()> {
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    });
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/binding");
    let request = http::Request::post(path).header("content-type", "application/json");
    client
        .request::<Value>(request.body(serde_json::to_vec(&binding)?)?)
        .await?;
    Ok(())
}

/// Tells whether a status says something that the pod does not have yet.
fn is_new(pod: &Pod, status: &Value) -> bool {
    let known = serde_json::to_value(&pod.status).unwrap_or_default();
    let conditions = known["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.any(|it| it["type"] == "Ready" && it["status"] == "True");
    let settled = ready
        || known["phase"] == "Succeeded"
        || known["phase"] == "Failed"
        || known["containerStatuses"] == status["containerStatuses"];
    !settled
}

/// The behaviour of a container.
enum Doing<'a> {
    Waiting,
    Running,
    Ended,
    Failed(&'a Crash),
    Crashing(&'a Crash),
}

fn status_of(pod: &Pod, orders: &Orders) -> Value {
    let spec = pod.spec.clone().unwrap_or_default();
    let policy = spec.restart_policy.as_deref().unwrap_or("Always");
    let mut statuses = Vec::new();
    let (mut all_run, mut all_ended, mut all_began, mut failed) = (true, true, true, false);
    for container in &spec.containers {
        let image = container.image.clone().unwrap_or_default();
        let doing = match orders.crashes.get(&image) {
            _ if orders.held.contains(&image) => Doing::Waiting,
            Some(crash) if policy == "Never" => Doing::Failed(crash),
            Some(crash) => Doing::Crashing(crash),
            None if policy != "Always" => Doing::Ended,
            None => Doing::Running,
        };
        all_run &= matches!(doing, Doing::Running);
        all_ended &= matches!(doing, Doing::Ended | Doing::Failed(_));
        failed |= matches!(doing, Doing::Failed(_));
        all_began &= !matches!(doing, Doing::Waiting);
        let mut status = container_status(&container.name, &image, &doing, orders);
        let before = started(pod, &container.name);
        if let Some(started) = before.filter(|_| matches!(doing, Doing::Running)) {
            status["state"]["running"]["startedAt"] = json!(started);
        }
        statuses.push(status);
    }
    let ready = if all_run { "True" } else { "False" };
    let phase = match (all_began, all_ended) {
        (false, _) => "Pending",
        (true, false) => "Running",
        (true, true) if failed => "Failed",
        (true, true) => "Succeeded",
    };
    let conditions = ["Initialized", "PodScheduled", "ContainersReady", "Ready"].map(|named| {
        let status = if named.ends_with("Ready") {
            ready
        } else {
            "True"
        };
        json!({"type": named, "status": status})
    });
    json!({"phase": phase, "conditions": conditions, "containerStatuses": statuses})
}

fn container_status(name: &str, image: &str, doing: &Doing<'_>, orders: &Orders) -> Value {
    let image_id = match doing {
        Doing::Waiting => String::new(),
        _ => orders
            .image_ids
            .get(image)
            .cloned()
            .unwrap_or_else(|| made_up_id(image)),
    };
    let runs = matches!(doing, Doing::Running);
    let mut status = json!({
        "name": name, "image": image, "imageID": image_id,
        "ready": runs, "started": runs, "restartCount": 0,
    });
    status["state"] = match doing {
        Doing::Waiting => json!({"waiting": {"reason": "ContainerCreating"}}),
        Doing::Running => json!({"running": {"startedAt": now()}}),
        Doing::Ended => json!({"terminated": {"exitCode": 0, "reason": "Completed"}}),
        Doing::Failed(crash) => crash.end(),
        Doing::Crashing(crash) => {
            status["restartCount"] = json!(crash.restarts);
            status["lastState"] = crash.end();
            json!({"waiting": {
                "reason": "CrashLoopBackOff", "message": "back-off restarting failed container",
            }})
        }
    };
    status
}

/// Returns when a container started that runs already.
fn started(pod: &Pod, container: &str) -> Option<Time> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let status = statuses.iter().find(|it| it.name == container)?;
    let running = status.state.as_ref()?.running.as_ref()?;
    running.started_at.clone()
}

/// Returns the time as nodes write it: in whole seconds.
fn now() -> Time {
    let now = Timestamp::now();
    Time(Timestamp::from_second(now.as_second()).unwrap_or(now))
}

/// Returns what a node would call an image: the repository with the digest, where there is none
/// one that only depends on the reference.
fn made_up_id(image: &str) -> String {
    if image.contains("@sha256:") {
        return image.to_owned();
    }
    let sum = image.bytes().fold(0_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    });
    format!("{image}@sha256:{sum:064x}")
}
