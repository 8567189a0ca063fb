//! What is told to those who wait.

use std::fmt;

use jiff::Timestamp;
use pathline_lineage::wait::{self, Never, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunningObject;

/// How far that is which somebody waits for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waited {
    /// What can be said now.
    pub state: WaitState,
    /// The generation that the owner had when the waiting began; 0 while it is not there yet.
    pub generation: i64,
    /// What was learned so far, in short. Send it as `Last-Event-ID` with the next question: without,
    /// something that was there and is gone looks as if it were still to come.
    #[serde(default)]
    pub id: String,
    /// Where each thing is that was asked for; empty where the answer is no, or proof is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Position>,
    /// Why it can't happen any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<Impossible>,
    /// The templates to mend before anything can be said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mend: Vec<Mend>,
    /// What is not waited for although somebody might think so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The things that run with it, if that was asked for and it holds: at most 100; a note says whether there are more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<RunningObject>,
}

/// What can be said to somebody who waits.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitState {
    /// All of it is true, in one state.
    Holds,
    /// Some of it is not true yet.
    Waiting,
    /// Some of it can't become true any more.
    Never,
    /// Everything has settled, and only proof is missing.
    Unproven,
}

/// Where something is that is waited for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Position {
    /// What is waited for, as it was asked.
    pub wish: String,
    /// The name of the owner's input, or of the resource, whose value it is; empty while nobody can
    /// say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// The value; empty while nobody can say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The resources that make what they make from it, producers first.
    pub reached: Vec<String>,
    /// The step that is at work on it.
    #[serde(default, rename = "atWork", skip_serializing_if = "Option::is_none")]
    pub at_work: Option<AtWork>,
    /// Why it has not arrived, or does not run; empty if it is where it is wanted.
    pub missing: Vec<String>,
}

/// A step that is at work.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct AtWork {
    /// The resource.
    pub resource: String,
    /// When it was given what it is at work on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
}

/// Why something can't happen any more.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Impossible {
    /// One word: `failed`, `superseded`, `notARevision`, `contradiction`, `notOnPath`, `unused`,
    /// `fixed` or `gone`.
    pub reason: String,
    /// The same for people, with what to do next.
    pub message: String,
    /// The input of the owner that has another value now, where it was superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Who has replaced it, after an apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ReplacedBy>,
}

/// Who has replaced a value of an owner, as far as the cluster knows.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
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

impl Impossible {
    /// Returns a reason that is all that can be said.
    pub(crate) fn new(reason: &str, message: String) -> Self {
        Self {
            reason: reason.to_owned(),
            message,
            input: None,
            by: None,
        }
    }
}

/// A template that does not say enough.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Mend {
    /// The resource that uses it.
    pub resource: String,
    /// Its kind and name.
    pub template: String,
    /// What is not proven, and how to mend it.
    pub why: String,
}

impl Waited {
    /// Returns what a verdict says.
    pub(crate) fn new(verdict: Verdict, generation: i64, id: String, notes: Vec<String>) -> Self {
        let mut waited = Self {
            state: WaitState::Waiting,
            generation,
            id,
            positions: Vec::new(),
            never: None,
            mend: Vec::new(),
            notes,
            running: Vec::new(),
        };
        match verdict {
            Verdict::Holds(positions) => {
                waited.state = WaitState::Holds;
                waited.positions = positions.into_iter().map(Position::from).collect();
            }
            Verdict::Waiting(positions) => {
                waited.positions = positions.into_iter().map(Position::from).collect();
            }
            Verdict::Never(never) => {
                waited.state = WaitState::Never;
                waited.never = Some(Impossible::from(&never));
            }
            Verdict::Unproven(mend) => {
                waited.state = WaitState::Unproven;
                waited.mend = mend.into_iter().map(Mend::from).collect();
            }
        }
        waited
    }

    /// Says that the owner was not looked at with all that it should have been.
    pub(crate) fn not_seen(
        asked: impl Iterator<Item = String>,
        id: String,
        generation: i64,
        missing: &[String],
    ) -> Self {
        Self {
            generation,
            ..Self::not_there(asked, id, &missing.join("; "))
        }
    }

    /// Says that the owner is not there yet.
    pub(crate) fn not_there(
        asked: impl Iterator<Item = String>,
        id: String,
        missing: &str,
    ) -> Self {
        let position = |wish: String| Position {
            wish,
            input: String::new(),
            value: String::new(),
            reached: Vec::new(),
            at_work: None,
            missing: vec![missing.to_owned()],
        };
        Self {
            state: WaitState::Waiting,
            generation: 0,
            id,
            positions: asked.map(position).collect(),
            never: None,
            mend: Vec::new(),
            notes: Vec::new(),
            running: Vec::new(),
        }
    }

    /// Says that the owner was deleted.
    pub(crate) fn gone(generation: i64, id: String, owner: &str) -> Self {
        let message = format!("the {owner} was deleted; apply it again and wait again");
        Self::never(generation, id, Impossible::new("gone", message))
    }

    /// Says that something else was applied since.
    pub(crate) fn superseded(generation: i64, id: String, impossible: Impossible) -> Self {
        Self::never(generation, id, impossible)
    }

    fn never(generation: i64, id: String, never: Impossible) -> Self {
        Self {
            state: WaitState::Never,
            generation,
            id,
            positions: Vec::new(),
            never: Some(never),
            mend: Vec::new(),
            notes: Vec::new(),
            running: Vec::new(),
        }
    }

    /// Returns the input of the owner whose value was superseded, if that is the answer.
    pub(crate) fn superseded_input(&self) -> Option<&str> {
        self.never.as_ref()?.input.as_deref()
    }

    /// Adds who has superseded it.
    pub(crate) fn name_who(&mut self, by: ReplacedBy) {
        if let Some(never) = &mut self.never {
            never.message = format!("{} ({by})", never.message);
            never.by = Some(by);
        }
    }

    /// Tells whether there is nothing more to wait for.
    pub fn is_decided(&self) -> bool {
        self.state != WaitState::Waiting
    }
}

impl From<wait::Position> for Position {
    fn from(position: wait::Position) -> Self {
        let wait::Position {
            wish,
            input,
            value,
            reached,
            at_work,
            missing,
        } = position;
        Self {
            wish,
            input,
            value,
            reached,
            at_work: at_work.map(AtWork::from),
            missing,
        }
    }
}

impl From<wait::AtWork> for AtWork {
    fn from(at_work: wait::AtWork) -> Self {
        let wait::AtWork { resource, since } = at_work;
        Self { resource, since }
    }
}

impl From<&Never> for Impossible {
    fn from(never: &Never) -> Self {
        let reason = match never {
            Never::Failed { .. } => "failed",
            Never::Superseded { .. } => "superseded",
            Never::NotARevision { .. } => "notARevision",
            Never::Contradiction { .. } => "contradiction",
            Never::NotOnPath { .. } => "notOnPath",
            Never::Unused { .. } => "unused",
            Never::Fixed { .. } => "fixed",
        };
        let input = match never {
            Never::Superseded { input, .. } => Some(input.clone()),
            _ => None,
        };
        Self {
            input,
            ..Self::new(reason, never.to_string())
        }
    }
}

impl From<wait::Mend> for Mend {
    fn from(mend: wait::Mend) -> Self {
        let wait::Mend {
            resource,
            template,
            why,
        } = mend;
        Self {
            resource,
            template,
            why,
        }
    }
}
