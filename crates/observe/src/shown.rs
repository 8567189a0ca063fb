//! The lineage of an owner as its status shows it, within bounds.

use pathline_kinds::carto::{InputStatus, Live, MadeOf};
use pathline_lineage::owner_lineage::Input;
use pathline_lineage::{Artifact, OwnerLineage};
use serde::Serialize;
use serde_json::{Value, json};

/// The size that both lists may have together, in bytes of JSON. Deeper history is in the ledger.
const ROOM: usize = 16 * 1024;
/// The part of it that is for the outputs.
const FOR_OUTPUTS: usize = 11 * 1024;
/// The number of artifacts that are shown at first.
const ARTIFACTS: usize = 128;
/// The number of bytes of a value that are shown where there is little room.
const SHORT: usize = 80;

/// The lineage of an owner as its status shows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shown {
    /// The artifacts that its path makes, each with what it is made of.
    pub outputs: Vec<MadeOf>,
    /// The inputs that it gives, and how far they have come.
    pub inputs: Vec<InputStatus>,
    /// Whether all that it gives runs; absent without a path.
    pub live: Option<Live>,
    /// The newest generation that was live.
    pub live_generation: Option<i64>,
}

impl Shown {
    /// Shows what a lineage knows; `owner` is the owner's word (`workload` or `deliverable`).
    pub fn of(lineage: &OwnerLineage, owner: &str) -> Self {
        let has_path = !lineage.state.chain().resources().is_empty();
        let outputs = outputs(lineage, owner);
        let left = ROOM - size(&outputs).min(FOR_OUTPUTS);
        Self {
            inputs: inputs(lineage, left),
            outputs,
            live: has_path.then(|| live(lineage.live())),
            live_generation: lineage.live_generation,
        }
    }
}

/// Shows as many artifacts as there is room for. Where something is left out, the artifact says so,
/// and by its id the ledger can be asked for the rest.
fn outputs(lineage: &OwnerLineage, owner: &str) -> Vec<MadeOf> {
    let mut limit = ARTIFACTS;
    loop {
        let shown = lineage.state.outputs(owner, limit);
        let shown: Vec<MadeOf> = shown.iter().map(made_of).collect();
        if size(&shown) <= FOR_OUTPUTS {
            return shown;
        }
        if limit == 0 {
            return fitting(shown, FOR_OUTPUTS, |left| MadeOf {
                r#type: "object".to_owned(),
                value: format!("{left} more"),
                cut: true,
                ..MadeOf::default()
            });
        }
        limit /= 2;
    }
}

fn made_of(made: &pathline_lineage::MadeOf) -> MadeOf {
    let kind = json!(made.kind);
    MadeOf {
        r#type: kind.as_str().unwrap_or_default().to_owned(),
        name: made.name.clone(),
        value: made.value.clone(),
        url: made.url.clone(),
        passed: made.passed.clone(),
        from: made.from.iter().map(value_of).collect(),
        cut: made.cut,
        artifact: made.cut.then(|| made.id.to_string()),
    }
}

fn value_of(made: &pathline_lineage::MadeOf) -> Value {
    let mut shown = json!(made);
    name_cut(made, &mut shown);
    shown
}

/// Names the artifacts of which something was left out.
fn name_cut(made: &pathline_lineage::MadeOf, shown: &mut Value) {
    if made.cut {
        shown["artifact"] = json!(made.id);
    }
    for (index, input) in made.from.iter().enumerate() {
        name_cut(input, &mut shown["from"][index]);
    }
}

fn inputs(lineage: &OwnerLineage, room: usize) -> Vec<InputStatus> {
    let inputs = lineage.inputs();
    let show = |is_short: bool| -> Vec<InputStatus> {
        inputs.iter().map(|it| input(it, is_short)).collect()
    };
    let shown = show(false);
    if size(&shown) <= room {
        return shown;
    }
    fitting(show(true), room, |left| InputStatus {
        name: format!("{left} more"),
        cut: true,
        ..InputStatus::default()
    })
}

fn input(input: &Input, is_short: bool) -> InputStatus {
    let (value, is_cut) = value_within(&input.artifact, is_short);
    InputStatus {
        name: input.name.clone(),
        value: value.to_owned(),
        arrived: (!input.unused).then_some(input.arrived),
        live: input.live.filter(|_| !input.unused).map(live),
        mixed: input.mixed,
        unused: input.unused,
        cut: is_cut,
        artifact: is_cut.then(|| input.artifact.id().to_string()),
    }
}

fn live(live: pathline_lineage::Live) -> Live {
    match live {
        pathline_lineage::Live::True => Live::True,
        pathline_lineage::Live::False => Live::False,
        pathline_lineage::Live::Unknown => Live::Unknown,
    }
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
fn fitting<T: Serialize>(mut shown: Vec<T>, room: usize, rest: impl Fn(usize) -> T) -> Vec<T> {
    let all = shown.len();
    let is_too_much = |shown: &[T]| size(shown) + size(&[rest(all)]) > room;
    while !shown.is_empty() && is_too_much(&shown) {
        shown.pop();
    }
    if shown.len() < all {
        shown.push(rest(all - shown.len()));
    }
    shown
}

fn size<T: Serialize>(shown: &[T]) -> usize {
    serde_json::to_string(shown).map_or(0, |text| text.len())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use jiff::Timestamp;
    use pathline_lineage::chain::{Chain, Resource};
    use pathline_lineage::{Applied, Inputs, Kind, Origin, Stamp, State, Template};

    use super::*;

    /// A lineage of resources side by side, each of which hands on what it was given of these params.
    fn lineage(resources: usize, params: usize, value: &str) -> OwnerLineage {
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
        OwnerLineage {
            state,
            ..OwnerLineage::default()
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
            let shown = Shown::of(&lineage(resources, params, value), "workload");
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
