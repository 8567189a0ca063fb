//! What the ledger knows of an owner: its inputs, its outputs, and how they came to be.

use pathline_blueprint::owner::OwnerKind;
use pathline_lineage::track::Input;
use pathline_lineage::{Origin, Track};

use crate::api::{Artifact, Derivation, Made, Missing, OwnerInput};

/// The most artifacts that the trees of an owner's outputs show together.
const MOST: usize = 2000;

/// Says what the owner gives, and how far each value has come.
pub(super) fn inputs(track: &Track) -> Vec<OwnerInput> {
    track.inputs().iter().map(|it| input(track, it)).collect()
}

fn input(track: &Track, input: &Input) -> OwnerInput {
    let origin = Origin::owner(&input.name);
    let arrival = track.state.arrival(&origin, |it| *it == input.artifact);
    OwnerInput {
        name: input.name.clone(),
        artifact: Artifact::from(&input.artifact),
        arrived: input.arrived,
        mixed: input.mixed,
        unused: input.unused,
        live: input.live.map(|live| live.to_string()),
        missing: arrival.missing.iter().map(Missing::from).collect(),
    }
}

/// Says what comes out, with all it is made of.
pub(super) fn outputs(track: &Track, kind: OwnerKind) -> Vec<Made> {
    let outputs = track.state.outputs(kind.noun(), MOST);
    outputs.iter().map(Made::from).collect()
}

/// Says how that came to be which each resource makes now, producers first.
pub(super) fn derivations(track: &Track) -> Vec<Derivation> {
    let order = track.state.chain().in_path_order();
    let made = order.filter_map(|it| track.state.current(&it.name));
    made.map(Derivation::from).collect()
}
