//! Deployments: new pods, old pods, crashes, images.

use pathline_lineage::Stage;
use pathline_lineage::rollout::{Below, Object, judge};
use serde_json::json;

use super::{
    below, complete, crashing, deployment, fails, pod, progresses, ready, replica_set, stage,
};

#[test]
fn deployment_is_rolled_out_when_the_new_pods_are_ready_and_the_old_are_gone() {
    let sets = [replica_set("new", "2"), replica_set("old", "1")];
    let new = [pod("n1", "new", ready("")), pod("n2", "new", ready(""))];
    let all = [&sets[..], &new[..]].concat();
    let rollout = judge(
        &Object::read(&deployment(2, complete(2))),
        &below(&all),
        &[],
    );
    assert_eq!(rollout.stage, Stage::Done);
    assert_eq!(
        (rollout.uid.as_str(), rollout.generation),
        ("deployment", Some(2))
    );
    let with_old = [&all[..], &[pod("o1", "old", ready(""))]].concat();
    progresses(
        &stage(&deployment(2, complete(2)), &with_old),
        "1 old pods are still there",
    );
}

#[test]
fn deployment_that_is_not_done_says_what_is_missing() {
    let set = replica_set("new", "2");
    let new = pod("n1", "new", ready(""));
    let status = |name: &str, value: i64| {
        let mut status = complete(2);
        status[name] = json!(value);
        status
    };
    let both = [set.clone(), new, pod("n2", "new", ready(""))];
    for (status, others, said) in [
        (
            status("observedGeneration", 1),
            &both[..],
            "generation 2 has not been observed yet",
        ),
        (complete(2), &[], "its new replica set is not there yet"),
        (
            complete(2),
            &[replica_set("old", "1")],
            "its new replica set is not there yet",
        ),
        (complete(2), &both[..2], "1 of 2 pods are new"),
        (
            status("updatedReplicas", 1),
            &both[..],
            "1 of 2 pods are new",
        ),
        (
            status("availableReplicas", 1),
            &both[..],
            "1 of 2 new pods are ready",
        ),
        (
            status("replicas", 3),
            &both[..],
            "1 old pods are still there",
        ),
    ] {
        progresses(&stage(&deployment(2, status), others), said);
    }
    progresses(&stage(&deployment(0, complete(0)), &[set]), "nothing runs");
    let mut paused = deployment(2, complete(2));
    paused["spec"]["paused"] = json!(true);
    progresses(&stage(&paused, &both), "paused");
}

#[test]
fn pod_that_is_being_deleted_still_runs() {
    let mut leaving = pod("o1", "old", ready(""));
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let all = [
        replica_set("new", "2"),
        replica_set("old", "1"),
        pod("n1", "new", ready("")),
        leaving,
    ];
    progresses(
        &stage(&deployment(1, complete(1)), &all),
        "1 old pods are still there",
    );
}

#[test]
fn pods_count_although_what_controlled_them_is_gone() {
    let new = [replica_set("new", "2"), pod("n1", "new", ready(""))];
    let old = [replica_set("old", "1"), pod("o1", "old", ready(""))];
    let judged =
        |below: &Below| judge(&Object::read(&deployment(1, complete(1))), below, &[]).stage;

    let mut deleted = below(&[&new[..], &old[..]].concat());
    deleted.gone("old");
    progresses(&judged(&deleted), "1 old pods are still there");
    deleted.gone("o1");
    assert_eq!(judged(&deleted), Stage::Done);
    assert!(deleted.get("old").is_none(), "it controls nothing any more");

    let mut listed_anew = below(&[&new[..], &old[..]].concat());
    listed_anew.replace("apps", "ReplicaSet", below(&new[..1]));
    progresses(&judged(&listed_anew), "1 old pods are still there");
    listed_anew.replace("", "Pod", below(&new[1..]));
    assert_eq!(judged(&listed_anew), Stage::Done);
    assert!(listed_anew.get("old").is_none());
}

#[test]
fn three_crashes_fail_with_what_the_container_said() {
    let rollout = |restarts: i64| {
        let mut status = complete(1);
        status["availableReplicas"] = json!(0);
        let all = [
            replica_set("new", "2"),
            pod("n1", "new", crashing(restarts)),
        ];
        stage(&deployment(1, status), &all)
    };
    progresses(&rollout(2), "CrashLoopBackOff back-off 40s");
    fails(
        &rollout(3),
        "container `app` of pod `n1` is in CrashLoopBackOff: it crashed 3 times, last with exit code 3: no such table: users",
    );
}

#[test]
fn crash_of_an_old_pod_does_not_count() {
    let all = [
        replica_set("new", "2"),
        replica_set("old", "1"),
        pod("n1", "new", ready("")),
        pod("o1", "old", crashing(9)),
    ];
    progresses(
        &stage(&deployment(1, complete(1)), &all),
        "1 old pods are still there",
    );
}

#[test]
fn deadline_fails_the_rollout() {
    let mut status = complete(1);
    status["conditions"] = json!([{
        "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet \"new\" has timed out progressing.",
    }]);
    fails(
        &stage(&deployment(1, status), &[replica_set("new", "2")]),
        "has timed out progressing",
    );
}

#[test]
fn image_runs_if_a_node_says_so_or_the_pod_is_pinned() {
    let digest = |letter: &str| format!("sha256:{}", letter.repeat(64));
    let wanted = format!("registry.example/app:2@{}", digest("a"));
    let rollout = |asked: &str, image_id: &str| {
        let mut object = deployment(1, complete(1));
        object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(asked);
        let mut running = pod("n1", "new", ready(image_id));
        running["spec"]["containers"][0]["image"] = json!(asked);
        let all = below(&[replica_set("new", "2"), running]);
        judge(&Object::read(&object), &all, std::slice::from_ref(&wanted)).stage
    };
    let tag = "registry.example/app:2";
    assert_eq!(
        rollout(tag, &format!("registry.example/app@{}", digest("a"))),
        Stage::Done
    );
    assert_eq!(
        rollout(&wanted, &format!("registry.example/app@{}", digest("b"))),
        Stage::Done
    );
    progresses(
        &rollout(tag, &format!("registry.example/app@{}", digest("b"))),
        "does not run, but",
    );
    progresses(&rollout(tag, ""), "no node says yet");
    progresses(&rollout(&wanted, ""), "no node says yet");
    // An image that the pods do not name was used for something else.
    assert_eq!(rollout("registry.example/other:1", ""), Stage::Done);
}
