//! Ways to trace outputs of an object to the inputs it was stamped with.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::origin::Origin;
use crate::snapshot::Snapshot;

/// The declarations of a template, and of the kind it stamps, about tracing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Tracing {
    /// Every change of inputs makes a new object (lifecycle `immutable` or `tekton`, or a Runnable).
    #[serde(default)]
    pub immutable: bool,
    /// The observed generation that is believed.
    #[serde(default)]
    pub trust: Trust,
    /// The inputs that the template's correlation rules name.
    #[serde(default)]
    pub rules: BTreeSet<Origin>,
}

impl Tracing {
    /// Returns the generation that an object says it has got to, whether or not that is believed to
    /// speak about its output.
    pub(crate) fn reported(&self, snapshot: &Snapshot) -> Option<i64> {
        match self.trust {
            Trust::Condition => snapshot.condition_observed.or(snapshot.observed),
            Trust::Never | Trust::Declared | Trust::Known => snapshot.observed,
        }
    }
}

/// The observed generation that is believed to speak about outputs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// None: the object reports nothing.
    Never,
    /// The one that the condition read for health carries itself.
    #[default]
    Condition,
    /// The one at the declared path (`artifactTracing.observedGenerationPath`, or
    /// `observedCompletion`).
    Declared,
    /// The one of a [kind that is known](crate::kinds) to report after its outputs.
    Known,
}
