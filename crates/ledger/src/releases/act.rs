//! Actions on the queues of one tracker: what happens to a deployment, and what somebody does by hand.

mod perform;

use jiff::Timestamp;
use pathline_release::queue::{Flow, Hold, NotPromoted, NotRolledBack, Report, Transition};

use self::perform::ActOnQueues;
use super::Releases;
use super::queues::TrackerRef;
use super::stored::StoredRelease;
use crate::error::Error;

/// The one who does something, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// The name of a token, or of a part of Pathline.
    pub who: String,
    /// The reason, as somebody gave it.
    pub reason: Option<String>,
}

/// An action on the queues of a tracker. See the function of [`pathline_release::queue::Queues`] with its name for what it
/// does, and when it does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueAction {
    /// Enters releases wherever they have got to: when the flow has changed, or something has soaked.
    Advance,
    /// Takes the report about a deployment.
    Report {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
        /// The attempt that is reported about.
        attempt: u32,
        /// The end of it.
        report: Report,
    },
    /// Takes the report about a restoration.
    ReportRestore {
        /// The environment.
        environment: String,
        /// The number of the release that has failed.
        failed: u64,
        /// The attempt that has failed.
        attempt: u32,
        /// The end of the restoration.
        report: Report,
    },
    /// Fails what has not become ready in time.
    Expire,
    /// Takes the word that a deployed release is live, or is not.
    Live {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
        /// Whether it is live.
        is_live: bool,
    },
    /// Writes down for how long releases have been live so far.
    Checkpoint,
    /// Goes on counting after a restart, without the time in which nobody watched.
    Restarted,
    /// Notes something about an attempt that is being deployed, or was.
    Note {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
        /// The attempt that it is about.
        attempt: u32,
        /// The note; nothing removes the one that is there.
        message: Option<String>,
    },
    /// Queues a release that is held, or has failed.
    Promote {
        /// The environment.
        environment: String,
        /// The number of the release; nothing for the newest one that waits.
        release: Option<u64>,
        /// Whether it is deployed at once, without a tick.
        now: bool,
    },
    /// Holds the tracker in an environment.
    Hold {
        /// The environment.
        environment: String,
    },
    /// Ends the hold of the tracker in an environment.
    Resume {
        /// The environment.
        environment: String,
    },
    /// Deploys the content of an older release at once, and holds the tracker there.
    Rollback {
        /// The environment.
        environment: String,
        /// The number of the release whose content is deployed; nothing for the one that was deployed before.
        release: Option<u64>,
    },
}

/// The outcome of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum ActOutcome {
    /// It is done, which may be nothing: reports may be late.
    Done {
        /// The changes of states, in their order.
        transitions: Vec<Transition>,
        /// The release that a rollback has formed.
        formed: Option<Box<StoredRelease>>,
        /// The hold that was ended.
        resumed: Option<Hold>,
    },
    /// There is no such tracker.
    Missing,
    /// There is no such environment to be held.
    NoEnvironment,
    /// Nothing was promoted, for this reason.
    NotPromoted(NotPromoted),
    /// Nothing was rolled back, for this reason.
    NotRolledBack(NotRolledBack),
    /// The tracker was not held there, so there is nothing to resume.
    NotHeld,
}

/// Acting
impl Releases<'_> {
    /// Does something to the queues of a tracker, all of it or nothing: what changes in all environments, the release that
    /// is formed, holds, and who did it. Unless it is [`ActOutcome::Done`], nothing has changed.
    ///
    /// `by` is recorded for what somebody does by hand.
    ///
    /// # Errors
    /// If the ledger cannot be written to. Then nothing was done, or it was and the answer got lost.
    pub async fn act(
        self,
        tracker: TrackerRef,
        flow: &Flow,
        action: QueueAction,
        by: &By,
        at: Timestamp,
    ) -> Result<ActOutcome, Error> {
        let act = ActOnQueues {
            tracker,
            flow: flow.clone(),
            action,
            by: by.clone(),
            at: stored_time(at),
        };
        self.ledger.write(act).await
    }
}

impl By {
    /// Returns somebody with a reason; one that is empty is none.
    pub fn new(who: &str, reason: Option<&str>) -> Self {
        Self {
            who: who.to_owned(),
            reason: reason.filter(|it| !it.is_empty()).map(str::to_owned),
        }
    }
}

impl QueueAction {
    /// Tells whether somebody does it, and not Pathline itself.
    fn is_by_hand(&self) -> bool {
        matches!(
            self,
            Self::Promote { .. } | Self::Hold { .. } | Self::Resume { .. } | Self::Rollback { .. }
        )
    }
}

/// Returns a time as it is stored, so that durations that are counted from it are those that would be counted from what
/// is read again.
pub(super) fn stored_time(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}
