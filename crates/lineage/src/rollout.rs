//! The last mile: does that run which a final resource says it made?

use serde::{Deserialize, Serialize};

/// How far the last mile of a final resource is, judged on one object at one generation.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rollout {
    /// The uid of the stamped object.
    pub uid: String,
    /// The generation of the stamped object, where its kind has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// How far it is.
    pub stage: Stage,
}

/// How far a last mile is.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "name")]
pub enum Stage {
    /// There is no last mile: nothing below the object runs.
    #[default]
    None,
    /// Something old is still there, or something new is not there yet.
    Progressing {
        /// What is missing.
        why: String,
    },
    /// What runs is exactly what this generation asks for.
    Done,
    /// It will not get there without a change.
    Failed {
        /// Why, in the words of what failed.
        reason: String,
    },
}

impl Rollout {
    /// Tells whether it speaks about an object as it is since a generation.
    ///
    /// What was judged on an older generation, or on another object, says nothing.
    pub fn is_about(&self, uid: &str, generation: Option<i64>) -> bool {
        self.uid == uid && self.generation >= generation
    }
}
