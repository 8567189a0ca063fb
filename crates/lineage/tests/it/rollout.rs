//! Last miles, by kind.

use pathline_lineage::Stage;
use pathline_lineage::rollout::{
    Below, Object, OwnerReference, Step, all_named, climb, is_template_of, judge, judge_across,
    judge_selected, judge_selected_pods, revision_name,
};
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

/// What a pod says that runs an image.
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

#[test]
fn stateful_set_is_rolled_out_by_its_update_revision() {
    let mut set = deployment(2, complete(2));
    set["kind"] = json!("StatefulSet");
    set["status"]["updateRevision"] = json!("r2");
    let member = |name: &str, revision: &str| {
        let mut member = pod(name, "deployment", ready(""));
        member["metadata"]["labels"] = json!({"controller-revision-hash": revision});
        member
    };
    assert_eq!(
        stage(&set, &[member("0", "r2"), member("1", "r2")]),
        Stage::Done
    );
    progresses(
        &stage(&set, &[member("0", "r1"), member("1", "r2")]),
        "1 of 2 pods are new",
    );
}

/// A daemon set of two nodes that says it is done.
fn daemon_set() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "app", "namespace": "dev", "uid": "daemon", "generation": 2},
        "spec": {},
        "status": {
            "observedGeneration": 2, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2,
            "numberAvailable": 2, "currentNumberScheduled": 2,
        },
    })
}

fn controller_revision(hash: &str, number: i64, controller: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {
            "name": format!("app-{hash}"), "namespace": "dev", "uid": format!("revision-{hash}"),
            "labels": {"controller-revision-hash": hash},
            "ownerReferences": [{"uid": controller, "controller": true}],
        },
        "revision": number,
    })
}

/// A ready pod of a revision of the daemon set.
fn daemon(name: &str, hash: &str) -> Value {
    let mut pod = pod(name, "daemon", ready(""));
    pod["metadata"]["labels"] = json!({"controller-revision-hash": hash});
    pod
}

#[test]
fn daemon_set_runs_on_every_node_that_wants_it() {
    let revision = controller_revision("b", 2, "daemon");
    let on_nodes = [revision, daemon("1", "b"), daemon("2", "b")];
    assert_eq!(stage(&daemon_set(), &on_nodes), Stage::Done);
    progresses(&stage(&daemon_set(), &on_nodes[..2]), "1 of 2 pods are new");
    let mut old = daemon_set();
    old["status"]["updatedNumberScheduled"] = json!(1);
    progresses(&stage(&old, &on_nodes), "1 of 2 pods are new");
    let mut nowhere = daemon_set();
    nowhere["status"] = json!({"observedGeneration": 2});
    progresses(&stage(&nowhere, &on_nodes), "nothing runs");
}

#[test]
fn daemon_set_is_rolled_out_by_its_newest_controller_revision() {
    let revision = controller_revision;
    let pods = |hashes: [&str; 2]| [daemon("1", hashes[0]), daemon("2", hashes[1])];
    let unknown = "its newest revision is not known yet";
    let mut unlabelled = revision("b", 2, "daemon");
    unlabelled["metadata"]["labels"] = json!({});
    let mut foreign = revision("b", 2, "daemon");
    foreign["apiVersion"] = json!("example.org/v1");
    for (revisions, hashes, missing) in [
        // Its status speaks of new pods, and all that have been seen are old ones.
        (vec![], ["a", "a"], Some(unknown)),
        (vec![revision("b", 2, "another")], ["b", "b"], Some(unknown)),
        (vec![foreign], ["b", "b"], Some(unknown)),
        (vec![unlabelled], ["b", "b"], Some(unknown)),
        (
            vec![revision("a", 1, "daemon"), revision("b", 2, "daemon")],
            ["a", "a"],
            Some("0 of 2 pods are new"),
        ),
        (
            vec![revision("b", 2, "daemon"), revision("a", 1, "daemon")],
            ["b", "a"],
            Some("1 of 2 pods are new"),
        ),
        (
            vec![revision("b", 2, "daemon"), revision("a", 1, "daemon")],
            ["b", "b"],
            None,
        ),
        // Numbers are no texts, and a revision that is rolled back to gets the highest one.
        (
            vec![revision("a", 10, "daemon"), revision("b", 9, "daemon")],
            ["a", "a"],
            None,
        ),
        (
            vec![revision("a", 10, "daemon"), revision("b", 9, "daemon")],
            ["b", "b"],
            Some("0 of 2 pods are new"),
        ),
    ] {
        let told = format!("{revisions:?} with {hashes:?}");
        let stage = stage(&daemon_set(), &[revisions, pods(hashes).into()].concat());
        match missing {
            Some(missing) => progresses(&stage, missing),
            None => assert_eq!(stage, Stage::Done, "{told}"),
        }
    }
    let old = [
        revision("a", 1, "daemon"),
        revision("b", 2, "daemon"),
        daemon("1", "b"),
        daemon("2", "b"),
        daemon("3", "a"),
    ];
    progresses(&stage(&daemon_set(), &old), "1 old pods are still there");
}

#[test]
fn pod_leads_to_the_revision_that_it_was_made_from() {
    let pod = daemon("1", "5d8f");
    let name = |kind: &str| revision_name(kind, "app", &pod);
    assert_eq!(name("DaemonSet").as_deref(), Some("app-5d8f"));
    assert_eq!(name("StatefulSet").as_deref(), Some("5d8f"));
    assert_eq!(name("ReplicaSet"), None);
    let unlabelled = json!({"metadata": {"labels": {}}});
    assert_eq!(revision_name("DaemonSet", "app", &unlabelled), None);
}

#[test]
fn revision_is_that_of_an_object_if_it_holds_its_template() {
    let template = |image: &str| json!({"spec": {"containers": [{"name": "app", "image": image}]}});
    let object = |image: &str| json!({"spec": {"replicas": 2, "template": template(image)}});
    let mut revision = json!({"data": object("app:1"), "revision": 1});
    revision["data"]["spec"]["template"]["$patch"] = json!("replace");
    revision["data"]["spec"]["template"]["metadata"] = json!({"creationTimestamp": null});
    let mut same = object("app:1");
    same["spec"]["template"]["metadata"] = json!({});
    assert!(is_template_of(&revision, &same));
    assert!(!is_template_of(&revision, &object("app:2")));
    let nothing = json!({"metadata": {}});
    assert!(!is_template_of(&nothing, &same));
    assert!(!is_template_of(&revision, &nothing));
    assert!(!is_template_of(&nothing, &nothing));
}

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
fn kustomization_is_live_when_all_of_its_inventory_is() {
    let kustomization = |ready: &str| {
        json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "app", "uid": "kustomization", "generation": 1},
            "status": {
                "observedGeneration": 1,
                "lastAppliedRevision": "main@sha1:1", "lastAttemptedRevision": "main@sha1:1",
                "conditions": [{"type": "Ready", "status": ready, "reason": "Reconciled", "message": "it says"}],
                "inventory": {"entries": [
                    {"id": "dev_app_apps_Deployment", "v": "v1"},
                    {"id": "dev_app__ConfigMap", "v": "v1"},
                ]},
            },
        })
    };
    let named = all_named(&Object::read(&kustomization("True")), |_| None);
    let named: Vec<_> = named
        .iter()
        .map(|it| [&it.group, &it.kind, &it.name])
        .collect();
    assert_eq!(
        named,
        [["apps", "Deployment", "app"]],
        "a ConfigMap does not run"
    );
    let running = [
        deployment(1, complete(1)),
        replica_set("new", "2"),
        pod("n1", "new", ready("")),
    ];
    assert_eq!(stage(&kustomization("True"), &running), Stage::Done);
    progresses(
        &stage(&kustomization("True"), &running[..2]),
        "0 of 1 pods are new",
    );
    progresses(
        &stage(&kustomization("True"), &[]),
        "Deployment `app` has not been seen yet",
    );
    progresses(
        &stage(&kustomization("Unknown"), &running),
        "has not applied everything yet",
    );
    fails(
        &stage(&kustomization("False"), &running),
        "Reconciled: it says",
    );
}

#[test]
fn process_is_live_when_the_newest_generation_answers() {
    let process = |status: Value| {
        json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Process",
            "metadata": {"name": "app", "uid": "process", "generation": 2}, "status": status,
        })
    };
    let status = |observed: i64, ready: &str, running: Option<i64>, restarts: i64| {
        json!({
            "observedGeneration": observed, "restarts": restarts, "logTail": "one\ntwo\nno config\n",
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
        &stage(&process(status(2, "False", None, 2)), &[]),
        "it exited with 1",
    );
    fails(
        &stage(&process(status(2, "False", None, 3)), &[]),
        "it exited with 1; it said: one / two / no config",
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
    fails(&stage(&custom(says("False")), &all), "it says");
    progresses(
        &stage(&custom(json!({})), &all),
        "does not say that it is ready",
    );
    assert_eq!(stage(&custom(says("True")), &[]), Stage::None);
    let config =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "uid": "c"}});
    assert_eq!(stage(&config, &[]), Stage::None);
}

#[test]
fn inventories_that_name_each_other_or_other_namespaces_are_followed_once() {
    let kustomization = |name: &str, namespace: &str, entries: &[&str]| {
        let entries: Vec<_> = entries
            .iter()
            .map(|id| json!({"id": id, "v": "v1"}))
            .collect();
        json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": name, "namespace": namespace, "uid": name, "generation": 1},
            "status": {
                "observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}],
                "inventory": {"entries": entries},
            },
        })
    };
    let outer = kustomization(
        "outer",
        "flux",
        &[
            "flux_outer_kustomize.toolkit.fluxcd.io_Kustomization",
            "team_inner_kustomize.toolkit.fluxcd.io_Kustomization",
        ],
    );
    let inner = kustomization("inner", "team", &["dev_app_apps_Deployment"]);
    let places = |pods: &[Value]| {
        let deployed = [deployment(1, complete(1)), replica_set("new", "2")];
        [
            ("flux", below(std::slice::from_ref(&outer))),
            ("team", below(std::slice::from_ref(&inner))),
            ("dev", below(&[&deployed[..], pods].concat())),
        ]
    };
    let judged = |pods: &[Value]| {
        let places = places(pods);
        let place = |named: &str| {
            let mut places = places.iter();
            places.find(|(name, _)| *name == named).map(|(_, it)| it)
        };
        let outer = Object::read(&outer);
        assert_eq!(all_named(&outer, place).len(), 3);
        judge_across(&outer, place, &[]).stage
    };
    assert_eq!(judged(&[pod("n1", "new", ready(""))]), Stage::Done);
    progresses(&judged(&[]), "0 of 1 pods are new");
    let alone = below(std::slice::from_ref(&outer));
    assert_eq!(judge(&Object::read(&outer), &alone, &[]).stage, {
        Stage::Progressing {
            why: "Kustomization `inner` has not been seen yet".into(),
        }
    });
}

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
    fails(&judged(Some(7), ready("False")).stage, "App `a`: it says");
}

#[test]
fn owner_references_that_lead_in_a_circle_do_no_harm() {
    let link = |name: &str, owner: &str| {
        json!({
            "apiVersion": "example.org/v1", "kind": "Link",
            "metadata": {"name": name, "uid": name, "ownerReferences": [{"uid": owner, "controller": true}]},
        })
    };
    let circle = [link("a", "b"), link("b", "a")];
    assert_eq!(stage(&circle[0], &circle), Stage::None);
    let up = |uid: &str| {
        let owner = if uid == "a" { "b" } else { "a" };
        Step::<()>::ControlledBy(OwnerReference {
            api_version: "example.org/v1".into(),
            kind: "Link".into(),
            name: owner.into(),
            uid: owner.into(),
        })
    };
    assert_eq!(climb("a", up), (vec!["a".into(), "b".into()], None));
}

#[test]
fn pod_leads_up_to_what_was_stamped() {
    let up = |uid: &str| match uid {
        "pod" => Step::ControlledBy(OwnerReference {
            api_version: "apps/v1".into(),
            kind: "ReplicaSet".into(),
            name: "app-5d".into(),
            uid: "set".into(),
        }),
        "set" => Step::ControlledBy(OwnerReference {
            api_version: "apps/v1".into(),
            kind: "Deployment".into(),
            name: "app".into(),
            uid: "deployment".into(),
        }),
        "deployment" => Step::Stamped("workload app"),
        _ => Step::End,
    };
    let (way, found) = climb("pod", up);
    assert_eq!(way, ["pod", "set", "deployment"]);
    assert_eq!(found, Some("workload app"));
    assert_eq!(climb("other", up), (vec!["other".into()], None));
}
