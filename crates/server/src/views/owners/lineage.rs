//! The lineage of an owner, as the ledger has it: its inputs, its outputs, and how they came to be.

use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::{Artifact, Derivation, Made, Missing, OwnerInput};
use pathline_lineage::owner_lineage::Input;
use pathline_lineage::{Origin, OwnerLineage};

/// The most artifacts that the trees of an owner's outputs show together.
const MAX_ARTIFACTS: usize = 2000;

/// Says what the owner gives, and how far each value has come.
pub(super) fn inputs(lineage: &OwnerLineage) -> Vec<OwnerInput> {
    lineage
        .inputs()
        .iter()
        .map(|it| input(lineage, it))
        .collect()
}

fn input(lineage: &OwnerLineage, input: &Input) -> OwnerInput {
    let origin = Origin::owner(&input.name);
    let arrival = lineage.state.arrival(&origin, |it| *it == input.artifact);
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
pub(super) fn outputs(lineage: &OwnerLineage, kind: OwnerKind) -> Vec<Made> {
    let outputs = lineage.state.outputs(kind.noun(), MAX_ARTIFACTS);
    outputs.iter().map(Made::from).collect()
}

/// Says how that came to be which each resource makes now, producers first.
pub(super) fn derivations(lineage: &OwnerLineage) -> Vec<Derivation> {
    let order = lineage.state.chain().in_path_order();
    let made = order.filter_map(|it| lineage.state.current(&it.name));
    made.map(Derivation::from).collect()
}
