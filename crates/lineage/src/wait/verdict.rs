//! The answers to those who wait.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::wait_for::WaitFor;
use crate::revision::MIN_DIGITS;

/// The answer to a wait in one state.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// All of them are true in this state.
    Holds(Vec<Progress>),
    /// Some are not true yet.
    Waiting(Vec<Progress>),
    /// One of them can't become true any more.
    Impossible(Impossible),
    /// All has settled, and only proof is missing.
    Unproven(Vec<MissingProof>),
}

/// The progress of something that is waited for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The thing that is waited for, as it was asked.
    #[serde(rename = "for")]
    pub wait_for: String,
    /// The name of the owner's input, or of the resource, whose value it is; empty while nobody can
    /// say.
    pub input: String,
    /// The value.
    pub value: String,
    /// The resources that make what they make from it, producers first.
    pub reached: Vec<String>,
    /// The resource that is at work on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_work: Option<AtWork>,
    /// The reasons why it has not arrived, or does not run; empty if it is where it is wanted.
    pub missing: Vec<String>,
    /// The Deliverables whose rollout is missing, each as `NAMESPACE/NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<String>,
}

/// A resource that is at work.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AtWork {
    /// The resource.
    pub resource: String,
    /// When it was given what it is at work on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// The reason why something can't happen any more. As text it says what to do next.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "reason")]
pub enum Impossible {
    /// Something that was given the value can't go on.
    Failed {
        /// The resource.
        resource: String,
        /// The reason, in the words of what failed.
        message: String,
    },
    /// Neither the owner nor any object on the path carries the value.
    Superseded {
        /// The input, or the resource that finds it.
        input: String,
        /// The value that was asked for.
        wanted: String,
        /// The value that is there.
        now: Option<String>,
    },
    /// The text can't name any revision of the source that is there.
    NotARevision {
        /// The text.
        asked: String,
        /// The revision that is there.
        now: String,
    },
    /// Two things that are waited for can't both be true, since there is one source.
    Contradiction {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// Nothing on the path finds, makes or takes such a thing.
    NotOnPath {
        /// A word for it.
        what: String,
    },
    /// Nothing selected reads the input.
    Unused {
        /// The input.
        input: String,
        /// The inputs that are read.
        read: Vec<String>,
    },
    /// The blueprint fixes the param.
    Fixed {
        /// Its name.
        param: String,
        /// The value that it always has.
        value: String,
    },
}

/// A template that does not say enough.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingProof {
    /// The resource.
    pub resource: String,
    /// Kind and name of its template.
    pub template: String,
    /// The edge that is not proven, and what to add to the template.
    pub why: String,
    /// Whether it counts for those who accept what is only assumed.
    #[serde(default)]
    pub assumed: bool,
}

impl Verdict {
    /// Returns the exit code of a command that ends with this; `None` to wait on.
    pub fn exit_code(&self) -> Option<u8> {
        match self {
            Self::Holds(_) => Some(0),
            Self::Waiting(_) => None,
            Self::Impossible(_) => Some(1),
            Self::Unproven(_) => Some(3),
        }
    }

    /// Returns what can be said of two groups of what is waited for together.
    ///
    /// Joins two verdicts: what can't happen ends the waiting; what still can keeps it from ending for want of proof.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Impossible(impossible), _) | (_, Self::Impossible(impossible)) => {
                Self::Impossible(impossible)
            }
            (Self::Waiting(mut all), Self::Waiting(more) | Self::Holds(more)) => {
                all.extend(more);
                Self::Waiting(all)
            }
            (Self::Holds(mut all), Self::Waiting(more)) => {
                all.extend(more);
                Self::Waiting(all)
            }
            (Self::Waiting(all), Self::Unproven(_)) | (Self::Unproven(_), Self::Waiting(all)) => {
                Self::Waiting(all)
            }
            (Self::Holds(mut all), Self::Holds(more)) => {
                all.extend(more);
                Self::Holds(all)
            }
            (Self::Unproven(mut all), Self::Unproven(more)) => {
                all.extend(more);
                all.sort();
                all.dedup();
                Self::Unproven(all)
            }
            (Self::Unproven(all), Self::Holds(_)) | (Self::Holds(_), Self::Unproven(all)) => {
                Self::Unproven(all)
            }
        }
    }
}

impl Progress {
    /// Says of something that is waited for that nobody can say yet where it is.
    pub(super) fn unknown(wait_for: &WaitFor, missing: String) -> Self {
        Self {
            wait_for: wait_for.to_string(),
            input: String::new(),
            value: String::new(),
            reached: Vec::new(),
            at_work: None,
            missing: vec![missing],
            deliverables: Vec::new(),
        }
    }
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { resource, message } => {
                write!(
                    f,
                    "resource `{resource}` failed: {message}; mend that and wait again"
                )
            }
            Self::Superseded { input, wanted, now } => {
                write!(
                    f,
                    "`{wanted}` of {input} was superseded: nothing that is stamped for the owner carries it any more, though what was delivered of it may still run"
                )?;
                match now {
                    Some(now) => write!(
                        f,
                        "; it is `{now}` now: wait for that, or bring `{wanted}` back"
                    ),
                    None => write!(f, "; bring `{wanted}` back and wait again"),
                }
            }
            Self::NotARevision { asked, now } => {
                write!(
                    f,
                    "`{asked}` can't name a commit: the source is at `{now}`; write at least {MIN_DIGITS} digits of the commit"
                )
            }
            Self::Contradiction { one, other } => {
                write!(
                    f,
                    "`{one}` and `{other}` can't both be true, since there is one source: wait for one of them"
                )
            }
            Self::NotOnPath { what } => {
                write!(
                    f,
                    "no resource on the path finds or makes a {what}: wait for a param or a field, or mend the labels that choose the path"
                )
            }
            Self::Unused { input, read } if read.is_empty() => {
                write!(
                    f,
                    "nothing on the path reads {input}, nor any other input of the owner: look at the labels that choose the path"
                )
            }
            Self::Unused { input, read } => {
                write!(
                    f,
                    "nothing on the path reads {input}: check its spelling and the labels that choose the path; read are {}",
                    read.join(", ")
                )
            }
            Self::Fixed { param, value } => {
                write!(
                    f,
                    "the blueprint fixes param `{param}` to `{value}`, whatever the owner says: change the blueprint, or wait without it"
                )
            }
        }
    }
}

impl fmt::Display for MissingProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource,
            template,
            why,
            ..
        } = self;
        write!(f, "resource `{resource}` ({template}): {why}")
    }
}
