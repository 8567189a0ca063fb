//! A stand-in for scheduler and kubelets: pods of a cluster without nodes "run" at once.

use std::collections::HashMap;
use std::sync::Arc;

use ::kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use ::kube::runtime::{WatchStreamExt, watcher};
use ::kube::{Api, Client, ResourceExt};
use anyhow::{Context, Result};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{Node, Pod};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The node on which everything "runs".
const NODE: &str = "stand-in";

/// How a container ends, again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// How often it was started again.
    pub restarts: i64,
    /// With what it ends.
    pub exit_code: i64,
    /// What it said last.
    pub message: String,
}

/// A stand-in for scheduler and kubelets: it binds pods to a node that is not there, and says of
/// each container that it runs, with an image id, or that it crashes. Ends when it is dropped.
pub struct Kubelets {
    orders: Arc<Mutex<Orders>>,
    task: JoinHandle<()>,
}

/// What to say of containers, by the image they ask for.
#[derive(Default)]
struct Orders {
    crashes: HashMap<String, Crash>,
    image_ids: HashMap<String, String>,
}

impl Kubelets {
    /// Adds a node and begins to look after pods of all namespaces.
    pub async fn start(client: Client) -> Result<Self> {
        add_node(&client)
            .await
            .context("the stand-in has no node")?;
        let orders = Arc::new(Mutex::new(Orders::default()));
        let task = tokio::spawn(look_after(client, orders.clone()));
        Ok(Self { orders, task })
    }

    /// Lets containers of an image crash from now on, in pods that are not ready yet.
    pub fn crash(&self, image: &str, crash: Crash) {
        self.orders.lock().crashes.insert(image.to_owned(), crash);
    }

    /// Lets an image have an id. Without, it is the reference, with its digest or one made up.
    pub fn identify(&self, image: &str, image_id: &str) {
        let image_ids = &mut self.orders.lock().image_ids;
        image_ids.insert(image.to_owned(), image_id.to_owned());
    }
}

impl Drop for Kubelets {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn add_node(client: &Client) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}});
    match nodes
        .create(&PostParams::default(), &serde_json::from_value(node)?)
        .await
    {
        Err(::kube::Error::Api(error)) if error.is_already_exists() => {}
        other => drop(other?),
    }
    let untainted = json!({"spec": {"taints": null}});
    nodes
        .patch(NODE, &PatchParams::default(), &Patch::Merge(untainted))
        .await?;
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "1000000"});
    let status = json!({"status": {
        "capacity": room, "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True", "reason": "StandIn"}],
    }});
    nodes
        .patch_status(NODE, &PatchParams::default(), &Patch::Strategic(status))
        .await?;
    Ok(())
}

async fn look_after(client: Client, orders: Arc<Mutex<Orders>>) {
    let pods: Api<Pod> = Api::all(client.clone());
    let events = watcher(pods, watcher::Config::default())
        .default_backoff()
        .applied_objects();
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        let Ok(pod) = event else {
            continue;
        };
        if let Err(error) = step(&client, &orders, &pod).await {
            // The next event of the pod tries again; one that is gone needs nothing.
            tracing::debug!(pod = pod.name_any(), %error, "the stand-in for kubelets");
        }
    }
}

/// Takes one pod one step further; the answer is the event for the next one.
async fn step(client: &Client, orders: &Mutex<Orders>, pod: &Pod) -> Result<()> {
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
        return Ok(());
    }
    if node.is_none() {
        return bind(client, &namespace, &name).await;
    }
    let status = status_of(pod, &orders.lock());
    if is_new(pod, &status) {
        let status = json!({ "status": status });
        pods.patch_status(&name, &PatchParams::default(), &Patch::Merge(status))
            .await?;
    }
    Ok(())
}

async fn bind(client: &Client, namespace: &str, name: &str) -> Result<()> {
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": NODE},
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
    let settled =
        known["phase"] == "Succeeded" || known["containerStatuses"] == status["containerStatuses"];
    !settled
}

fn status_of(pod: &Pod, orders: &Orders) -> Value {
    let spec = pod.spec.clone().unwrap_or_default();
    let ends = spec.restart_policy.is_some_and(|policy| policy != "Always");
    let mut statuses = Vec::new();
    let mut crashes = false;
    for container in &spec.containers {
        let image = container.image.clone().unwrap_or_default();
        let crash = orders.crashes.get(&image);
        crashes |= crash.is_some();
        statuses.push(container_status(
            &container.name,
            &image,
            crash,
            ends,
            orders,
        ));
    }
    let ready = if crashes || ends { "False" } else { "True" };
    let phase = if ends && !crashes {
        "Succeeded"
    } else {
        "Running"
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

fn container_status(
    name: &str,
    image: &str,
    crash: Option<&Crash>,
    ends: bool,
    orders: &Orders,
) -> Value {
    let image_id = orders.image_ids.get(image).cloned();
    let image_id = image_id.unwrap_or_else(|| made_up_id(image));
    let mut status = json!({
        "name": name, "image": image, "imageID": image_id,
        "ready": crash.is_none() && !ends, "started": crash.is_none() && !ends,
        "restartCount": crash.map_or(0, |crash| crash.restarts),
    });
    status["state"] = match crash {
        Some(_) => {
            json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off restarting failed container"}})
        }
        None if ends => json!({"terminated": {"exitCode": 0, "reason": "Completed"}}),
        None => json!({"running": {}}),
    };
    if let Some(crash) = crash {
        status["lastState"] = json!({"terminated": {
            "exitCode": crash.exit_code, "reason": "Error", "message": crash.message,
        }});
    }
    status
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
