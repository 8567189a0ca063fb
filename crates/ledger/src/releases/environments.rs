//! Environments: which release of a tracker is where.

use std::collections::BTreeMap;

use pathline_release::queue::EntryState;

use super::Releases;
use crate::database::{from_row, sql_of_parts};
use crate::error::Error;
use crate::rows::{from_word, unreadable};

/// The releases of one tracker that are in one environment, by their numbers: the newest one in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentStatus {
    /// The one that waits for a tick.
    pub queued: Option<u64>,
    /// The one that waits to be promoted.
    pub held: Option<u64>,
    /// The one that is being deployed.
    pub deploying: Option<u64>,
    /// The one that was deployed last.
    pub deployed: Option<u64>,
    /// The one that failed last.
    pub failed: Option<u64>,
}

/// The status of environments, by name.
pub type EnvironmentStatuses = BTreeMap<String, EnvironmentStatus>;

from_row! {
    struct Row {
        tracker_uid: String,
        environment: String,
        state: String,
        number: i64,
    }
}

/// Environments
impl Releases<'_> {
    /// Returns which releases of trackers are where, by the uids of the trackers; those without releases are left out.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn environments(
        self,
        tracker_uids: &[String],
    ) -> Result<BTreeMap<String, EnvironmentStatuses>, Error> {
        let mut session = self.ledger.database().reader().await?;
        let dialect = session.dialect();
        let asked = sql_of_parts(&[
            "select tracker_uid, environment, state, max(number) as number from entry \
             where tracker_uid ",
            dialect.is_in_first_words(),
            " and state in ('queued', 'held', 'deploying', 'deployed', 'failed') \
             group by tracker_uid, environment, state",
        ]);
        let rows: Vec<Row> = session
            .all(asked.bind(&dialect.words(tracker_uids)))
            .await?;
        let location = self.ledger.database().location();
        let mut found: BTreeMap<String, EnvironmentStatuses> = BTreeMap::new();
        for row in rows {
            let number = u64::try_from(row.number).map_err(|_| unreadable(location, "entry"))?;
            let state: EntryState = from_word(location, "state of an entry", &row.state)?;
            let of_tracker = found.entry(row.tracker_uid).or_default();
            let status = of_tracker.entry(row.environment).or_default();
            status.set(state, number);
        }
        Ok(found)
    }
}

impl EnvironmentStatus {
    fn set(&mut self, state: EntryState, number: u64) {
        let slot = match state {
            EntryState::Queued => &mut self.queued,
            EntryState::Held => &mut self.held,
            EntryState::Deploying => &mut self.deploying,
            EntryState::Deployed => &mut self.deployed,
            EntryState::Failed => &mut self.failed,
            EntryState::Superseded | EntryState::Skipped | EntryState::Cancelled => return,
        };
        *slot = Some(number);
    }
}
