//! The rules of paths, one by one.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::selection::{Action, NoTemplate, Plan, Step, explain};
use serde_json::{Value, json};

fn blueprint(kind: &str, resources: &Value) -> Blueprint {
    let written = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": kind,
        "metadata": {"name": "chain"},
        "spec": {"resources": resources},
    });
    Blueprint::read(written).expect("a blueprint")
}

fn chain(resources: &Value) -> Blueprint {
    blueprint("ClusterSupplyChain", resources)
}

fn steps(blueprint: &Blueprint, owner: Value) -> Vec<Step> {
    let owner = Owner::read(blueprint.owner_kind, owner).expect("an owner");
    Plan::new(blueprint)
        .expect("a valid blueprint")
        .choose(&owner)
}

fn reasons(blueprint: &Blueprint, steps: &[Step]) -> Vec<String> {
    (0..steps.len())
        .map(|index| explain(blueprint, index, steps))
        .collect()
}

fn fault(resources: &Value) -> String {
    Plan::new(&chain(resources))
        .expect_err("a fault")
        .to_string()
}

const ONE: Step = Step::Selected { option: None };

fn option(index: usize) -> Step {
    Step::Selected {
        option: Some(index),
    }
}

#[test]
fn a_selector_that_is_present_but_empty_matches_only_on_several_paths() {
    let options =
        json!([{"name": "a", "selector": {}}, {"name": "b", "selector": {"matchLabels": null}}]);
    let template = json!({"kind": "ClusterSourceTemplate", "options": options});
    let single = chain(&json!([{"name": "r", "templateRef": template}]));
    assert!(!single.is_multi_path());
    assert_eq!(
        steps(&single, json!({})),
        [Step::Failed(NoTemplate::Matches(vec![]))]
    );

    let multi = chain(&json!([{"name": "r", "selector": {}, "templateRef": template}]));
    assert!(multi.is_multi_path());
    assert_eq!(steps(&multi, json!({})), [option(0)]);
}

#[test]
fn null_is_no_selector_and_an_empty_list_no_inputs() {
    let with = |extra: Value| {
        let mut option = json!({"name": "a", "selector": {"matchLabels": {"x": "y"}}, "sources": [], "images": null});
        option
            .as_object_mut()
            .expect("an object")
            .extend(extra.as_object().expect("an object").clone());
        let template =
            json!({"kind": "ClusterSourceTemplate", "options": [option.clone(), option]});
        chain(&json!([{"name": "r", "selector": null, "templateRef": template}])).is_multi_path()
    };
    assert!(!with(json!({})));
    assert!(with(json!({"selector": null})));
    assert!(with(json!({"configs": [{"name": "c", "resource": "r"}]})));
}

#[test]
fn who_needs_a_failed_resource_is_skipped_and_says_so() {
    let blueprint = chain(&json!([
        {"name": "last", "templateRef": {"kind": "ClusterTemplate", "name": "t"}, "images": [{"name": "i", "resource": "middle"}]},
        {
            "name": "middle",
            "templateRef": {"kind": "ClusterImageTemplate", "options": [
                {"name": "t", "sources": [{"name": "s", "resource": "broken"}]},
                {"name": "u", "selector": {"matchLabels": {"a": "b"}}},
            ]},
        },
        {
            "name": "broken",
            "selector": {"matchFields": [{"key": "spec.params[3].name", "operator": "Exists"}]},
            "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"},
        },
    ]));
    let owner = |labels: Value| json!({"metadata": {"labels": labels}, "spec": {"params": []}});
    let steps_of_none = steps(&blueprint, owner(json!({})));
    assert_eq!(
        reasons(&blueprint, &steps_of_none),
        [
            "the producer [middle] of input [i] is skipped",
            "no option is selected: option 0: the producer [broken] of input [s] has failed; \
             option 1: label [a] is not [b]",
            "its selector cannot be evaluated: invalid jsonpath for key [spec.params[3].name]: \
             failed to find results: array index out of bounds: index 3, length 0",
        ]
    );
    assert!(matches!(
        &steps_of_none[2],
        Step::Failed(NoTemplate::OwnSelector(_))
    ));
    assert_eq!(
        steps(&blueprint, owner(json!({"a": "b"})))[..2],
        [ONE, option(1)]
    );
}

#[test]
fn a_broken_key_is_an_error_until_an_option_before_it_is_selected() {
    let options = json!([
        {"name": "good", "selector": {"matchLabels": {"a": "b"}}},
        {"name": "bad", "selector": {"matchFields": [{"key": "spec[", "operator": "Exists"}]}},
        {"name": "any"},
    ]);
    let template = json!({"kind": "ClusterSourceTemplate", "options": options});
    let blueprint = chain(&json!([{"name": "r", "templateRef": template}]));
    assert_eq!(
        steps(&blueprint, json!({"metadata": {"labels": {"a": "b"}}})),
        [option(0)]
    );
    let failed = steps(&blueprint, json!({}));
    assert!(
        matches!(&failed[0], Step::Failed(NoTemplate::Selector { option, .. }) if option == "bad")
    );
}

#[test]
fn inputs_of_the_chosen_option_add_to_those_of_the_resource() {
    let blueprint = chain(&json!([
        {"name": "a", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}},
        {"name": "b", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}},
        {
            "name": "c",
            "sources": [{"name": "own", "resource": "a"}],
            "templateRef": {"kind": "ClusterSourceTemplate", "options": [
                {"passThrough": "other", "sources": [{"name": "other", "resource": "b"}, {"name": "own", "resource": "a"}]},
                {"name": "t", "sources": [{"name": "other", "resource": "a"}]},
            ]},
        },
    ]));
    let selected = blueprint.selected(2, Some(0));
    assert_eq!(selected.action, Action::PassThrough("other"));
    let names: Vec<(&str, &str)> = selected
        .inputs
        .iter()
        .map(|input| (input.name.as_str(), input.producer.as_str()))
        .collect();
    assert_eq!(names, [("own", "a"), ("other", "b")]);
    assert_eq!(steps(&blueprint, json!({})), [ONE, ONE, option(0)]);
}

#[test]
fn a_deployment_is_an_input_and_a_deployment_template_gives_sources() {
    let delivery = blueprint(
        "ClusterDelivery",
        &json!([
            {"name": "after", "templateRef": {"kind": "ClusterTemplate", "name": "t"}, "configs": [{"name": "d", "resource": "deploy"}]},
            {"name": "deploy", "templateRef": {"kind": "ClusterDeploymentTemplate", "name": "t"}, "deployment": {"resource": "source"}},
            {
                "name": "source",
                "selector": {"matchFields": [{"key": "spec.source.git", "operator": "Exists"}]},
                "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"},
            },
        ]),
    );
    let none = steps(&delivery, json!({}));
    assert_eq!(
        reasons(&delivery, &none),
        [
            "the producer [deploy] of input [d] is skipped",
            "the producer [source] of input [deployment] is skipped",
            "field [spec.source.git] does not exist",
        ]
    );
    assert_eq!(
        steps(&delivery, json!({"spec": {"source": {"git": {}}}})),
        [ONE, ONE, ONE]
    );
    let field = |resource: usize| delivery.selected(resource, None).inputs[0].kind.field();
    assert_eq!([field(0), field(1)], ["sources", "deployment"]);
}

#[test]
fn inputs_of_the_other_kind_of_blueprints_do_not_exist() {
    let options = json!([
        {"name": "t", "selector": {"matchLabels": {"a": "b"}}, "images": [{"name": "i", "resource": "none"}]},
        {"name": "u", "selector": {"matchLabels": {"a": "c"}}},
    ]);
    let template = json!({"kind": "ClusterSourceTemplate", "options": options});
    let delivery = json!([{"name": "r", "images": [{"name": "i", "resource": "none"}], "templateRef": template}]);
    assert!(!blueprint("ClusterDelivery", &delivery).is_multi_path());
    assert!(chain(&delivery).is_multi_path());
    let deployment = json!([{"name": "r", "deployment": {"resource": "none"}, "templateRef": {"kind": "ClusterTemplate", "name": "t"}}]);
    assert_eq!(steps(&chain(&deployment), json!({})), [ONE]);
}

#[test]
fn faults_of_options_that_are_never_taken_are_refused() {
    let options = |inputs: Value| {
        json!([
            {"name": "a", "templateRef": {"kind": "ClusterSourceTemplate", "options": [{"name": "t"}, inputs]}, "sources": [{"name": "s", "resource": "c"}]},
            {"name": "b", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}, "sources": [{"name": "s", "resource": "a"}]},
            {"name": "c", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}},
        ])
    };
    assert_eq!(
        fault(&options(
            json!({"name": "u", "sources": [{"name": "x", "resource": "b"}]})
        )),
        "resources wait for each other: [a -> b -> a]"
    );
    assert_eq!(
        fault(&options(
            json!({"name": "u", "images": [{"name": "x", "resource": "z"}]})
        )),
        "invalid images for resource [a]: [x] is provided by unknown resource [z]"
    );
    // An image of a source template is a source, so both are sources.
    let conflict = options(
        json!({"name": "u", "images": [{"name": "x", "resource": "c"}], "configs": [{"name": "x", "resource": "b"}]}),
    );
    assert_eq!(
        fault(&conflict),
        "resource [a] takes [x] of sources from both [c] and [b]"
    );
    let conflict = options(json!({"name": "u", "sources": [{"name": "s", "resource": "b"}]}));
    assert_eq!(
        fault(&conflict),
        "resource [a] takes [s] of sources from both [c] and [b]"
    );
}

#[test]
fn one_name_from_two_producers_is_left_to_single_path_blueprints() {
    let resources = json!([
        {"name": "a", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}},
        {"name": "b", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}},
        {"name": "c", "templateRef": {"kind": "ClusterTemplate", "name": "t"}, "sources": [{"name": "s", "resource": "a"}, {"name": "s", "resource": "b"}]},
    ]);
    assert_eq!(steps(&chain(&resources), json!({})), [ONE, ONE, ONE]);
}

#[test]
fn what_is_no_blueprint_is_refused() {
    let refused = |object: Value| {
        let error = Blueprint::read(object).expect_err("no blueprint");
        let source = std::error::Error::source(&error).map(ToString::to_string);
        (error.to_string(), source.unwrap_or_default())
    };
    assert_eq!(
        refused(json!({"kind": "Workload"})).0,
        "a `Workload` is not a blueprint; give a ClusterSupplyChain or a ClusterDelivery"
    );
    for fields in [
        json!("text"),
        json!([7]),
        json!([{"operator": "In"}]),
        json!([{"key": 1, "operator": "In"}]),
    ] {
        let (error, source) = refused(json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "ClusterDelivery",
            "metadata": {"name": "d"},
            "spec": {"resources": [{
                "name": "r",
                "selector": {"matchFields": fields},
                "templateRef": {"kind": "ClusterTemplate", "name": "t"},
            }]},
        }));
        assert_eq!(error, "the delivery cannot be read");
        assert!(!source.is_empty());
    }
}

#[test]
fn a_null_label_is_absent() {
    let template = json!({"kind": "ClusterTemplate", "name": "t"});
    let selected = |selector: Value| {
        let blueprint =
            chain(&json!([{"name": "r", "selector": selector, "templateRef": template}]));
        steps(&blueprint, json!({"metadata": {"labels": {"a": null}}}))[0].is_selected()
    };
    assert!(selected(
        json!({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]})
    ));
    assert!(selected(
        json!({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]})
    ));
    assert!(!selected(
        json!({"matchExpressions": [{"key": "a", "operator": "Exists"}]})
    ));
    assert!(!selected(
        json!({"matchFields": [{"key": "metadata.labels.a", "operator": "Exists"}]})
    ));
}
