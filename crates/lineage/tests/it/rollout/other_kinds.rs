//! Jobs, tasks, Knative services, processes, and kinds that nobody knows.

use pathline_lineage::Stage;
use pathline_lineage::rollout::{Object, judge};
use serde_json::{Value, json};

use super::{
    below, complete, crashing, deployment, fails, pod, progresses, ready, replica_set, stage,
};

#[test]
fn job_is_live_when_it_is_complete() {
    let job = |kind: &str| {
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "migrate", "uid": "job", "generation": 1},
            "spec": {},
            "status": {"conditions": [{"type": kind, "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}]},
        })
    };
    assert_eq!(stage(&job("Complete"), &[]), Stage::Done);
    fails(
        &stage(&job("Failed"), &[]),
        "BackoffLimitExceeded: too often",
    );
    progresses(&stage(&job("Other"), &[]), "not complete");
    fails(
        &stage(&job("Other"), &[pod("p", "job", crashing(3))]),
        "no such table",
    );
}

#[test]
fn knative_service_is_live_by_its_newest_revision_alone() {
    let service = |status: Value| {
        json!({
            "apiVersion": "serving.knative.dev/v1", "kind": "Service",
            "metadata": {"name": "app", "uid": "service", "generation": 2},
            "spec": {"template": {"spec": {"containers": [{"image": "app:2"}]}}},
            "status": status,
        })
    };
    let child = |kind: &str, name: &str, owner: &str| {
        json!({
            "apiVersion": "serving.knative.dev/v1", "kind": kind,
            "metadata": {"name": name, "uid": name, "ownerReferences": [{"uid": owner, "controller": true}]},
        })
    };
    let status = json!({
        "observedGeneration": 2, "latestCreatedRevisionName": "r2", "latestReadyRevisionName": "r2",
        "conditions": [{"type": "Ready", "status": "True"}],
        "traffic": [{"revisionName": "r2", "percent": 100}],
    });
    let known = [
        child("Configuration", "c", "service"),
        child("Revision", "r2", "c"),
        child("Revision", "r1", "c"),
    ];
    assert_eq!(stage(&service(status.clone()), &known), Stage::Done);
    let mut split = status.clone();
    split["traffic"] =
        json!([{"revisionName": "r1", "percent": 50}, {"revisionName": "r2", "percent": 50}]);
    progresses(
        &stage(&service(split), &known),
        "revision `r1` still gets calls",
    );
    let mut created = status.clone();
    created["latestReadyRevisionName"] = json!("r1");
    progresses(
        &stage(&service(created), &known),
        "revision `r2` is not ready",
    );
    let old = [&known[..], &[pod("old", "r1", ready(""))]].concat();
    progresses(
        &stage(&service(status.clone()), &old),
        "1 old pods are still there",
    );
    let mut removed = [&known[..], &[child("Deployment", "d1", "r1")]].concat();
    removed.extend([child("ReplicaSet", "s1", "d1"), pod("old", "s1", ready(""))]);
    let mut removed = below(&removed);
    for gone in ["d1", "s1"] {
        removed.gone(gone);
        let judged = judge(&Object::read(&service(status.clone())), &removed, &[]);
        progresses(&judged.stage, "1 old pods are still there");
    }
    removed.gone("old");
    let judged = judge(&Object::read(&service(status.clone())), &removed, &[]);
    assert_eq!(judged.stage, Stage::Done);
    let mut failed = status;
    failed["conditions"] = json!([{"type": "Ready", "status": "False", "reason": "RevisionFailed", "message": "no image"}]);
    fails(&stage(&service(failed), &known), "RevisionFailed: no image");
}

#[test]
fn process_is_live_when_the_newest_generation_answers() {
    let process = |status: Value| {
        json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Process",
            "metadata": {"name": "app", "uid": "process", "generation": 2}, "status": status,
        })
    };
    let status = |observed: i64, ready: &str, running: Option<i64>, crashes: i64| {
        json!({
            "observedGeneration": observed, "restarts": 9, "crashes": crashes, "logTail": "one\ntwo\nno config\n",
            "running": running.map(|generation| json!({"generation": generation})),
            "conditions": [{"type": "Ready", "status": ready, "observedGeneration": observed, "reason": "Exited", "message": "it exited with 1"}],
        })
    };
    assert_eq!(
        stage(&process(status(2, "True", Some(2), 0)), &[]),
        Stage::Done
    );
    progresses(
        &stage(&process(status(1, "True", Some(1), 0)), &[]),
        "generation 2 has not been started",
    );
    progresses(
        &stage(&process(status(2, "False", Some(2), 0)), &[]),
        "it exited with 1",
    );
    progresses(
        &stage(&process(status(2, "False", None, 3)), &[]),
        "it exited with 1",
    );
    fails(
        &stage(&process(status(2, "False", None, 4)), &[]),
        "it exited with 1; it said: one / two / no config",
    );
    let mut traceback = status(2, "False", None, 4);
    let lines = "  File app.py, line 1\n".repeat(500);
    traceback["logTail"] = json!(format!("{lines}RuntimeError: port 80 is taken\n"));
    fails(
        &stage(&process(traceback), &[]),
        "line 1 / RuntimeError: port 80 is taken",
    );
    let mut taken = status(2, "False", None, 4);
    taken["conditions"][0]["reason"] = json!("PortTaken");
    progresses(&stage(&process(taken), &[]), "PortTaken");
}

/// A task of generation 3, by what it has observed and what its condition says of which generation.
fn task(observed: Option<i64>, succeeded: Option<(&str, Option<i64>)>) -> Value {
    let condition = succeeded.map(|(status, generation)| {
        let (reason, message) = match status {
            "True" => ("Succeeded", "it exited with 0"),
            "False" => ("Failed", "it exited with 1"),
            _ => ("Running", "it runs"),
        };
        json!({
            "type": "Succeeded", "status": status, "observedGeneration": generation,
            "reason": reason, "message": message,
        })
    });
    json!({
        "apiVersion": "pathline.dev/v1alpha1", "kind": "Task",
        "metadata": {"name": "smoke-test", "uid": "task", "generation": 3},
        "status": {
            "observedGeneration": observed, "conditions": condition.into_iter().collect::<Vec<_>>(),
            // The run before: it succeeded, which is no word on this one.
            "succeededGeneration": 2, "outputs": {"report": "passed"}, "logTail": "GET /healthz\n503\n",
        },
    })
}

#[test]
fn task_is_live_when_the_run_of_its_generation_has_succeeded() {
    let judged = |observed, succeeded| stage(&task(observed, succeeded), &[]);
    assert_eq!(judged(Some(3), Some(("True", Some(3)))), Stage::Done);
    let not_yet = [
        (None, None),
        (Some(3), None),
        (Some(2), Some(("True", Some(2)))),
        (Some(2), Some(("False", Some(2)))),
        // The condition is of the run before, or nobody says of which.
        (Some(3), Some(("True", Some(2)))),
        (Some(3), Some(("False", Some(2)))),
        (Some(3), Some(("True", None))),
        (None, Some(("True", Some(3)))),
        (Some(2), Some(("True", Some(3)))),
        (Some(4), Some(("True", Some(3)))),
    ];
    for (observed, succeeded) in not_yet {
        let judged = judged(observed, succeeded);
        progresses(&judged, "generation 3 has not been run yet");
    }
    progresses(&judged(Some(3), Some(("Unknown", Some(3)))), "it runs");
    fails(
        &judged(Some(3), Some(("False", Some(3)))),
        "Failed: it exited with 1; it said: GET /healthz / 503",
    );
    let mut silent = task(Some(3), Some(("False", Some(3))));
    silent["status"]["logTail"] = json!(null);
    assert_eq!(
        stage(&silent, &[]),
        Stage::Failed {
            reason: "Failed: it exited with 1".into()
        }
    );
}

#[test]
fn kind_that_nobody_knows_is_judged_by_what_it_controls() {
    let custom = |status: Value| {
        json!({
            "apiVersion": "example.org/v1", "kind": "App",
            "metadata": {"name": "app", "uid": "custom", "generation": 4}, "status": status,
        })
    };
    let mut child = deployment(1, complete(1));
    child["metadata"]["ownerReferences"] = json!([{"uid": "custom", "controller": true}]);
    let all = [child, replica_set("new", "2"), pod("n1", "new", ready(""))];
    let says = |ready: &str| json!({"observedGeneration": 4, "conditions": [{"type": "Ready", "status": ready, "message": "it says"}]});
    assert_eq!(stage(&custom(says("True")), &all), Stage::Done);
    progresses(&stage(&custom(says("False")), &all), "says: it says");
    progresses(
        &stage(&custom(json!({})), &all),
        "does not say that it is ready",
    );
    assert_eq!(stage(&custom(says("True")), &[]), Stage::None);
    let config =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "uid": "c"}});
    assert_eq!(stage(&config, &[]), Stage::None);
}
