//! Blueprints of any size and owners for them, the same for the same seed.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::{Owner, OwnerKind};
use serde_json::{Map, Value, json};

/// The number of labels, and of fields, that selectors ask for.
const KEYS: u64 = 20;

/// The farthest that producers are back: a chain of inputs leads through many levels.
const REACH: u64 = 8;

/// Numbers that look random.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Makes a multi-path supply chain in which every resource has this many options, each with a selector
/// over 20 labels and 20 fields, and inputs from resources before it.
pub(crate) fn blueprint(resources: u64, options: u64, seed: u64) -> Blueprint {
    Blueprint::read(written(resources, options, seed)).expect("a valid blueprint")
}

/// Makes such a supply chain as it is written.
pub(crate) fn written(resources: u64, options: u64, seed: u64) -> Value {
    let dice = &mut Dice::new(seed);
    let resources: Vec<Value> = (0..resources)
        .map(|index| resource(index, options, dice))
        .collect();
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "large"},
        "spec": {"resources": resources},
    })
}

/// Makes an owner that has about half of all labels and fields.
pub(crate) fn owner(seed: u64) -> Owner {
    let dice = &mut Dice::new(seed);
    let mut some = |prefix: &str| {
        let mut map = Map::new();
        for key in 0..KEYS {
            if dice.roll(2) == 0 {
                map.insert(format!("{prefix}-{key}"), json!(value(dice)));
            }
        }
        map
    };
    let owner = json!({
        "metadata": {"name": "app", "labels": some("label"), "annotations": some("field")},
        "spec": {"source": {"git": {"url": "https://host/app"}}},
    });
    Owner::read(OwnerKind::Workload, owner).expect("a valid owner")
}

fn resource(index: u64, options: u64, dice: &mut Dice) -> Value {
    let options: Vec<Value> = (0..options)
        .map(|option| {
            json!({
                "name": format!("template-{index}-{option}"),
                "selector": selector(dice),
                "sources": inputs(index, dice),
            })
        })
        .collect();
    json!({
        "name": name(index),
        "templateRef": {"kind": "ClusterSourceTemplate", "options": options},
    })
}

fn selector(dice: &mut Dice) -> Value {
    let label = format!("label-{}", dice.roll(KEYS));
    let field = format!("metadata.annotations.field-{}", dice.roll(KEYS));
    match dice.roll(4) {
        0 => json!({"matchLabels": {label: value(dice)}}),
        1 => json!({"matchExpressions": [requirement(&label, dice)]}),
        2 => json!({"matchFields": [requirement(&field, dice)]}),
        _ => json!({
            "matchExpressions": [requirement(&label, dice)],
            "matchFields": [requirement(&field, dice)],
        }),
    }
}

fn requirement(key: &str, dice: &mut Dice) -> Value {
    match dice.roll(4) {
        0 => json!({"key": key, "operator": "In", "values": ["x", value(dice)]}),
        1 => json!({"key": key, "operator": "NotIn", "values": [value(dice)]}),
        2 => json!({"key": key, "operator": "Exists"}),
        _ => json!({"key": key, "operator": "DoesNotExist"}),
    }
}

fn inputs(index: u64, dice: &mut Dice) -> Vec<Value> {
    let count = if index == 0 { 0 } else { 1 + dice.roll(2) };
    let inputs = (0..count).map(|input| {
        let producer = index - 1 - dice.roll(index.min(REACH));
        json!({"name": format!("in-{input}"), "resource": name(producer)})
    });
    inputs.collect()
}

fn name(index: u64) -> String {
    format!("resource-{index}")
}

fn value(dice: &mut Dice) -> &'static str {
    ["x", "y", "z"][dice.roll(3) as usize]
}
