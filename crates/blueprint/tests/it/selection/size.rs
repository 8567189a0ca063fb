//! Blueprints far beyond any use get an answer, and not after a minute.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::selection::{Fault, Plan, Step, explain};
use serde_json::{Value, json};

const MANY: usize = 10_000;

fn blueprint(resources: &[Value]) -> Blueprint {
    let written = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "large"},
        "spec": {"resources": resources},
    });
    Blueprint::read(written).expect("a blueprint")
}

fn resource(index: usize, producer: Option<usize>) -> Value {
    let sources: Vec<Value> = producer
        .map(|producer| json!({"name": "in", "resource": format!("r{producer}")}))
        .into_iter()
        .collect();
    json!({
        "name": format!("r{index}"),
        "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"},
        "sources": sources,
    })
}

fn owner(labels: &Value) -> Owner {
    let owner = json!({"metadata": {"name": "app", "labels": labels}});
    Owner::read(OwnerKind::Workload, owner).expect("an owner")
}

/// A chain in which each resource takes from the next, and the last is for some owners only.
fn deep() -> Blueprint {
    let mut chain: Vec<Value> = (0..MANY)
        .map(|index| resource(index, Some(index + 1)))
        .collect();
    let mut last = resource(MANY, None);
    last["selector"] = json!({"matchLabels": {"go": "yes"}});
    chain.push(last);
    blueprint(&chain)
}

#[test]
fn a_chain_ten_thousand_deep_is_selected_or_skipped_as_a_whole() {
    let blueprint = deep();
    let plan = Plan::new(&blueprint).expect("a valid blueprint");
    assert!(
        plan.choose(&owner(&json!({"go": "yes"})))
            .iter()
            .all(Step::is_selected)
    );

    let steps = plan.choose(&owner(&json!({})));
    assert!(steps.iter().all(|step| matches!(step, Step::Skipped(_))));
    let reasons: Vec<String> = (0..steps.len())
        .map(|index| explain(&blueprint, index, &steps))
        .collect();
    assert_eq!(reasons[0], "the producer [r1] of input [in] is skipped");
    assert_eq!(reasons[MANY], "label [go] is not [yes]");
}

#[test]
fn a_cycle_through_ten_thousand_resources_is_named_briefly() {
    let cycle: Vec<Value> = (0..MANY)
        .map(|index| resource(index, Some((index + 1) % MANY)))
        .collect();
    let fault = Plan::new(&blueprint(&cycle)).expect_err("a cycle");
    assert!(matches!(&fault, Fault::Cycle(names) if names.len() == MANY + 1));
    let message = fault.to_string();
    assert!(message.len() < 300, "{message}");
    assert!(
        message.contains("r0") && message.contains("more"),
        "{message}"
    );
}

#[test]
fn ten_thousand_producers_of_one_resource_are_all_asked() {
    let mut resources: Vec<Value> = (0..MANY).map(|index| resource(index, None)).collect();
    let sources: Vec<Value> = (0..MANY)
        .map(|index| json!({"name": format!("in-{index}"), "resource": format!("r{index}")}))
        .collect();
    resources[MANY - 1]["selector"] = json!({"matchLabels": {"go": "yes"}});
    let mut last = resource(MANY, None);
    last["sources"] = json!(sources);
    resources.push(last);
    let blueprint = blueprint(&resources);
    let steps = Plan::new(&blueprint)
        .expect("a valid blueprint")
        .choose(&owner(&json!({})));
    assert_eq!(
        explain(&blueprint, MANY, &steps),
        format!(
            "the producer [r{}] of input [in-{}] is skipped",
            MANY - 1,
            MANY - 1
        )
    );
    assert_eq!(blueprint.selected(MANY, None).inputs.len(), MANY);

    let all = Plan::new(&blueprint)
        .expect("a valid blueprint")
        .choose(&owner(&json!({"go": "yes"})));
    let reason = explain(&blueprint, MANY, &all);
    assert!(
        reason.ends_with("[r9] and 9990 more are selected"),
        "{reason}"
    );
}

#[test]
fn the_last_of_a_thousand_options_is_found_and_their_reasons_stay_readable() {
    let options: Vec<Value> = (0..1_000)
        .map(|index| json!({"name": format!("t{index}"), "selector": {"matchLabels": {"n": index.to_string()}}}))
        .collect();
    let mut resource = resource(0, None);
    resource["templateRef"] = json!({"kind": "ClusterSourceTemplate", "options": options});
    let single = blueprint(std::slice::from_ref(&resource));
    resource["selector"] = json!({});
    let multi = blueprint(&[resource]);
    let last = Step::Selected { option: Some(999) };
    for blueprint in [&single, &multi] {
        let plan = Plan::new(blueprint).expect("a valid blueprint");
        assert_eq!(
            plan.choose(&owner(&json!({"n": "999"}))),
            std::slice::from_ref(&last)
        );
    }
    let steps = Plan::new(&multi)
        .expect("a valid blueprint")
        .choose(&owner(&json!({})));
    let reason = explain(&multi, 0, &steps);
    assert!(
        reason.starts_with("no option is selected: option 0: label [n] is not [0]; "),
        "{reason}"
    );
    assert!(reason.ends_with("; 990 more"), "{reason}");
}
