//! Random blueprints over few labels and fields, so that all owners can be tried.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Labels and fields that selectors speak of. The first are labels; the fields are prefixes of each
/// other, of several types, and one that no definition has.
const LABELS: [&str; 2] = ["a", "b"];
const FIELDS: [&str; 9] = [
    "metadata.labels.a",
    "metadata.labels",
    "spec.source",
    "spec.source.git",
    "{.spec.source['git.url']}",
    "spec.image",
    "spec.params",
    "spec.nothing",
    "kind",
];

/// One requirement: where it stands, whose it is, its operator and values.
#[derive(Debug, Clone)]
enum Requirement {
    Label(&'static str, &'static str),
    Expression(&'static str, &'static str, Vec<&'static str>),
    Field(&'static str, &'static str, Vec<&'static str>),
}

fn relation() -> impl Strategy<Value = (&'static str, Vec<&'static str>)> {
    prop_oneof![
        3 => select(vec!["Exists", "DoesNotExist"]).prop_map(|operator| (operator, vec![])),
        2 => (
            select(vec!["In", "NotIn"]),
            select(vec![vec!["x"], vec!["y"], vec!["x", "y"], vec!["x", "not a label"]]),
        ),
    ]
}

fn requirement() -> impl Strategy<Value = Requirement> {
    prop_oneof![
        1 => (select(&LABELS[..]), select(vec!["x", "y"]))
            .prop_map(|(key, value)| Requirement::Label(key, value)),
        1 => (select(&LABELS[..]), relation())
            .prop_map(|(key, (operator, values))| Requirement::Expression(key, operator, values)),
        2 => (select(&FIELDS[..]), relation())
            .prop_map(|(key, (operator, values))| Requirement::Field(key, operator, values)),
    ]
}

fn selector() -> impl Strategy<Value = Value> {
    proptest::collection::vec(requirement(), 0..3).prop_map(|requirements| {
        let (mut labels, mut expressions, mut fields) = (Map::new(), vec![], vec![]);
        for requirement in requirements {
            match requirement {
                Requirement::Label(key, value) => {
                    labels.insert(key.to_owned(), json!(value));
                }
                Requirement::Expression(key, operator, values) => {
                    expressions.push(json!({"key": key, "operator": operator, "values": values}));
                }
                Requirement::Field(key, operator, values) => {
                    fields.push(json!({"key": key, "operator": operator, "values": values}));
                }
            }
        }
        json!({"matchLabels": labels, "matchExpressions": expressions, "matchFields": fields})
    })
}

#[derive(Debug, Clone)]
struct Choice {
    selector: Option<Value>,
    producers: Vec<usize>,
    hands_on: bool,
    repeats: bool,
}

fn choice() -> impl Strategy<Value = Choice> {
    let selector = proptest::option::weighted(0.6, selector());
    let producers = proptest::collection::vec(0usize..4, 0..3);
    (
        selector,
        producers,
        any::<bool>(),
        proptest::bool::weighted(0.2),
    )
        .prop_map(|(selector, producers, hands_on, repeats)| Choice {
            selector,
            producers,
            hands_on,
            repeats,
        })
}

type Resource = (Option<Value>, Vec<usize>, Vec<Choice>);

fn resource() -> impl Strategy<Value = Resource> {
    (
        proptest::option::weighted(0.3, selector()),
        proptest::collection::vec(0usize..4, 0..2),
        proptest::collection::vec(choice(), 0..4),
    )
}

/// Blueprints of both kinds, with one path and with several, their resources in any order.
pub(super) fn blueprint() -> impl Strategy<Value = Value> {
    (
        any::<bool>(),
        proptest::bool::weighted(0.85),
        selector(),
        proptest::collection::vec(resource(), 1..5).prop_flat_map(|all| {
            (
                Just(all.clone()),
                Just((0..all.len()).collect::<Vec<_>>()).prop_shuffle(),
            )
        }),
    )
        .prop_map(
            |(is_delivery, is_multi_path, selector, (resources, order))| {
                let resources: Vec<Value> = resources
                    .into_iter()
                    .enumerate()
                    .map(|(index, resource)| write_resource(index, resource, is_multi_path))
                    .collect();
                let resources: Vec<&Value> = order.iter().map(|index| &resources[*index]).collect();
                json!({
                    "apiVersion": "carto.run/v1alpha1",
                    "kind": if is_delivery { "ClusterDelivery" } else { "ClusterSupplyChain" },
                    "metadata": {"name": "random"},
                    "spec": {
                        "selector": selector["matchLabels"],
                        "selectorMatchExpressions": selector["matchExpressions"],
                        "selectorMatchFields": selector["matchFields"],
                        "resources": resources,
                    },
                })
            },
        )
}

fn write_resource(
    index: usize,
    (selector, producers, choices): Resource,
    is_multi_path: bool,
) -> Value {
    let mut resource = json!({
        "name": format!("r{index}"),
        "templateRef": {"kind": "ClusterSourceTemplate"},
        "sources": inputs("own", index, &producers),
    });
    let options = write_options(index, choices, is_multi_path);
    if options.is_empty() {
        resource["templateRef"]["name"] = json!("t");
    } else {
        resource["templateRef"]["options"] = json!(options);
    }
    if let (Some(selector), true) = (selector, is_multi_path) {
        resource["selector"] = selector;
    }
    resource
}

fn write_options(index: usize, choices: Vec<Choice>, is_multi_path: bool) -> Vec<Value> {
    let mut options: Vec<Value> = Vec::new();
    for (number, choice) in choices.into_iter().enumerate() {
        let sources = inputs("in", index, &choice.producers);
        let mut option = match (choice.hands_on, sources.first()) {
            (true, Some(source)) if is_multi_path => json!({"passThrough": source["name"]}),
            _ => json!({"name": format!("t{number}")}),
        };
        let earlier = options.last().filter(|_| choice.repeats);
        let repeated = earlier.and_then(|earlier| earlier.get("selector").cloned());
        if let Some(selector) = repeated.or(choice.selector) {
            option["selector"] = selector;
        } else if !is_multi_path {
            option["selector"] = json!({});
        }
        if is_multi_path && !sources.is_empty() {
            option["sources"] = json!(sources);
        }
        options.push(option);
    }
    options
}

/// Inputs from earlier resources only.
fn inputs(prefix: &str, index: usize, producers: &[usize]) -> Vec<Value> {
    let mut producers: Vec<usize> = producers
        .iter()
        .copied()
        .filter(|producer| *producer < index)
        .collect();
    producers.sort_unstable();
    producers.dedup();
    let input = |producer| json!({"name": format!("{prefix}{producer}"), "resource": format!("r{producer}")});
    producers.into_iter().map(input).collect()
}
