//! Holds: environments, or single trackers in them, that take nothing until somebody resumes them.

use std::sync::Arc;

use jiff::Timestamp;
use pathline_release::TrackerName;
use pathline_release::queue::{Hold, Holds};

use super::Releases;
use super::act::By;
use super::change::{HoldChange, What};
use crate::database::{Session, from_row, sql};
use crate::error::Error;
use crate::rows::{from_word, time};
use crate::topic::Topic;
use crate::writer::{Transaction, Write};

/// The uid in holds of environments as a whole: no tracker has it.
const WHOLE: &str = "";

from_row! {
    struct HoldRow {
        environment: String,
        reason: String,
        held_by: String,
        since: i64,
    }
}

from_row! {
    struct TrackerHoldRow {
        uid: String,
        name: String,
        ..
        hold: HoldRow,
    }
}

/// The hold of a tracker in an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackerHold {
    /// The uid of the tracker.
    pub uid: String,
    /// The name of the tracker.
    pub tracker: TrackerName,
    /// The environment.
    pub environment: String,
    /// The hold.
    pub hold: Hold,
}

/// Holds an environment as a whole.
struct HoldEnvironment {
    environment: String,
    hold: Hold,
}

/// Ends the hold of an environment as a whole.
struct ResumeEnvironment {
    environment: String,
    by: By,
    at: Timestamp,
}

/// Holds of environments as a whole
impl Releases<'_> {
    /// Holds an environment: it takes nothing but rollbacks until it is resumed. One that is held already gets the new
    /// reason, and is held since it was first.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn hold_environment(self, environment: &str, hold: Hold) -> Result<(), Error> {
        let environment = environment.to_owned();
        let hold = HoldEnvironment { environment, hold };
        self.ledger.write(hold).await
    }

    /// Ends the hold of an environment, and returns it; nothing if there is none.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn resume_environment(
        self,
        environment: &str,
        by: &By,
        at: Timestamp,
    ) -> Result<Option<Hold>, Error> {
        let resume = ResumeEnvironment {
            environment: environment.to_owned(),
            by: by.clone(),
            at,
        };
        self.ledger.write(resume).await
    }

    /// Returns the holds of environments as a whole.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn environment_holds(self) -> Result<Holds, Error> {
        let database = self.ledger.database();
        let mut session = database.reader().await?;
        of_environments(&mut session, database.location()).await
    }
}

/// Holds of trackers
impl Releases<'_> {
    /// Returns the holds of all trackers that are not deleted, by their names.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn tracker_holds(self) -> Result<Vec<TrackerHold>, Error> {
        let database = self.ledger.database();
        let location = database.location();
        let asked = sql(
            "select tracker.uid, tracker.name, hold.environment, hold.reason, hold.held_by, hold.since \
             from hold join tracker on tracker.uid = hold.tracker_uid where tracker.deleted is null \
             order by tracker.name, hold.environment",
        );
        let rows: Vec<TrackerHoldRow> = database.reader().await?.all(asked).await?;
        let read = |row: TrackerHoldRow| {
            let (environment, hold) = row.hold.read(location)?;
            Ok(TrackerHold {
                uid: row.uid,
                tracker: from_word(location, "name of a tracker", &row.name)?,
                environment,
                hold,
            })
        };
        rows.into_iter().map(read).collect()
    }
}

impl HoldRow {
    fn read(self, location: &Arc<str>) -> Result<(String, Hold), Error> {
        let hold = Hold {
            reason: self.reason,
            by: self.held_by,
            since: time(location, self.since)?,
        };
        Ok((self.environment, hold))
    }
}

impl Write for HoldEnvironment {
    type Group = ();
    type Answer = ();

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let Self { environment, hold } = self;
        let location = transaction.location().clone();
        let mut holds = of_environments(transaction.session(), &location).await?;
        holds.hold(environment, hold.clone());
        if let Some(held) = holds.get(environment) {
            set(transaction, (WHOLE, environment), held).await?;
        }
        let by = By::new(&hold.by, Some(&hold.reason));
        record(
            transaction,
            What::Held,
            (environment, None),
            &by,
            hold.since,
        )
        .await
    }
}

impl Write for ResumeEnvironment {
    type Group = ();
    type Answer = Option<Hold>;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<Option<Hold>, Error> {
        let location = transaction.location().clone();
        let mut holds = of_environments(transaction.session(), &location).await?;
        let Some(ended) = holds.resume(&self.environment) else {
            return Ok(None);
        };
        end(transaction, (WHOLE, &self.environment)).await?;
        let whole = (self.environment.as_str(), None);
        record(transaction, What::Resumed, whole, &self.by, self.at).await?;
        Ok(Some(ended))
    }
}

/// Reads the holds of environments as a whole, within a transaction or not.
pub(super) async fn of_environments(
    session: &mut Session,
    location: &Arc<str>,
) -> Result<Holds, Error> {
    let asked = sql("select environment, reason, held_by, since from hold where tracker_uid = $1");
    let rows: Vec<HoldRow> = session.all(asked.bind(WHOLE)).await?;
    rows.into_iter().map(|row| row.read(location)).collect()
}

/// Stores a hold.
pub(super) async fn set(
    transaction: &mut Transaction<'_>,
    (uid, environment): (&str, &str),
    hold: &Hold,
) -> Result<(), Error> {
    let set = sql(
        "insert into hold (tracker_uid, environment, reason, held_by, since) \
         values ($1, $2, $3, $4, $5) on conflict (tracker_uid, environment) do update set \
         reason = excluded.reason, held_by = excluded.held_by, since = excluded.since",
    )
    .bind(uid)
    .bind(environment)
    .bind(&hold.reason)
    .bind(&hold.by)
    .bind(hold.since);
    transaction.session().run(set).await.map(drop)
}

/// Removes a hold.
pub(super) async fn end(
    transaction: &mut Transaction<'_>,
    (uid, environment): (&str, &str),
) -> Result<(), Error> {
    let end = sql("delete from hold where tracker_uid = $1 and environment = $2");
    let end = end.bind(uid).bind(environment);
    transaction.session().run(end).await.map(drop)
}

/// Records that an environment, or a tracker in it, is held ([`What::Held`]) or is no more ([`What::Resumed`]).
pub(super) async fn record(
    transaction: &mut Transaction<'_>,
    what: fn(HoldChange) -> What,
    (environment, tracker): (&str, Option<&TrackerName>),
    by: &By,
    at: Timestamp,
) -> Result<(), Error> {
    let what = what(HoldChange {
        environment: environment.to_owned(),
        tracker: tracker.cloned(),
        by: by.who.clone(),
        reason: by.reason.clone(),
    });
    let subject = (Topic::Releases, environment);
    let recorded = transaction.record_change(subject, at, &what).await;
    recorded.map(drop)
}
