//! Pods: which revision each is of, what it runs, whether it is ready or crashes.

use serde_json::Value;

use super::config::seconds;
use super::uses::Uses;

/// The label that pods share with the controller revision that they were made from.
pub(super) const REVISION_LABEL: &str = "controller-revision-hash";
/// From how many restarts on a crash loop is a failure.
const RESTARTS: i64 = 3;
/// The most of a container's last message that is told, in characters.
const MESSAGE: usize = 300;

/// One pod, by what it says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pod {
    pub(super) controller: String,
    /// The revision, as controllers that have no replica sets name it.
    pub(super) revision: String,
    pub(super) containers: Vec<Container>,
    pub(super) ready: bool,
    /// The reason why it will not run without a change.
    pub(super) crash: Option<String>,
    /// The reason why it does not run yet.
    pub(super) trouble: Option<String>,
    /// The ConfigMaps and Secrets that it reads.
    pub(super) uses: Uses,
    /// When it started; only kept if it reads some.
    pub(super) start: Option<Start>,
}

/// A time that nobody knows: it is before every other one, so that nothing follows from it.
pub(super) const UNKNOWN_TIME: i64 = i64::MIN;

/// When a pod was made, and when its containers started that read ConfigMaps or Secrets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    /// The second in which it was made, by the clock of the API server.
    pub(super) made: i64,
    /// The version of the object when it was made, if that was seen.
    pub(super) version: Option<u64>,
    /// The seconds in which the containers started, by the clocks of nodes; in the order of
    /// [`Uses::containers`].
    pub(super) containers: Box<[i64]>,
}

impl Start {
    fn of(pod: &Value, uses: &Uses) -> Option<Self> {
        if uses.is_empty() {
            return None;
        }
        let made = seconds(&pod["metadata"]["creationTimestamp"]);
        let started = |name: &String| {
            let status = all_statuses(pod).find(|it| it["name"] == name.as_str())?;
            let mut states = ["running", "terminated"].iter();
            states.find_map(|it| seconds(&status["state"][it]["startedAt"]))
        };
        let containers = uses.containers.iter();
        Some(Self {
            made: made.unwrap_or(UNKNOWN_TIME),
            version: None,
            containers: containers
                .map(|it| started(it).unwrap_or(UNKNOWN_TIME))
                .collect(),
        })
    }
}

/// The image that one container should run, and the one it runs.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Container {
    /// As the pod asks for it.
    pub(super) image: String,
    /// As the node says; empty while it does not run.
    pub(super) image_id: String,
}

/// Returns the uid of the object that controls another.
pub(super) fn controller_of(object: &Value) -> Option<&str> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    let controller = owners.iter().find(|it| it["controller"] == true)?;
    controller["uid"].as_str()
}

impl Pod {
    pub(super) fn read(pod: &Value) -> Self {
        let labels = pod.pointer("/metadata/labels");
        let label = labels.and_then(|it| it.get(REVISION_LABEL));
        let deleted = pod.pointer("/metadata/deletionTimestamp").is_some();
        let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
        let mut conditions = conditions.into_iter().flatten();
        let ready = conditions.any(|it| it["type"] == "Ready" && it["status"] == "True");
        let finished = pod.pointer("/status/phase") == Some(&Value::from("Succeeded"));
        let uses = Uses::of(pod);
        Self {
            start: Start::of(pod, &uses),
            uses,
            controller: controller_of(pod).unwrap_or_default().to_owned(),
            revision: label.and_then(Value::as_str).unwrap_or_default().to_owned(),
            containers: containers(pod),
            ready: (ready || finished) && !deleted,
            crash: crash(pod).filter(|_| !deleted),
            trouble: trouble(pod).filter(|_| !deleted),
        }
    }
}

fn containers(pod: &Value) -> Vec<Container> {
    let spec = pod.pointer("/spec/containers").and_then(Value::as_array);
    let mut containers: Vec<_> = spec
        .into_iter()
        .flatten()
        .map(|container| {
            let status = statuses(pod, "containerStatuses");
            let status = status.iter().find(|it| it["name"] == container["name"]);
            let image_id = status.and_then(|it| it["imageID"].as_str());
            Container {
                image: container["image"].as_str().unwrap_or_default().to_owned(),
                image_id: image_id.unwrap_or_default().to_owned(),
            }
        })
        .collect();
    containers.sort();
    containers
}

fn statuses<'a>(pod: &'a Value, list: &str) -> &'a [Value] {
    let statuses = pod.get("status").and_then(|it| it.get(list));
    statuses
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn all_statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    let init = statuses(pod, "initContainerStatuses").iter();
    init.chain(statuses(pod, "containerStatuses"))
}

/// Returns the reason that a pod gives for a crash loop, or for having failed.
fn crash(pod: &Value) -> Option<String> {
    let pod_name = pod.pointer("/metadata/name").and_then(Value::as_str);
    let pod_name = pod_name.unwrap_or_default();
    let looping = all_statuses(pod).find(|it| {
        let waits = it.pointer("/state/waiting/reason") == Some(&Value::from("CrashLoopBackOff"));
        waits && it["restartCount"].as_i64().unwrap_or_default() >= RESTARTS
    });
    looping.map(|status| {
        let container = status["name"].as_str().unwrap_or_default();
        let restarts = status["restartCount"].as_i64().unwrap_or_default();
        let last = &status["lastState"]["terminated"];
        let code = last["exitCode"].as_i64();
        let code = code.map_or_else(|| "an unknown code".to_owned(), |code| format!("exit code {code}"));
        let said = last["message"].as_str().filter(|it| !it.trim().is_empty());
        let said = said.or_else(|| last["reason"].as_str()).unwrap_or_default();
        let said: String = said.trim().chars().take(MESSAGE).collect();
        let said = if said.is_empty() { said } else { format!(": {said}") };
        format!("container `{container}` of pod `{pod_name}` is in CrashLoopBackOff: it crashed {restarts} times, last with {code}{said}")
    })
}

/// Returns why a container does not run yet.
fn trouble(pod: &Value) -> Option<String> {
    let usual = ["ContainerCreating", "PodInitializing"];
    all_statuses(pod).find_map(|status| {
        let waiting = &status["state"]["waiting"];
        let reason = waiting["reason"]
            .as_str()
            .filter(|it| !usual.contains(it))?;
        let message = waiting["message"].as_str().unwrap_or_default();
        let message: String = message.chars().take(MESSAGE).collect();
        let container = status["name"].as_str().unwrap_or_default();
        Some(
            format!("container `{container}` waits: {reason} {message}")
                .trim_end()
                .to_owned(),
        )
    })
}
