//! What the status of an owner tells of its lineage, within bounds.

use pathline_lineage::{Artifact, Live, MadeOf, Track};
use serde_json::{Map, Value, json};

/// How large both lists may be together, in bytes of JSON. Deeper history is in the ledger.
const ROOM: usize = 16 * 1024;
/// How much of it is for the outputs.
const FOR_OUTPUTS: usize = 11 * 1024;
/// How many artifacts are told at first.
const ARTIFACTS: usize = 128;
/// How much of a value is told where there is little room, in bytes.
const SHORT: usize = 80;

/// What the status of an owner tells of its lineage.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shown {
    /// What its path makes, each with what it is made of.
    pub(crate) outputs: Vec<Value>,
    /// What it gives, and how far that has come.
    pub(crate) inputs: Vec<Value>,
    /// Whether all that it gives runs; absent without a path.
    pub(crate) live: Option<Live>,
    /// The newest generation that was live.
    pub(crate) live_generation: Option<i64>,
}

impl Shown {
    /// Tells what a track knows; `owner` is the owner's word (`workload` or `deliverable`).
    pub(crate) fn of(track: &Track, owner: &str) -> Self {
        let has_path = !track.state.chain().resources().is_empty();
        let outputs = outputs(track, owner);
        let left = ROOM - size(&outputs).min(FOR_OUTPUTS);
        Self {
            inputs: inputs(track, left),
            outputs,
            live: has_path.then(|| track.live()),
            live_generation: track.live_generation,
        }
    }
}

/// Tells as many artifacts as there is room for. Where something is left out, the artifact says so,
/// and by its id the ledger can be asked for the rest.
fn outputs(track: &Track, owner: &str) -> Vec<Value> {
    let mut limit = ARTIFACTS;
    loop {
        let told = track.state.outputs(owner, limit);
        let told: Vec<Value> = told.iter().map(value_of).collect();
        if size(&told) <= FOR_OUTPUTS {
            return told;
        }
        if limit == 0 {
            return fitting(
                told,
                FOR_OUTPUTS,
                |left| json!({"type": "object", "value": format!("{left} more"), "passed": [], "cut": true}),
            );
        }
        limit /= 2;
    }
}

fn value_of(made: &MadeOf) -> Value {
    let mut told = json!(made);
    name_cut(made, &mut told);
    told
}

/// Names the artifacts of which something was left out.
fn name_cut(made: &MadeOf, told: &mut Value) {
    if made.cut {
        told["artifact"] = json!(made.id);
    }
    for (index, input) in made.from.iter().enumerate() {
        name_cut(input, &mut told["from"][index]);
    }
}

fn inputs(track: &Track, room: usize) -> Vec<Value> {
    let inputs = track.inputs();
    let tell = |is_short: bool| -> Vec<Value> {
        let told = inputs.iter().map(|input| {
            let mut told = Map::new();
            told.insert("name".to_owned(), json!(input.name));
            let (value, is_cut) = value_within(&input.artifact, is_short);
            told.insert("value".to_owned(), json!(value));
            if input.unused {
                told.insert("unused".to_owned(), json!(true));
            } else {
                told.insert("arrived".to_owned(), json!(input.arrived));
                told.insert("live".to_owned(), json!(input.live));
            }
            if input.mixed {
                told.insert("mixed".to_owned(), json!(true));
            }
            if is_cut {
                told.insert("cut".to_owned(), json!(true));
                told.insert("artifact".to_owned(), json!(input.artifact.id()));
            }
            Value::Object(told)
        });
        told.collect()
    };
    let told = tell(false);
    if size(&told) <= room {
        return told;
    }
    fitting(
        tell(true),
        room,
        |left| json!({"name": format!("{left} more"), "value": "", "cut": true}),
    )
}

/// Returns what is shown of a value, and whether that is less than there would be to show.
fn value_within(artifact: &Artifact, is_short: bool) -> (&str, bool) {
    let shown = artifact.shown();
    if is_short && shown.len() > SHORT {
        (&shown[..shown.floor_char_boundary(SHORT)], true)
    } else {
        (shown, false)
    }
}

/// Keeps what fits, and in the place of the rest one entry that says how many are missing.
fn fitting(mut told: Vec<Value>, room: usize, rest: impl Fn(usize) -> Value) -> Vec<Value> {
    let all = told.len();
    let is_too_much = |told: &[Value]| size(told) + size(&[rest(all)]) > room;
    while !told.is_empty() && is_too_much(&told) {
        told.pop();
    }
    if told.len() < all {
        told.push(rest(all - told.len()));
    }
    told
}

fn size(told: &[Value]) -> usize {
    serde_json::to_string(told).map_or(0, |text| text.len())
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use jiff::Timestamp;
    use pathline_lineage::chain::{Chain, Resource};
    use pathline_lineage::{Applied, Inputs, Kind, Origin, Stamp, State, Template};

    use super::*;

    /// A track of resources side by side, each of which hands on what it was given of these params.
    pub(crate) fn track(resources: usize, params: usize, value: &str) -> Track {
        let own: BTreeMap<String, Artifact> = (0..params)
            .map(|index| {
                let name = format!("number-{index}");
                (
                    format!("param:{name}"),
                    Artifact::param(&name, &json!(value)),
                )
            })
            .collect();
        let name = |index: usize| format!("resource-with-a-long-name-{index}");
        let chain = (0..resources).map(|index| Resource {
            name: name(index),
            reads: own.keys().cloned().collect(),
            ..Resource::default()
        });
        let mut state = State::new(Chain::new(chain.collect()).expect("a path"));
        let inputs = own
            .iter()
            .map(|(name, value)| (Origin::owner(name), value.clone()));
        let inputs: Inputs = inputs.collect();
        state.own(own);
        for index in 0..resources {
            let stamp = Stamp {
                template: Template::default(),
                uid: name(index),
                generation: Some(1),
                inputs: inputs.clone(),
                offered: BTreeSet::new(),
                applied: Applied::Elsewhere,
                rendered: None,
                time: Timestamp::UNIX_EPOCH,
            };
            state
                .stamped(&name(index), stamp)
                .expect("it is on the path");
            let output = Artifact::value(Kind::Config, &json!([index, value]));
            let seen = pathline_lineage::Snapshot {
                template: Template::default(),
                uid: name(index),
                generation: Some(1),
                observed: None,
                condition_observed: None,
                health: pathline_lineage::Health::True,
                held: None,
                matched: Some(BTreeSet::new()),
                failed: None,
                inputs_id: None,
                earlier: Vec::new(),
                output: Some(output),
                time: Timestamp::UNIX_EPOCH,
            };
            state.seen(&name(index), &seen).expect("it is on the path");
        }
        Track {
            state,
            ..Track::default()
        }
    }

    #[test]
    fn whatever_is_known_fits_and_says_what_is_missing() {
        let long = "é".repeat(600);
        for (resources, params, value) in [
            (1, 1, "on"),
            (1, 300, "on"),
            (1, 30, &*long),
            (300, 3, &*long),
            (300, 0, "on"),
        ] {
            let shown = Shown::of(&track(resources, params, value), "workload");
            let size = size(&shown.outputs) + size(&shown.inputs);
            assert!(size <= ROOM, "{resources} and {params} take {size}");
            let text = json!([shown.outputs, shown.inputs]).to_string();
            let is_all = resources * params.max(1) == 1;
            assert_eq!(
                text.contains("\"cut\":true"),
                !is_all,
                "{resources} and {params}"
            );
        }
    }
}
