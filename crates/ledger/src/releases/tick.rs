//! Ticks: environments take what is queued there.

mod batch;
mod perform;
#[cfg(test)]
mod scale;

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_release::queue::Flow;

use self::perform::TickEnvironments;
use super::Releases;
use super::act::stored_time;
use crate::database::{from_row, sql};
use crate::error::Error;
use crate::rows::time;

/// The most trackers that are moved in one transaction.
const BATCH: usize = 500;

/// The outcome of a tick, or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticked {
    /// The number of trackers in whose queues something has changed.
    pub moved: usize,
    /// Whether that was all, and the ticks count as handled. Otherwise the same call goes on.
    pub is_done: bool,
}

from_row! {
    struct TimeRow {
        name: String,
        at: Option<i64>,
    }
}

/// Ticks
impl Releases<'_> {
    /// Lets environments take what was queued there at their ticks, a batch of trackers in one transaction; `environments`
    /// are those that tick now, each with the instant of its tick, and `at` is the present. All of them that concern one
    /// tracker tick at once there. It costs what it moves, however much there is in the queues and in the history.
    ///
    /// A tick that was handled already, or a later one of the same environment, is not handled again. Releases that have
    /// soaked are entered by [`super::QueueAction::Advance`], which comes first.
    ///
    /// # Errors
    /// If the ledger cannot be written to. Then the same call goes on where it was.
    pub async fn tick(
        self,
        flow: &Flow,
        environments: &[(String, Timestamp)],
        at: Timestamp,
    ) -> Result<Ticked, Error> {
        let tick = TickEnvironments {
            flow: flow.clone(),
            environments: environments.to_vec(),
            at: stored_time(at),
        };
        self.ledger.write(tick).await
    }

    /// Returns the last tick of each environment that was handled.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn handled_ticks(self) -> Result<BTreeMap<String, Timestamp>, Error> {
        let asked = "select name, handled as at from environment where handled is not null";
        self.times(asked).await
    }

    /// Returns the time of each environment since which something has been queued there; nothing where nothing is.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn oldest_queued(self) -> Result<BTreeMap<String, Timestamp>, Error> {
        let asked = "select environment.name, (select min(entry.since) from entry \
             where entry.state = 'queued' and entry.environment = environment.name) as at \
             from environment";
        self.times(asked).await
    }

    async fn times(self, asked: &'static str) -> Result<BTreeMap<String, Timestamp>, Error> {
        let database = self.ledger.database();
        let rows: Vec<TimeRow> = database.reader().await?.all(sql(asked)).await?;
        let rows = rows.into_iter().filter_map(|row| Some((row.name, row.at?)));
        let read = |(name, at)| Ok((name, time(database.location(), at)?));
        rows.map(read).collect()
    }
}
