//! Answers to those who wait.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::RunningObject;

/// The result of a wait, as far as it is known.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitResult {
    /// The answer that can be given now.
    pub state: WaitState,
    /// The generation that the owner had when the waiting began; 0 while it is not there yet.
    pub generation: i64,
    /// A summary of what was learned so far. Send it as `Last-Event-ID` with the next question: without,
    /// something that was there and is gone looks as if it were still to come.
    #[serde(default)]
    pub id: String,
    /// The progress of each value that is waited for: several for `current`; empty where the answer is no, or proof is
    /// missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// The reason why it can't happen any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<Impossible>,
    /// The templates that do not say enough for a proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_proof: Vec<MissingProof>,
    /// Notes on what is not waited for although somebody might think so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The things that run with it, if that was asked for and it holds: at most 100; a note says whether there are more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<RunningObject>,
}

/// The states of a wait.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum WaitState {
    /// All of it is true, in one state.
    Holds,
    /// Some of it is not true yet.
    Waiting,
    /// Some of it can't become true any more.
    Impossible,
    /// Everything has settled, and only proof is missing.
    Unproven,
}

/// The progress of something that is waited for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Progress {
    /// The thing that is waited for, as it was asked.
    #[serde(rename = "for")]
    pub wait_for: String,
    /// The name of the owner's input, or of the resource, whose value it is; empty while nobody can
    /// say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// The value; empty while nobody can say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The resources that make what they make from it, producers first.
    pub reached: Vec<String>,
    /// The resource that is at work on it.
    #[serde(default, rename = "atWork", skip_serializing_if = "Option::is_none")]
    pub at_work: Option<AtWork>,
    /// The reasons why it has not arrived, or does not run; empty if it is where it is wanted.
    pub missing: Vec<String>,
    /// The Deliverables whose rollout is missing, each as `NAMESPACE/NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<String>,
}

/// A resource that is at work.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct AtWork {
    /// The resource.
    pub resource: String,
    /// When it was given what it is at work on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub since: Option<Timestamp>,
}

/// The reason why something can't happen any more.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Impossible {
    /// One word: `failed`, `superseded`, `notARevision`, `contradiction`, `notOnPath`, `unused`,
    /// `fixed` or `gone`.
    pub reason: String,
    /// The same for people, with what to do next.
    pub message: String,
    /// The resource that failed, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The input of the owner that has another value now, where it was superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The one who has replaced it, after an apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ReplacedBy>,
}

/// The one who has replaced a value of an owner, as far as the cluster knows.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ReplacedBy {
    /// The field manager.
    pub manager: String,
    /// When it has done so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl fmt::Display for ReplacedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "applied by `{}`", self.manager)?;
        match &self.time {
            Some(time) => write!(f, " at {time}"),
            None => Ok(()),
        }
    }
}

/// A template that does not say enough.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct MissingProof {
    /// The resource that uses it.
    pub resource: String,
    /// Its kind and name.
    pub template: String,
    /// The edge that is not proven, and what to add to the template.
    pub why: String,
    /// Whether it counts for those who accept what is only assumed.
    #[serde(default)]
    pub assumed: bool,
}

impl WaitResult {
    /// Tells whether there is nothing more to wait for.
    pub fn is_decided(&self) -> bool {
        self.state != WaitState::Waiting
    }
}
