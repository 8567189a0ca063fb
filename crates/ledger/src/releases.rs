//! Releases: what trackers formed, and what became of it in each environment. They outlive their trackers.

mod act;
mod change;
mod configuration;
mod describe;
mod environments;
mod holds;
mod list;
pub(crate) mod queues;
mod rows;
mod stored;
mod tick;

use std::sync::Arc;

use pathline_release::TrackerName;

pub use self::act::{ActOutcome, By, QueueAction};
pub use self::change::{Formed, HoldChange, Moved, ReleaseChange, What};
pub use self::describe::{ImageDescription, Undescribed};
pub use self::environments::{
    DeploymentNote, EnvironmentCounts, EnvironmentStatus, EnvironmentStatuses,
};
pub use self::holds::TrackerHold;
pub use self::queues::{QueuesOf, TrackerQueues, TrackerRef};
pub use self::stored::{ReleaseFilter, StoredConfiguration, StoredRelease};
pub use self::tick::Ticked;

use self::rows::{RELEASE, ReleaseRow, with_entries};
use crate::database::{Session, Statement, sql, sql_of_parts};
use crate::error::Error;
use crate::ledger::Ledger;

/// The fewest digits by which an id, or a commit, is found.
const MIN_DIGITS: usize = 7;

/// The releases, as [`Ledger::releases`] hands them out.
#[derive(Clone, Copy, Debug)]
pub struct Releases<'a> {
    ledger: &'a Ledger,
}

impl<'a> Releases<'a> {
    pub(crate) fn new(ledger: &'a Ledger) -> Self {
        Self { ledger }
    }
}

/// Reading
impl Releases<'_> {
    /// Returns the release of an id, or of at least seven of its first digits.
    ///
    /// # Errors
    /// [`Error::AmbiguousId`] if several ids begin so.
    pub async fn get(self, id: &str) -> Result<Option<StoredRelease>, Error> {
        let Some((first, end)) = digits(id) else {
            return Ok(None);
        };
        let asked = sql_of_parts(&[
            RELEASE,
            " where release.id >= $1 and release.id < $2 order by release.id limit 2",
        ]);
        let mut found = self.read(asked.bind(&first).bind(&end)).await?;
        match found.len() {
            0 | 1 => Ok(found.pop()),
            _ => Err(Error::AmbiguousId(id.to_owned())),
        }
    }

    /// Returns a release of a tracker by its number. Of several trackers that had the name, one after the other, it is
    /// the last one's.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn of_tracker(
        self,
        name: &TrackerName,
        number: u64,
    ) -> Result<Option<StoredRelease>, Error> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(None);
        };
        let asked = sql_of_parts(&[
            RELEASE,
            " where release.number = $2 and release.tracker_uid = \
               (select uid from tracker where name_key = $1 \
                order by deleted is not null, deleted desc, created desc limit 1)",
        ]);
        let found = self.read(asked.bind(&name.key()).bind(number)).await?;
        Ok(found.into_iter().next())
    }

    /// Returns a release of a tracker by the uid of that and its number.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn numbered(
        self,
        tracker_uid: &str,
        number: u64,
    ) -> Result<Option<StoredRelease>, Error> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(None);
        };
        let asked = sql_of_parts(&[
            RELEASE,
            " where release.tracker_uid = $1 and release.number = $2",
        ]);
        let found = self.read(asked.bind(tracker_uid).bind(number)).await?;
        Ok(found.into_iter().next())
    }

    /// Returns the number of the newest release of a tracker, rollbacks included.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn newest_number(self, tracker_uid: &str) -> Result<Option<u64>, Error> {
        let asked = sql("select max(number) from release where tracker_uid = $1").bind(tracker_uid);
        let mut session = self.ledger.database().reader().await?;
        let (number,) = session.only::<(Option<i64>,)>(asked).await?;
        Ok(number.and_then(|it| u64::try_from(it).ok()))
    }

    async fn read(self, asked: Statement) -> Result<Vec<StoredRelease>, Error> {
        let mut session = self.ledger.database().reader().await?;
        let rows: Vec<ReleaseRow> = session.all(asked).await?;
        with_entries(&mut session, self.ledger.database().location(), rows).await
    }
}

/// Finds a release by its whole id, within a transaction or not.
pub(crate) async fn find(
    session: &mut Session,
    location: &Arc<str>,
    id: &str,
) -> Result<Option<StoredRelease>, Error> {
    let asked = sql_of_parts(&[RELEASE, " where release.id = $1"]).bind(id);
    let rows: Vec<ReleaseRow> = session.all(asked).await?;
    let found = with_entries(session, location, rows).await?;
    Ok(found.into_iter().next())
}

/// Returns the range of texts that begin with these digits, if they are enough.
fn digits(text: &str) -> Option<(String, String)> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let text = text.to_ascii_lowercase();
    let is_enough = text.len() >= MIN_DIGITS && text.bytes().all(is_digit);
    // The letter after the last digit: whatever begins with the digits is before it.
    is_enough.then(|| (text.clone(), format!("{text}g")))
}
