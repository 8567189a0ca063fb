//! Snapshots of objects that were not the current one, or that nobody remembers an apply to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ArtifactId};
use crate::snapshot::Snapshot;
use crate::stamp::{InputsId, Record};

/// The last snapshots, by uid, that say nothing of what is made now. Such an object may be the current
/// one again, and then what it showed before is not made of what is applied after that.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct PassedOver(BTreeMap<String, Shown>);

/// A snapshot, as far as it is kept.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Shown {
    generation: Option<i64>,
    inputs_id: Option<InputsId>,
    output: Option<ArtifactId>,
    /// The generation that the object had when it was first kept with that output.
    #[serde(default)]
    since: Option<i64>,
}

impl PassedOver {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps a snapshot in place of an earlier one of the same object.
    pub(crate) fn keep(&mut self, snapshot: &Snapshot) {
        let generation = snapshot.generation;
        let output = output_of(snapshot);
        let before = self.0.get(&snapshot.uid).filter(|it| it.output == output);
        let shown = Shown {
            generation,
            inputs_id: snapshot.inputs_id.clone(),
            output,
            since: before.map_or(generation, |it| it.since.min(generation)),
        };
        self.0.insert(snapshot.uid.clone(), shown);
    }

    /// Takes note of what the current object shows: what comes after another output is made anew.
    pub(crate) fn shows(&mut self, snapshot: &Snapshot) {
        let output = output_of(snapshot);
        if let Some(it) = self.0.get_mut(&snapshot.uid)
            && output.is_some()
            && it.output != output
        {
            it.output = None;
        }
    }

    /// Returns the generation at which an object was first kept with the output that it shows, if it
    /// was.
    pub(crate) fn since(&self, snapshot: &Snapshot) -> Option<Option<i64>> {
        let output = output_of(snapshot);
        let shown = self.0.get(&snapshot.uid)?;
        (output.is_some() && output == shown.output).then_some(shown.since)
    }

    /// Tells whether the generation of an apply was kept with other inputs before.
    pub(crate) fn was_there_before(&self, record: &Record) -> bool {
        self.0.get(&record.uid).is_some_and(|it| {
            let made = record.generation.is_some() && it.generation >= record.generation;
            made && it.inputs_id.as_ref() != Some(&record.inputs_id)
        })
    }

    /// Forgets an object.
    pub(crate) fn forget(&mut self, uid: &str) {
        self.0.remove(uid);
    }
}

fn output_of(snapshot: &Snapshot) -> Option<ArtifactId> {
    snapshot.output.as_ref().map(Artifact::id)
}
