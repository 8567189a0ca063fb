//! Rollouts: does that run which a final resource says it made?
//!
//! [`Below`] collects what lies below a stamped object, a few bytes a pod, in any order; [`judge`]
//! says how far it is. Rolled out means: the new revision is complete at the current generation, and
//! the old one is gone. Nothing here does I/O.
//!
//! Read on in this order: `object` (what is kept of an object), `pods` (what is kept of pods),
//! `judging` (which rule is for which kind), and the kinds. That pods have read the ConfigMaps and
//! Secrets as they are now is a rule of its own: `uses` (what pods read), `config` (when it changed),
//! `carried` (hashes that pods carry), `fed` (the rule).

mod below;
mod carried;
mod commit;
mod config;
mod controllers;
mod delivered_by;
mod delivery;
mod delivery_state;
mod fed;
mod flux;
mod images;
mod job;
mod judging;
mod knative;
mod object;
mod owner_chain;
mod pod;
mod pods;
mod process;
mod revision;
mod selected;
mod task;
mod uses;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::below::Below;
pub use self::commit::judge_unwritten;
pub use self::config::{ConfigChange, ConfigObservation, ConfigRecord, content, owns_content};
pub use self::delivered_by::DeliveredBy;
pub(crate) use self::delivery::without_user;
pub use self::delivery::{Delivery, Files, Followed, followers, judge_delivered};
pub use self::delivery_state::DeliveryState;
pub use self::fed::{Fed, FedBy, PodsBelow, judge_fed};
pub use self::flux::{Reference, all_named};
pub use self::judging::{ApiKind, judge, judge_across, kinds_below};
pub use self::object::Object;
pub use self::owner_chain::{OwnerReference, Step, climb};
pub use self::revision::{is_template_of, revision_name};
pub use self::selected::{judge_selected, judge_selected_pods};
pub use self::uses::ConfigKind;

/// The progress of the rollout of a final resource, judged on one object at one generation.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rollout {
    /// The uid of the stamped object.
    pub uid: String,
    /// The generation of the stamped object, where its kind has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// The stage that it is at.
    pub stage: Stage,
    /// The stamped object, as the API names it.
    #[serde(skip_serializing_if = "ObjectName::is_empty")]
    pub object: ObjectName,
    /// The uids of what controls pods below it: they tell what is left of it when it is gone.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub controllers: BTreeSet<String>,
    /// The deliveries by which it was judged, each as it was then: whoever asks later can tell
    /// whether that is still so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<DeliveredBy>,
}

/// The name of an object in a cluster.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectName {
    /// The API version, with its group.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectName {
    /// Tells whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}

/// The stage of a rollout.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "name")]
pub enum Stage {
    /// There is no rollout: nothing below the object runs.
    #[default]
    None,
    /// There is no rollout yet, but there may be one soon: nothing follows what was made.
    #[serde(alias = "unfollowed")]
    NoFollower {
        /// The reason: what should follow it.
        why: String,
    },
    /// Something old is still there, or something new is not there yet.
    Progressing {
        /// The reason: what is missing.
        why: String,
    },
    /// Exactly what this generation asks for runs, and nothing else.
    Done,
    /// It will not get there without a change.
    Failed {
        /// The reason, in the words of what failed.
        reason: String,
    },
}

impl Rollout {
    /// Tells whether it speaks about an object as it is since a generation.
    ///
    /// A judgement of an older generation, or of another object, says nothing.
    pub fn is_about(&self, uid: &str, generation: Option<i64>) -> bool {
        self.uid == uid && self.generation >= generation
    }
}

impl Stage {
    /// Returns what can be said of two rollouts together: one that failed tells most, then one
    /// that is not done.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let rank = |stage: &Self| match stage {
            Self::None => 0,
            Self::NoFollower { .. } => 1,
            Self::Done => 2,
            Self::Progressing { .. } => 3,
            Self::Failed { .. } => 4,
        };
        if rank(&other) > rank(&self) {
            other
        } else {
            self
        }
    }

    fn progressing(why: impl Into<String>) -> Self {
        Self::Progressing { why: why.into() }
    }

    fn failed(reason: impl Into<String>) -> Self {
        Self::Failed {
            reason: reason.into(),
        }
    }
}
