//! Rollouts, by kind.

mod config_histories;
mod configs;
mod deployments;
mod inventories;
mod other_kinds;
mod owner_references;
mod selected;
mod sets;

use pathline_lineage::Stage;
use pathline_lineage::rollout::{Below, Object, judge};
use serde_json::{Value, json};

/// A pod below a controller.
pub(crate) fn pod(name: &str, controller: &str, status: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "dev", "uid": name,
            "ownerReferences": [{"kind": "ReplicaSet", "name": controller, "uid": controller, "controller": true}],
        },
        "spec": {"containers": [{"name": "app", "image": "registry.example/app:2"}]},
        "status": status,
    })
}

/// Returns the status of a pod that runs an image.
pub(crate) fn ready(image_id: &str) -> Value {
    json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "app", "imageID": image_id, "ready": true, "restartCount": 0}],
    })
}

fn crashing(restarts: i64) -> Value {
    json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [{
            "name": "app", "imageID": "", "ready": false, "restartCount": restarts,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
            "lastState": {"terminated": {"exitCode": 3, "message": "no such table: users\n"}},
        }],
    })
}

pub(crate) fn replica_set(name: &str, revision: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": "dev", "uid": name,
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [{"kind": "Deployment", "name": "app", "uid": "deployment", "controller": true}],
        },
    })
}

pub(crate) fn deployment(replicas: i64, status: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "app", "namespace": "dev", "uid": "deployment", "generation": 2,
            "annotations": {"deployment.kubernetes.io/revision": "2"},
        },
        "spec": {
            "replicas": replicas,
            "template": {"spec": {"containers": [{"name": "app", "image": "registry.example/app:2"}]}},
        },
        "status": status,
    })
}

pub(crate) fn complete(replicas: i64) -> Value {
    json!({
        "observedGeneration": 2, "replicas": replicas, "updatedReplicas": replicas,
        "readyReplicas": replicas, "availableReplicas": replicas,
    })
}

pub(crate) fn below(objects: &[Value]) -> Below {
    let mut below = Below::default();
    objects.iter().for_each(|object| below.seen(object));
    below
}

fn stage(object: &Value, others: &[Value]) -> Stage {
    judge(&Object::read(object), &below(others), &[]).stage
}

#[track_caller]
fn progresses(stage: &Stage, said: &str) {
    match stage {
        Stage::Progressing { why } => assert!(why.contains(said), "{why}"),
        other => panic!("{other:?} instead of: {said}"),
    }
}

#[track_caller]
fn fails(stage: &Stage, said: &str) {
    match stage {
        Stage::Failed { reason } => assert!(reason.contains(said), "{reason}"),
        other => panic!("{other:?} instead of: {said}"),
    }
}
