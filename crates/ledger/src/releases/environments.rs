//! Environments: which release of a tracker is where.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_release::queue::EntryState;

use super::Releases;
use super::queues::number;
use crate::database::{from_row, sql, sql_of_parts};
use crate::error::Error;
use crate::rows::{from_word, time, unreadable};

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

/// The numbers of releases of all trackers that are on their way to an environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentCounts {
    /// Those that wait for a tick.
    pub queued: u64,
    /// Those that wait to be promoted.
    pub held: u64,
    /// Those that are being deployed.
    pub deploying: u64,
}

/// A note about a deployment that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentNote {
    /// The environment.
    pub environment: String,
    /// The number of the release.
    pub release: u64,
    /// The note.
    pub message: String,
    /// The time since which it is being deployed.
    pub since: Timestamp,
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

from_row! {
    struct ReplacedRow {
        tracker_uid: String,
        environment: String,
        number: i64,
        replaced_by: Option<i64>,
    }
}

from_row! {
    struct CountRow {
        environment: String,
        state: String,
        number: i64,
    }
}

from_row! {
    struct NoteRow {
        tracker_uid: String,
        environment: String,
        number: i64,
        message: String,
        since: i64,
    }
}

/// Environments
impl Releases<'_> {
    /// Returns how many releases are on their way to each environment; those without any are left out.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn counts(self) -> Result<BTreeMap<String, EnvironmentCounts>, Error> {
        let asked = sql("select environment, state, count(*) as number from entry \
             where state in ('queued', 'held', 'deploying') group by environment, state");
        let database = self.ledger.database();
        let rows: Vec<CountRow> = database.reader().await?.all(asked).await?;
        let mut counts: BTreeMap<String, EnvironmentCounts> = BTreeMap::new();
        for row in rows {
            let location = database.location();
            let number = u64::try_from(row.number).map_err(|_| unreadable(location, "entry"))?;
            let of_environment = counts.entry(row.environment).or_default();
            match from_word(location, "state of an entry", &row.state)? {
                EntryState::Queued => of_environment.queued = number,
                EntryState::Held => of_environment.held = number,
                EntryState::Deploying => of_environment.deploying = number,
                _ => {}
            }
        }
        Ok(counts)
    }

    /// Returns which releases have replaced those of trackers that were deployed, of the numbers from a first to a last one:
    /// the next one that was deployed there, by the uid of the tracker, the environment and the number.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn replacements(
        self,
        tracker_uids: &[String],
        (first, last): (u64, u64),
    ) -> Result<BTreeMap<(String, String, u64), u64>, Error> {
        let database = self.ledger.database();
        let location = database.location();
        let mut session = database.reader().await?;
        let dialect = session.dialect();
        let asked = sql_of_parts(&[
            "select tracker_uid, environment, number, (select min(later.number) from entry later \
             where later.tracker_uid = entry.tracker_uid and later.environment = entry.environment \
             and later.state = 'deployed' and later.number > entry.number) as replaced_by from entry \
             where state = 'deployed' and number between $2 and $3 and tracker_uid ",
            dialect.is_in_first_words(),
        ]);
        let asked = asked
            .bind(&dialect.words(tracker_uids))
            .bind(number(location, first)?)
            .bind(number(location, last)?);
        let mut found = BTreeMap::new();
        for row in session.all::<ReplacedRow>(asked).await? {
            let read = |it: i64| u64::try_from(it).map_err(|_| unreadable(location, "entry"));
            if let Some(by) = row.replaced_by {
                let key = (row.tracker_uid, row.environment, read(row.number)?);
                found.insert(key, read(by)?);
            }
        }
        Ok(found)
    }

    /// Returns what was noted about deployments of trackers that are under way, by the uids of the trackers.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn deployment_notes(
        self,
        tracker_uids: &[String],
    ) -> Result<BTreeMap<String, Vec<DeploymentNote>>, Error> {
        let database = self.ledger.database();
        let mut session = database.reader().await?;
        let dialect = session.dialect();
        let asked = sql_of_parts(&[
            "select tracker_uid, environment, number, message, since from entry \
             where state = 'deploying' and message is not null and tracker_uid ",
            dialect.is_in_first_words(),
            " order by environment, number",
        ]);
        let asked = asked.bind(&dialect.words(tracker_uids));
        let mut notes: BTreeMap<String, Vec<DeploymentNote>> = BTreeMap::new();
        for row in session.all::<NoteRow>(asked).await? {
            let location = database.location();
            let note = DeploymentNote {
                environment: row.environment,
                release: u64::try_from(row.number).map_err(|_| unreadable(location, "entry"))?,
                message: row.message,
                since: time(location, row.since)?,
            };
            notes.entry(row.tracker_uid).or_default().push(note);
        }
        Ok(notes)
    }

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
