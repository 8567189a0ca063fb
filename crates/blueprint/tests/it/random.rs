//! Random blueprints and owners, small enough to ask every question about them.
//!
//! Blueprints are valid: no cycle, no unknown producer, no two producers of one name. Everything else
//! happens: labels, expressions, fields that are prefixes of each other, deliveries, pass-through, equal
//! selectors, empty selectors, options that nest, inputs under another kind than their producer makes.

mod owners;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(crate) use owners::owner;

/// The labels that selectors ask for.
pub(crate) const LABELS: [&str; 2] = ["a", "b"];

/// The values that labels and fields are compared with.
pub(crate) const VALUES: [&str; 2] = ["x", "y"];

/// Fields that can be evaluated in every owner. Some are prefixes of others, one is a label.
pub(crate) const PLAIN_KEYS: [&str; 6] = [
    "spec.source",
    "spec.source.git",
    "spec.source.git.url",
    "spec.source.image",
    "spec.serviceAccountName",
    "metadata.labels.a",
];

/// The plain ones, and some that some owners cannot answer, or none can.
pub(crate) const ALL_KEYS: [&str; 9] = [
    "spec.source",
    "spec.source.git",
    "spec.source.git.url",
    "spec.source.image",
    "spec.serviceAccountName",
    "metadata.labels.a",
    "spec.params[0].name",
    "spec.source.url",
    "spec.source[",
];

/// Makes blueprints whose selectors ask for these fields.
pub(crate) fn blueprint(keys: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let resources = prop::collection::vec(resource(keys), 1..=5);
    let shuffle = prop::collection::vec(any::<u16>(), 5);
    (
        any::<bool>(),
        prop::bool::weighted(0.8),
        resources,
        shuffle,
        prop::option::of(selector(keys)),
    )
        .prop_map(|(is_delivery, is_multi_path, resources, shuffle, own)| {
            let draft = Draft {
                is_delivery,
                is_multi_path,
                kinds: kinds(is_delivery, &resources),
            };
            let written = resources
                .iter()
                .enumerate()
                .map(|(index, resource)| draft.resource(index, resource));
            let mut written: Vec<(u16, Value)> = shuffle.into_iter().zip(written).collect();
            written.sort_by_key(|(place, _)| *place);
            let resources: Vec<Value> = written.into_iter().map(|(_, resource)| resource).collect();
            let mut spec = legacy(own.as_ref());
            spec.insert("resources".to_owned(), json!(resources));
            json!({
                "apiVersion": "carto.run/v1alpha1",
                "kind": if is_delivery { "ClusterDelivery" } else { "ClusterSupplyChain" },
                "metadata": {"name": "random"},
                "spec": spec,
            })
        })
}

/// A resource before it is known what it can take in.
#[derive(Debug, Clone)]
struct RawResource {
    kind: usize,
    selector: Option<Value>,
    inputs: Vec<RawInput>,
    deployment: usize,
    options: Vec<RawOption>,
}

#[derive(Debug, Clone)]
struct RawOption {
    selector: Option<Value>,
    is_like_previous: bool,
    is_pass_through: bool,
    inputs: Vec<RawInput>,
}

#[derive(Debug, Clone)]
struct RawInput {
    producer: usize,
    /// The field it stands under, if not the one its producer makes.
    field: Option<usize>,
}

fn resource(keys: &'static [&'static str]) -> impl Strategy<Value = RawResource> {
    let options = prop_oneof![
        1 => Just(Vec::new()),
        2 => prop::collection::vec(option(keys), 2..=4),
    ];
    (
        0..5usize,
        prop::option::weighted(0.4, selector(keys)),
        prop::collection::vec(input(), 0..=1),
        any::<usize>(),
        options,
    )
        .prop_map(
            |(kind, selector, inputs, deployment, options)| RawResource {
                kind,
                selector,
                inputs,
                deployment,
                options,
            },
        )
}

fn option(keys: &'static [&'static str]) -> impl Strategy<Value = RawOption> {
    (
        prop::option::weighted(0.7, selector(keys)),
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.2),
        prop::collection::vec(input(), 0..=2),
    )
        .prop_map(
            |(selector, is_like_previous, is_pass_through, inputs)| RawOption {
                selector,
                is_like_previous,
                is_pass_through,
                inputs,
            },
        )
}

fn input() -> impl Strategy<Value = RawInput> {
    (any::<usize>(), prop::option::weighted(0.15, any::<usize>()))
        .prop_map(|(producer, field)| RawInput { producer, field })
}

fn selector(keys: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let labels = prop::collection::btree_map(
        prop::sample::select(&LABELS[..]),
        prop::sample::select(&VALUES[..]),
        0..=2,
    );
    let expressions = prop::collection::vec(requirement(&LABELS), 0..=1);
    let fields = prop::collection::vec(requirement(keys), 0..=2);
    (
        prop::option::weighted(0.4, labels),
        prop::option::weighted(0.3, expressions),
        prop::option::weighted(0.5, fields),
    )
        .prop_map(|(labels, expressions, fields)| {
            let mut selector = Map::new();
            if let Some(labels) = labels {
                selector.insert("matchLabels".to_owned(), json!(labels));
            }
            if let Some(expressions) = expressions {
                selector.insert("matchExpressions".to_owned(), json!(expressions));
            }
            if let Some(fields) = fields {
                selector.insert("matchFields".to_owned(), json!(fields));
            }
            Value::Object(selector)
        })
}

fn requirement(keys: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let values = prop::sample::subsequence(&VALUES[..], 1..=2);
    let operator = prop::sample::select(&["In", "NotIn", "Exists", "DoesNotExist"][..]);
    (prop::sample::select(keys), operator, values).prop_map(|(key, operator, values)| {
        if operator.ends_with("In") {
            json!({"key": key, "operator": operator, "values": values})
        } else {
            json!({"key": key, "operator": operator})
        }
    })
}

/// The part of a blueprint that is decided before its resources are written.
struct Draft {
    is_delivery: bool,
    is_multi_path: bool,
    kinds: Vec<&'static str>,
}

fn kinds(is_delivery: bool, resources: &[RawResource]) -> Vec<&'static str> {
    let [middle, other] = if is_delivery {
        ["ClusterDeploymentTemplate", "ClusterSourceTemplate"]
    } else {
        ["ClusterImageTemplate", "ClusterSourceTemplate"]
    };
    let all = [
        "ClusterSourceTemplate",
        middle,
        "ClusterConfigTemplate",
        "ClusterTemplate",
        other,
    ];
    let mut kinds: Vec<&'static str> = Vec::new();
    for resource in resources {
        let kind = all[resource.kind];
        // A deployment needs something to deploy.
        let has_source = kinds.iter().any(|kind| made(kind) == Some("sources"));
        kinds.push(if kind == "ClusterDeploymentTemplate" && !has_source {
            other
        } else {
            kind
        });
    }
    kinds
}

/// Returns the field under which what a kind of templates makes is taken in.
fn made(kind: &str) -> Option<&'static str> {
    match kind {
        "ClusterSourceTemplate" | "ClusterDeploymentTemplate" => Some("sources"),
        "ClusterImageTemplate" => Some("images"),
        "ClusterConfigTemplate" => Some("configs"),
        _ => None,
    }
}

impl Draft {
    fn resource(&self, index: usize, raw: &RawResource) -> Value {
        let kind = self.kinds[index];
        let mut resource = Map::new();
        resource.insert("name".to_owned(), json!(name(index)));
        if kind == "ClusterDeploymentTemplate" {
            let sources: Vec<usize> = (0..index)
                .filter(|producer| made(self.kinds[*producer]) == Some("sources"))
                .collect();
            let producer = sources[raw.deployment % sources.len()];
            resource.insert("deployment".to_owned(), json!({"resource": name(producer)}));
        } else {
            // A resource with a selector makes the blueprint multi-path, whatever else it has.
            let is_loose = self.is_multi_path && raw.selector.is_some();
            self.inputs(index, &raw.inputs, is_loose, &mut resource);
        }
        if self.is_multi_path
            && let Some(selector) = &raw.selector
        {
            resource.insert("selector".to_owned(), selector.clone());
        }
        let template = if raw.options.is_empty() {
            json!({"kind": kind, "name": format!("template-{index}")})
        } else {
            json!({"kind": kind, "options": self.options(index, raw, &resource)})
        };
        resource.insert("templateRef".to_owned(), template);
        Value::Object(resource)
    }

    fn options(
        &self,
        index: usize,
        raw: &RawResource,
        resource: &Map<String, Value>,
    ) -> Vec<Value> {
        let mut options: Vec<Value> = Vec::new();
        for raw in &raw.options {
            let previous = options.last().and_then(|option| option.get("selector"));
            let selector = if raw.is_like_previous {
                previous.cloned()
            } else {
                raw.selector.clone()
            };
            let mut option = Map::new();
            if self.is_multi_path {
                self.inputs(index, &raw.inputs, true, &mut option);
                option.extend(selector.map(|selector| ("selector".to_owned(), selector)));
            } else {
                let selector = selector.unwrap_or_else(|| json!({"matchLabels": {"a": "x"}}));
                option.insert("selector".to_owned(), selector);
            }
            let passed = self.passed(index, &[&option, resource]);
            let (key, value) = match passed.filter(|_| raw.is_pass_through) {
                Some(input) => ("passThrough", input),
                None => ("name", json!(format!("template-{index}-{}", options.len()))),
            };
            option.insert(key.to_owned(), value);
            options.push(Value::Object(option));
        }
        options
    }

    /// Returns the name of an input that can be handed on, as what the resource gives.
    fn passed(&self, index: usize, holders: &[&Map<String, Value>]) -> Option<Value> {
        let field = match self.kinds[index] {
            "ClusterDeploymentTemplate" => return None,
            kind => made(kind)?,
        };
        let mut lists = holders.iter().filter_map(|holder| holder.get(field));
        lists.find_map(|list| list.get(0)?.get("name").cloned())
    }

    /// Adds inputs, each named by its producer, so that no name comes from two.
    fn inputs(
        &self,
        index: usize,
        raw: &[RawInput],
        is_loose: bool,
        holder: &mut Map<String, Value>,
    ) {
        let fields: &[&str] = if self.is_delivery {
            &["sources", "configs"]
        } else {
            &["sources", "images", "configs"]
        };
        for input in raw {
            let producers: Vec<usize> = (0..index)
                .filter(|index| made(self.kinds[*index]).is_some())
                .collect();
            if producers.is_empty() {
                return;
            }
            let producer = producers[input.producer % producers.len()];
            let right = made(self.kinds[producer]).expect("it makes something");
            let field = match input.field {
                Some(field) if is_loose => fields[field % fields.len()],
                _ => right,
            };
            let list = holder
                .entry(field)
                .or_insert_with(|| json!([]))
                .as_array_mut()
                .expect("a list");
            let input = json!({"name": format!("from-{producer}"), "resource": name(producer)});
            if !list.contains(&input) {
                list.push(input);
            }
        }
    }
}

fn name(index: usize) -> String {
    format!("r{index}")
}

fn legacy(selector: Option<&Value>) -> Map<String, Value> {
    let spelled = [
        ("matchLabels", "selector"),
        ("matchExpressions", "selectorMatchExpressions"),
        ("matchFields", "selectorMatchFields"),
    ];
    let mut spec = Map::new();
    for (written, legacy) in spelled {
        if let Some(part) = selector.and_then(|selector| selector.get(written)) {
            spec.insert(legacy.to_owned(), part.clone());
        }
    }
    spec
}
