//! Stateful sets and daemon sets, whose pods carry their revision.

use pathline_lineage::Stage;
use pathline_lineage::rollout::{is_template_of, revision_name};
use serde_json::{Value, json};

use super::{complete, deployment, pod, progresses, ready, stage};

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
