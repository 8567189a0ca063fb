//! Objects that Flux applied, wherever it is.

use pathline_lineage::Stage;
use pathline_lineage::rollout::{Object, all_named, judge, judge_across};
use serde_json::{Value, json};

use super::{below, complete, deployment, fails, pod, progresses, ready, replica_set, stage};

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
    let unready = kustomization("False");
    progresses(&stage(&unready, &running), "says: Reconciled: it says");
    let mut stalled = unready;
    let conditions = stalled["status"]["conditions"].as_array_mut();
    let stalled_says = json!({"type": "Stalled", "status": "True", "message": "no such path"});
    conditions.expect("there are some").push(stalled_says);
    fails(&stage(&stalled, &running), "no such path");
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
