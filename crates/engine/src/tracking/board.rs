//! The board: when trackers were looked at, and will be.
//!
//! These times change with every poll, so they are not stored; whoever shows a tracker in the same process finds them here.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use pathline_release::poll::Schedule;

use super::followed::FollowedTracker;

/// The polls of one tracker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polls {
    /// The time of the last poll.
    pub observed: Option<Timestamp>,
    /// The time of the next poll.
    pub next: Timestamp,
    /// The number of failures since the last success.
    pub failures: u32,
    /// The time between two polls.
    pub interval: SignedDuration,
    /// The last failure, in words that have no secrets.
    pub last_failure: Option<String>,
}

/// The polls of all trackers. Cheap to clone: all clones are the same board.
#[derive(Clone, Debug, Default)]
pub struct PollBoard {
    polls: Arc<Mutex<HashMap<String, Polls>>>,
}

impl PollBoard {
    /// Returns the polls of a tracker; nothing if another process makes them.
    pub fn of(&self, uid: &str) -> Option<Polls> {
        self.polls.lock().get(uid).cloned()
    }

    pub(super) fn set(
        &self,
        uid: &str,
        schedule: &Schedule,
        interval: SignedDuration,
        tracker: &FollowedTracker,
    ) {
        let polls = Polls {
            observed: tracker.observed,
            next: schedule.next,
            failures: schedule.failures,
            interval,
            last_failure: tracker.last_failure.as_deref().map(printable),
        };
        self.polls.lock().insert(uid.to_owned(), polls);
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.polls.lock().clear();
    }

    pub(super) fn forget(&self, uid: &str) {
        self.polls.lock().remove(uid);
    }
}

/// Returns a message without what moves the cursor of a terminal: a server may have written it.
fn printable(message: &str) -> String {
    message.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_of_a_server_has_no_control_characters() {
        assert_eq!(printable("no \u{1b}[31m\0 access\n"), "no  [31m  access ");
    }
}
