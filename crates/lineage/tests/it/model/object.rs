//! Objects as they really are: what they hold, and what their outputs were really made from.

use std::collections::{BTreeMap, BTreeSet};

use pathline_lineage::{Artifact, ArtifactId, Health, Inputs, InputsId, Kind, Origin};

/// The inputs as an object holds them; somebody else's value is none of ours.
pub(super) type Held = BTreeMap<Origin, ArtifactId>;

/// The fields that an output was made from.
pub(super) type Fields = Vec<(Origin, ArtifactId)>;

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) uid: String,
    pub(super) generation: i64,
    /// The fields that change the generation.
    pub(super) spec: Held,
    /// The fields that do not.
    pub(super) metadata: Held,
    pub(super) inputs_id: InputsId,
    /// The ids of the inputs that this generation carried before.
    pub(super) earlier: Vec<InputsId>,
    pub(super) status: Status,
    /// The work of a controller: the generation and the fields it started from.
    pub(super) work: Option<(i64, Held)>,
    /// The rest of work that was started for an older generation.
    pub(super) old_work: Option<Held>,
    /// The fields that it used before.
    pub(super) used_before: Held,
    /// The fields that what runs below it was started with: those of the moment when its generation was made.
    pub(super) started: Held,
}

/// The status of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Status {
    pub(super) observed: Option<i64>,
    pub(super) condition_observed: Option<i64>,
    pub(super) health: Health,
    pub(super) output: Option<Artifact>,
    /// The reason why it will get no further at its generation.
    pub(super) failed: Option<String>,
    /// The values that it says it used.
    pub(super) used: Held,
    /// The generation that the output was made of.
    pub(super) done: Option<i64>,
    /// The output, also while it is not shown.
    pub(super) made: Option<Artifact>,
}

/// Everything that was ever made: by a resource, as an output, from which fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    made: BTreeMap<(usize, ArtifactId), BTreeSet<Fields>>,
}

impl Truth {
    pub(super) fn record(&mut self, resource: usize, output: &Artifact, from: &Held) {
        let from = from
            .iter()
            .map(|(origin, id)| (origin.clone(), *id))
            .collect();
        self.made
            .entry((resource, output.id()))
            .or_default()
            .insert(from);
    }

    /// Returns every set of fields that an output was really made from.
    pub(super) fn of(&self, resource: usize, output: ArtifactId) -> impl Iterator<Item = &Fields> {
        self.made.get(&(resource, output)).into_iter().flatten()
    }
}

impl Object {
    /// The spec changes.
    pub(super) fn raise(&mut self) {
        self.generation += 1;
        self.earlier.clear();
    }

    /// Starts the process anew, with what the object holds.
    pub(super) fn start(&mut self) {
        self.started = self.fields();
    }

    /// Tells whether it says that it will get no further at its generation.
    pub(super) fn has_failed(&self) -> bool {
        self.status.failed.is_some() && self.status.observed == Some(self.generation)
    }

    pub(super) fn fields(&self) -> Held {
        self.spec
            .iter()
            .chain(&self.metadata)
            .map(|(origin, id)| (origin.clone(), *id))
            .collect()
    }
}

/// Returns the ids of some inputs.
pub(super) fn ids(inputs: &Inputs, of: &BTreeSet<Origin>) -> Held {
    let of = inputs.iter().filter(|(origin, _)| of.contains(origin));
    of.map(|(origin, artifact)| (origin.clone(), artifact.id()))
        .collect()
}

/// Returns what somebody else writes into a field.
pub(super) fn somebody_elses() -> ArtifactId {
    Artifact::value(Kind::Object, &"somebody else's".into()).id()
}
