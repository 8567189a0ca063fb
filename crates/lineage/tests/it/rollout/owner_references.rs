//! From a pod up to what was stamped.

use pathline_lineage::Stage;
use pathline_lineage::rollout::{OwnerReference, Step, climb};
use serde_json::json;

use super::stage;

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
