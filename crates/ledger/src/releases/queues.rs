//! The queues of trackers, as they are stored.

mod open;
mod restore;
mod store;

use std::sync::Arc;

use pathline_release::TrackerName;
use pathline_release::queue::Queues;

pub(crate) use self::open::OpenQueues;
pub(crate) use self::restore::Named;
pub(crate) use self::store::store;

use self::restore::{Restored, restore, trackers};
use super::Releases;
use crate::error::Error;
use crate::rows::unreadable;

/// A tracker, by its name or by its uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrackerRef {
    /// The one of a uid, also if it was deleted.
    Uid(String),
    /// The one that has the name, however it is spelled.
    Name(TrackerName),
}

/// The trackers whose queues are wanted.
#[derive(Clone, Copy, Debug)]
pub enum QueuesOf<'a> {
    /// Those that are not deleted, by the bytes of their names, after one of them.
    All {
        /// The name of the last one that was read; nothing for the beginning.
        after: Option<&'a TrackerName>,
        /// The most that are wanted.
        limit: u32,
    },
    /// Those of some uids, also if they were deleted.
    Uids(&'a [String]),
    /// Those in which something is being deployed or restored, also if they were deleted.
    Busy,
    /// One of them, for questions about one of its releases.
    One {
        /// The tracker.
        tracker: &'a TrackerRef,
        /// The number of the release; the newest ones, and what may still move, are always there.
        release: Option<u64>,
    },
}

/// The queues of a tracker.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackerQueues {
    /// The uid of the tracker.
    pub uid: String,
    /// The name of the tracker.
    pub name: TrackerName,
    /// The queues, with all that decides on what happens next. Of older releases only those that were asked for are in
    /// them.
    pub queues: Queues,
}

/// Queues
impl Releases<'_> {
    /// Returns the queues of trackers, by the bytes of their names, in two statements however many there are. The holds
    /// of environments as a whole are apart: see [`Releases::environment_holds`].
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn queues(self, which: QueuesOf<'_>) -> Result<Vec<TrackerQueues>, Error> {
        let database = self.ledger.database();
        let mut session = database.reader().await?;
        let asked = trackers(session.dialect(), which);
        let named = match which {
            QueuesOf::One { release, .. } => Named {
                release,
                rollback_of: None,
            },
            _ => Named::default(),
        };
        let restored = restore(&mut session, database.location(), asked, named).await?;
        Ok(restored.into_iter().map(TrackerQueues::from).collect())
    }
}

impl From<Restored> for TrackerQueues {
    fn from(restored: Restored) -> Self {
        Self {
            uid: restored.uid,
            name: restored.name,
            queues: restored.queues,
        }
    }
}

/// Returns a number of a release as columns hold it.
pub(crate) fn number(location: &Arc<str>, number: u64) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| unreadable(location, "number of a release"))
}

/// Returns the questions by which the queues of trackers are restored.
#[cfg(test)]
pub(super) fn plan_of_restoring(
    dialect: crate::database::Dialect,
    location: &Arc<str>,
    uids: &[String],
) -> [crate::database::Statement; 2] {
    let needed = restore::needed(dialect, location, uids, Named::default());
    [
        trackers(dialect, QueuesOf::Uids(uids)),
        needed.expect("no release is named"),
    ]
}
