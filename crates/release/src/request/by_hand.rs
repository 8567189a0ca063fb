//! The bodies of what somebody does to releases by hand.

use super::fields::Fields;
use super::{Body, Problem, read_name};
use crate::name::TrackerName;

/// The longest reason, in characters.
pub const MAX_REASON: usize = 500;

/// The greatest number that every reader of JSON keeps.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// A release that is to be promoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromoteBody {
    /// The tracker.
    pub tracker: TrackerName,
    /// The number of the release; nothing for the newest one that waits.
    pub release: Option<u64>,
    /// Whether it is deployed at once.
    pub now: bool,
    /// The reason.
    pub reason: Option<String>,
}

/// An environment, or a tracker in it, that is to be held or resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldBody {
    /// The tracker; nothing for the whole environment.
    pub tracker: Option<TrackerName>,
    /// The reason.
    pub reason: Option<String>,
}

/// A rollback that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollbackBody {
    /// The tracker.
    pub tracker: TrackerName,
    /// The number of the release whose content is wanted; nothing for the one that was deployed before.
    pub release: Option<u64>,
    /// The reason.
    pub reason: Option<String>,
}

impl Body {
    /// Reads the body that releases a configuration at once, and returns the reason in it.
    ///
    /// # Errors
    /// If fields are wrong: all problems.
    pub fn release_request(&self) -> Result<Option<String>, Vec<Problem>> {
        let mut fields = Fields::new(&self.fields);
        let reason = fields.reason();
        finished(fields.finish_known(&["reason"]), Some(reason))
    }

    /// Reads the body that promotes a release.
    ///
    /// # Errors
    /// If fields are missing or wrong: all problems, in the order of the fields.
    pub fn promotion(&self) -> Result<PromoteBody, Vec<Problem>> {
        let mut fields = Fields::new(&self.fields);
        let tracker = fields.required("tracker", read_name);
        let release = fields.number("release", MAX_NUMBER);
        let now = fields.flag("now");
        let reason = fields.reason();
        let problems = fields.finish_known(&["tracker", "release", "now", "reason"]);
        let read = tracker.map(|tracker| PromoteBody {
            tracker,
            release,
            now,
            reason,
        });
        finished(problems, read)
    }

    /// Reads the body that holds or resumes.
    ///
    /// # Errors
    /// If fields are wrong: all problems, in the order of the fields.
    pub fn hold(&self) -> Result<HoldBody, Vec<Problem>> {
        let mut fields = Fields::new(&self.fields);
        let tracker = fields.optional("tracker", read_name);
        let reason = fields.reason();
        let problems = fields.finish_known(&["tracker", "reason"]);
        finished(problems, Some(HoldBody { tracker, reason }))
    }

    /// Reads the body that rolls back.
    ///
    /// # Errors
    /// If fields are missing or wrong: all problems, in the order of the fields.
    pub fn rollback(&self) -> Result<RollbackBody, Vec<Problem>> {
        let mut fields = Fields::new(&self.fields);
        let tracker = fields.required("tracker", read_name);
        let release = fields.number("release", MAX_NUMBER);
        let reason = fields.reason();
        let problems = fields.finish_known(&["tracker", "release", "reason"]);
        let read = tracker.map(|tracker| RollbackBody {
            tracker,
            release,
            reason,
        });
        finished(problems, read)
    }
}

/// Tells whether a text is on one line, and is read as it is written: others see it on their terminals.
pub(crate) fn is_line(text: &str) -> bool {
    let is_separator = |it: char| matches!(it, '\u{2028}' | '\u{2029}');
    let turns = |it: char| matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !text
        .chars()
        .any(|it| it.is_control() || is_separator(it) || turns(it))
}

impl Fields<'_> {
    /// Reads a reason: a short text on one line.
    fn reason(&mut self) -> Option<String> {
        let read = self.optional("reason", |text| {
            if text.chars().count() > MAX_REASON {
                let message = format!("a reason has at most {MAX_REASON} characters");
                return Err(("too-long", message));
            }
            match is_line(text) {
                true => Ok(text.trim().to_owned()),
                false => Err(("malformed", "a reason is a text on one line".to_owned())),
            }
        });
        read.filter(|it| !it.is_empty())
    }
}

fn finished<T>(problems: Vec<Problem>, read: Option<T>) -> Result<T, Vec<Problem>> {
    match read {
        Some(read) if problems.is_empty() => Ok(read),
        _ => Err(problems),
    }
}
