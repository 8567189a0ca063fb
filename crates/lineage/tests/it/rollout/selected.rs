//! Objects that a template selects by labels.

use pathline_lineage::Stage;
use pathline_lineage::rollout::{Below, Object, judge_selected, judge_selected_pods};
use serde_json::{Value, json};

use super::{below, complete, crashing, deployment, fails, pod, progresses, ready, replica_set};

#[test]
fn selected_pods_must_all_run_what_was_made() {
    let root = Object::read(
        &json!({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "a", "uid": "root", "generation": 7}}),
    );
    let labelled = |name: &str, app: &str, status: Value| {
        let mut pod = pod(name, "someone", status);
        pod["metadata"]["labels"] = json!({"app": app, "of-this-pod-only": name});
        pod
    };
    let judged = |pods: &[Value]| {
        let mut below = Below::by_labels(["app".to_owned()].into());
        pods.iter().for_each(|it| below.seen(it));
        let labels = [("app".to_owned(), "a".to_owned())].into();
        judge_selected_pods(&root, Some(7), &labels, &below, &[]).stage
    };
    let other = labelled("p0", "other", json!({"phase": "Pending"}));
    progresses(&judged(std::slice::from_ref(&other)), "liveSelector");
    let [one, two] = ["p1", "p2"].map(|it| labelled(it, "a", ready("")));
    assert_eq!(judged(&[other, one.clone(), two.clone()]), Stage::Done);
    let pending = labelled("p2", "a", json!({"phase": "Pending"}));
    progresses(
        &judged(&[one.clone(), two, pending.clone()]),
        "1 of 2 pods are ready",
    );
    progresses(&judged(&[one.clone(), pending]), "1 of 2 pods are ready");
    fails(
        &judged(&[one, labelled("p3", "a", crashing(3))]),
        "crashed 3 times",
    );
}

#[test]
fn selected_objects_are_judged_in_place_of_what_is_below() {
    let root = |status: Value| {
        Object::read(
            &json!({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "a", "uid": "root", "generation": 7}, "status": status}),
        )
    };
    let all = below(&[replica_set("new", "2"), pod("n1", "new", ready(""))]);
    let selected = Object::read(&deployment(1, complete(1)));
    let judged = |observed, status| judge_selected(&root(status), observed, [&selected], &all, &[]);
    let rollout = judged(Some(7), json!({}));
    assert_eq!(
        (rollout.uid.as_str(), rollout.generation),
        ("root", Some(7))
    );
    assert_eq!(rollout.stage, Stage::Done);
    let none = judge_selected(&root(json!({})), Some(7), [], &all, &[]);
    progresses(&none.stage, "liveSelector");
    progresses(&judged(None, json!({})).stage, "observedGenerationPath");
    progresses(
        &judged(Some(6), json!({})).stage,
        "has not observed its generation",
    );
    let ready = |status: &str| json!({"conditions": [{"type": "Ready", "status": status, "message": "it says"}]});
    assert_eq!(judged(Some(7), ready("True")).stage, Stage::Done);
    progresses(&judged(Some(7), ready("Unknown")).stage, "not ready yet");
    let unready = judged(Some(7), ready("False"));
    progresses(&unready.stage, "App `a` says: it says");
}
