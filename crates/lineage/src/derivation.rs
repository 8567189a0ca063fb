//! Derivations: how an artifact came to be.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::artifact::Artifact;
use crate::evidence::Evidence;
use crate::origin::Origin;
use crate::snapshot::Snapshot;
use crate::stamp::Template;

/// The derivation of an output: by which object of which resource, from which inputs, and how that
/// is known.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Derivation {
    /// The resource of the blueprint.
    pub resource: String,
    /// The template its object was stamped from.
    pub template: Template,
    /// The uid of the object; empty where an input was passed through.
    pub uid: String,
    /// The generation of the object in which the output was seen.
    pub generation: Option<i64>,
    /// The output; `None` for a sink, whose object is the result.
    pub output: Option<Artifact>,
    /// The commit that carries what the object asks for, where the object writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Artifact>,
    /// The inputs that it was made from.
    pub from: BTreeMap<Origin, Edge>,
    /// When this was first known, or was judged anew.
    pub time: Timestamp,
    /// The apply whose inputs these are.
    pub(crate) record: u64,
}

/// One input of a derivation.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Edge {
    /// The input.
    pub artifact: Artifact,
    /// The evidence that the output was made from it.
    pub evidence: Evidence,
    /// Whether it was offered to a template that does not tell what it reads of all that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
}

impl Derivation {
    /// Tells whether both say the same, whenever they said it first.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let untimed = |it: &Self| Self {
            time: Timestamp::UNIX_EPOCH,
            ..it.clone()
        };
        untimed(self) == untimed(other)
    }

    /// Tells whether both were made by one object from the same inputs, however well that is proven.
    pub(crate) fn has_inputs_of(&self, other: &Self) -> bool {
        let inputs = |it: &Self| -> Vec<_> {
            let from = it.from.iter();
            from.map(|(origin, edge)| (origin.clone(), edge.artifact.id()))
                .collect()
        };
        (&self.uid, &self.template) == (&other.uid, &other.template)
            && inputs(self) == inputs(other)
    }

    /// Tells whether a snapshot shows what this says came out of that object.
    pub(crate) fn shows(&self, snapshot: &Snapshot) -> bool {
        self.uid == snapshot.uid
            && self.template == snapshot.template
            && self.output == snapshot.output
    }

    /// Returns the same without belief in some of its edges, as it is known since then.
    pub(crate) fn doubting(
        &self,
        time: Timestamp,
        is_doubtful: impl Fn(&Origin, &Edge) -> bool,
    ) -> Self {
        // Whoever records it tells by the time that this is no repetition of what was proven.
        let mut doubting = Self {
            time,
            ..self.clone()
        };
        for (origin, edge) in &mut doubting.from {
            if is_doubtful(origin, edge) {
                edge.evidence = Evidence::Assumed;
            }
        }
        doubting
    }
}
