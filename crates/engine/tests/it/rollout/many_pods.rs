//! Very many pods under one owner: they are counted, not kept.

use std::sync::Arc;

use http::{Request, Response};
use kube::Client;
use kube::client::Body;

use super::*;

/// The number of events that one answer to a watch has.
const BATCH: usize = 1_000;
/// The size of a pod, about, in bytes; real ones are rather larger.
const SIZE: usize = 2_000;
/// The longest time that it may take to feed all of it to an engine, not optimised and on a busy machine.
const FEEDING: Duration = Duration::from_secs(1_200);
/// By how many MB the process may grow; all pods together are more than three times as large.
const GROWTH: usize = 60;

#[tokio::test]
async fn rollout_of_very_many_pods_is_followed_within_a_little_memory() {
    let pods = if pathline_testkit::is_nightly() {
        100_000
    } else {
        3_000
    };
    let mut world = World::embedded().await;
    world.stop_engine().await;
    let feed = Arc::new(Feed::new(pods));
    let fed = feed.clone();
    world.connection = world
        .connection
        .clone()
        .map(|client| feeding(client, fed.clone()));
    world.start_engine();
    let mut body = deployment();
    body["spec"]["replicas"] = json!(pods);
    world.apply_one_resource(body, &["debug", "image"]).await;
    let before = resident_mb();
    world
        .apply_params(&[("debug", "on"), ("image", "app:1")])
        .await;
    feed.sets
        .send_replace(Some(world.play_deployment(pods).await));
    world
        .wait_missing(1, "param:debug=on", "pods are new")
        .await;
    feed.begin.send_replace(true);
    feed.wait_taken().await;
    world.wait_live(1).await;

    let grown = resident_mb().saturating_sub(before);
    println!(
        "{pods} pods replaced, {} MB of them: the process grew by {grown} MB",
        2 * pods * SIZE / 1_000_000
    );
    assert!(
        !pathline_testkit::is_nightly() || grown < GROWTH,
        "{grown} MB"
    );
    world.end().await;
}

/// A server of pods: it lists the old ones page by page, then puts new ones in their place.
struct Feed {
    pods: usize,
    /// The number of answers to watches.
    answered: tokio::sync::watch::Sender<usize>,
    /// The uids of the old and the new replica set, once they are there.
    sets: tokio::sync::watch::Sender<Option<[String; 2]>>,
    /// Whether the old pods are replaced now.
    begin: tokio::sync::watch::Sender<bool>,
}

impl Feed {
    fn new(pods: usize) -> Self {
        Self {
            pods,
            answered: tokio::sync::watch::Sender::new(0),
            sets: tokio::sync::watch::Sender::new(None),
            begin: tokio::sync::watch::Sender::new(false),
        }
    }

    /// Answers a list, or a watch with its next events; one that has none is not answered.
    async fn answer(&self, query: &str) -> Response<Body> {
        let asked: Vec<_> = query
            .split('&')
            .filter_map(|it| it.split_once('='))
            .collect();
        let number = |named: &str| {
            let found = asked.iter().find(|(name, _)| *name == named);
            found.and_then(|(_, value)| value.parse::<usize>().ok())
        };
        let mut sets = self.sets.subscribe();
        let sets = sets.wait_for(Option::is_some).await.unwrap().clone();
        let [old, new] = &sets.unwrap();
        if !query.contains("watch=true") {
            let limit = number("limit").unwrap_or(self.pods);
            return self.page(old, number("continue").unwrap_or(0), limit);
        }
        let mut begin = self.begin.subscribe();
        begin.wait_for(|begun| *begun).await.unwrap();
        let mut first = 0;
        self.answered.send_modify(|answered| {
            first = *answered * BATCH;
            *answered += 1;
        });
        if first >= self.pods {
            std::future::pending::<()>().await;
        }
        let mut events = Vec::new();
        for index in first..(first + BATCH).min(self.pods) {
            let changes = [
                ("ADDED", pod(index, new, false)),
                ("MODIFIED", pod(index, new, true)),
                ("DELETED", pod(index, old, true)),
            ];
            for (change, object) in changes {
                let event = json!({"type": change, "object": object});
                events.extend(event.to_string().into_bytes());
                events.push(b'\n');
            }
        }
        Response::new(Body::from(events))
    }

    /// Waits until more events are asked for than there are.
    async fn wait_taken(&self) {
        let mut answered = self.answered.subscribe();
        let taken = answered.wait_for(|answered| *answered > self.pods.div_ceil(BATCH));
        let taken = tokio::time::timeout(FEEDING, taken).await;
        taken.expect("all events are taken in time").unwrap();
    }

    fn page(&self, set: &str, from: usize, limit: usize) -> Response<Body> {
        let until = (from + limit).min(self.pods);
        let items: Vec<_> = (from..until).map(|it| pod(it, set, true)).collect();
        let next = if until < self.pods {
            until.to_string()
        } else {
            String::new()
        };
        let list = json!({
            "apiVersion": "v1", "kind": "PodList",
            "metadata": {"resourceVersion": "1", "continue": next}, "items": items,
        });
        Response::new(Body::from(list.to_string().into_bytes()))
    }
}

fn pod(index: usize, set: &str, is_ready: bool) -> Value {
    let name = format!("{set}-{index}");
    let ready = if is_ready { "True" } else { "False" };
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": set, "controller": true});
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "uid": name, "namespace": "any", "resourceVersion": "2",
            "annotations": {"size": "x".repeat(SIZE)}, "ownerReferences": [owner],
        },
        "spec": {"containers": [{"name": "app", "image": "app:1"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]},
    })
}

/// Lets a client have its pods from a feed, and everything else from where it was.
fn feeding(client: Client, feed: Arc<Feed>) -> Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, feed) = (client.clone(), feed.clone());
        async move {
            let query = request.uri().query().unwrap_or_default().to_owned();
            // What is stamped is watched by a label; it is not what lies below.
            let is_below =
                request.uri().path().ends_with("/pods") && !query.contains("labelSelector");
            if !is_below {
                return client.send(request).await;
            }
            Ok(feed.answer(&query).await)
        }
    });
    Client::new(service, "default")
}

/// Returns how much memory the process has.
fn resident_mb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<usize>().unwrap() / 1_024
}

impl World {
    /// Plays the controller of Deployments: says that all pods are new, whatever there is. Returns the
    /// uids of the old and of the new replica set.
    async fn play_deployment(&self, pods: usize) -> [String; 2] {
        let stamped = self.wait_stamped("apps/v1", "Deployment", 1).await;
        let revision = |number: &str| json!({"deployment.kubernetes.io/revision": number});
        let mut uids = Vec::new();
        for number in ["1", "2"] {
            let labels = json!({"app": "app"});
            let mut set = json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {
                    "name": format!("app-{number}"), "annotations": revision(number),
                    "ownerReferences": controlled_by(&stamped),
                },
                "spec": {"replicas": pods, "selector": {"matchLabels": labels}},
            });
            set["spec"]["template"] = stamped["spec"]["template"].clone();
            let set = self.put(set).await;
            uids.push(set["metadata"]["uid"].as_str().unwrap().to_owned());
        }
        self.put(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "app", "annotations": revision("2")},
            "status": {
                "observedGeneration": 1, "replicas": pods, "updatedReplicas": pods, "availableReplicas": pods,
            },
        }))
        .await;
        uids.try_into().unwrap()
    }
}
