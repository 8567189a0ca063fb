//! Snapshots: one object at one moment.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::artifact::Artifact;
use crate::origin::Origin;
use crate::stamp::{InputsId, Template};

/// One state of a stamped object, as it was read in one answer of the API server.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Snapshot {
    /// The template by whose paths and rules it was read.
    pub template: Template,
    /// The uid of the object.
    pub uid: String,
    /// `metadata.generation`, where the kind has one.
    pub generation: Option<i64>,
    /// The generation that the object says was observed, at its usual or declared path.
    pub observed: Option<i64>,
    /// The generation that the condition read for health carries.
    pub condition_observed: Option<i64>,
    /// The health, by the template's rule.
    pub health: Health,
    /// Whether every field that was applied holds the applied value; `None` if nobody looked.
    pub held: Option<bool>,
    /// The inputs whose correlation rules hold between the last apply and this state; `None` if
    /// nobody compared the two.
    pub matched: Option<BTreeSet<Origin>>,
    /// The reason why the object will get no further until somebody changes something, in its own words: its
    /// kind says so, or a rule of its template does. Health that is not True says no such thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The id of the inputs that the object carries, if it was read.
    pub inputs_id: Option<InputsId>,
    /// The ids of inputs that it says it carried before, at the same generation: whoever forgot
    /// those applies can still know that there were others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<InputsId>,
    /// The content at the template's output paths.
    pub output: Option<Artifact>,
    /// When it was seen.
    pub time: Timestamp,
}

/// The health of a state, by a health rule.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Healthy, by a rule that reads the object's status.
    True,
    /// Healthy without a look: there is no rule, or it is `alwaysHealthy`.
    Presumed,
    /// Not healthy.
    False,
    /// It can't be said.
    #[default]
    Unknown,
}

impl Snapshot {
    /// Tells whether the correlation rule of an input holds.
    pub(crate) fn matches(&self, origin: &Origin) -> bool {
        let matched = self.matched.as_ref();
        matched.is_some_and(|matched| matched.contains(origin))
    }

    /// Tells whether any correlation rule holds.
    pub(crate) fn matches_any(&self) -> bool {
        let matched = self.matched.as_ref();
        matched.is_some_and(|matched| !matched.is_empty())
    }
}

impl Health {
    pub(crate) fn is_good(self) -> bool {
        matches!(self, Self::True | Self::Presumed)
    }
}
