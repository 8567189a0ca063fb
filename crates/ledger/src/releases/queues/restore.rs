//! The part of queues that has to be restored: what [`Queues::restored`] says, and nothing else, however long the history
//! of a tracker is.

use std::collections::BTreeMap;
use std::sync::Arc;

use pathline_release::queue::{Entry, Hold, Holds, Queues};
use pathline_release::{Release, TrackerName};

use super::super::rows::{ENTRY, EntryRow};
use super::{QueuesOf, TrackerRef};
use crate::database::{Dialect, Session, Statement, from_row, sql_of_parts};
use crate::error::Error;
use crate::page::MAX_PAGE;
use crate::rows::{from_json, from_word, time, unreadable};

/// The things that somebody asks for by name, and that are restored for that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Named<'a> {
    /// A release.
    pub(crate) release: Option<u64>,
    /// An environment that is rolled back.
    pub(crate) rollback_of: Option<&'a str>,
}

/// Queues that were restored.
pub(super) struct Restored {
    pub(super) uid: String,
    pub(super) name: TrackerName,
    pub(super) queues: Queues,
    /// The ids of the releases that are in them, by number.
    pub(super) ids: BTreeMap<u64, String>,
}

from_row! {
    /// A tracker, with one of its holds if it has any.
    struct TrackerRow {
        uid: String,
        name: String,
        is_deleted: bool,
        environment: Option<String>,
        reason: Option<String>,
        held_by: Option<String>,
        since: Option<i64>,
    }
}

from_row! {
    /// A release, with one of its entries if it has any.
    struct NeededRow {
        id: String,
        tracker_uid: String,
        number: i64,
        body: String,
        ..
        entry: EntryRow,
    }
}

/// A tracker whose releases are still to be read.
struct Holder {
    uid: String,
    name: TrackerName,
    is_deleted: bool,
    holds: Vec<(String, Hold)>,
    releases: BTreeMap<u64, (String, Release, BTreeMap<String, Entry>)>,
}

/// The columns of [`TrackerRow`], before and after the condition for trackers.
const TRACKERS: (&str, &str) = (
    "select chosen.uid, chosen.name, chosen.is_deleted, hold.environment, hold.reason, \
     hold.held_by, hold.since \
     from (select uid, name, deleted is not null as is_deleted from tracker where ",
    ") chosen left join hold on hold.tracker_uid = chosen.uid order by chosen.name, chosen.uid",
);

/// Returns the question for trackers and their holds.
pub(super) fn trackers(dialect: Dialect, which: QueuesOf<'_>) -> Statement {
    let question = |condition: &'static str| sql_of_parts(&[TRACKERS.0, condition, TRACKERS.1]);
    match which {
        QueuesOf::All { after, limit } => {
            question("deleted is null and name > $1 order by name limit $2")
                .bind(after.map(TrackerName::as_str).unwrap_or_default())
                .bind(i64::from(limit.clamp(1, MAX_PAGE)))
        }
        QueuesOf::Uids(uids) => {
            sql_of_parts(&[TRACKERS.0, "uid ", dialect.is_in_first_words(), TRACKERS.1])
                .bind(&dialect.words(uids))
        }
        QueuesOf::Busy => question(
            "uid in (select tracker_uid from entry where state = 'deploying' \
             union select tracker_uid from entry where restore = '\"pending\"')",
        ),
        QueuesOf::One { tracker, .. } => match tracker {
            TrackerRef::Uid(uid) => question("uid = $1").bind(uid),
            TrackerRef::Name(name) => {
                question("name_key = $1 and deleted is null").bind(&name.key())
            }
        },
    }
}

/// Restores the queues of the trackers that a question finds, in the order of their names.
pub(super) async fn restore(
    session: &mut Session,
    location: &Arc<str>,
    trackers: Statement,
    named: Named<'_>,
) -> Result<Vec<Restored>, Error> {
    let mut holders: Vec<Holder> = Vec::new();
    for row in session.all::<TrackerRow>(trackers).await? {
        // The rows of one tracker come one after the other.
        if holders.last().is_none_or(|it| it.uid != row.uid) {
            holders.push(row.holder(location)?);
        }
        if let Some(holder) = holders.last_mut() {
            holder.holds.extend(row.hold(location)?);
        }
    }
    if holders.is_empty() {
        return Ok(Vec::new());
    }
    let places = holders.iter().enumerate();
    let places: BTreeMap<_, _> = places.map(|(place, it)| (it.uid.clone(), place)).collect();
    let uids: Vec<String> = places.keys().cloned().collect();
    let asked = needed(session.dialect(), location, &uids, named)?;
    for row in session.all::<NeededRow>(asked).await? {
        if let Some(place) = places.get(&row.tracker_uid) {
            holders[*place].take_in(location, row)?;
        }
    }
    Ok(holders.into_iter().map(Holder::restored).collect())
}

/// Returns the newest release of each tracker in each environment that is in a state. Each is found by the index, so that
/// older ones cost nothing; environments are few.
macro_rules! newest {
    ($state:literal, $which:literal) => {
        concat!(
            " union select tracker.uid, (select entry.number from entry \
             where entry.tracker_uid = tracker.uid and entry.state = '",
            $state,
            "' and entry.environment = environment.name",
            $which,
            " order by entry.number desc limit 1) \
             from tracker cross join environment where tracker.uid "
        )
    };
}

/// Returns the question for the releases that have to be restored, each with all of its entries. One statement, so that
/// what one release says of another is true of it.
pub(super) fn needed(
    dialect: Dialect,
    location: &Arc<str>,
    uids: &[String],
    named: Named<'_>,
) -> Result<Statement, Error> {
    let among = dialect.is_in_first_words();
    let mut parts = vec![
        "with needed (tracker_uid, number) as (\
         select tracker_uid, number from entry \
           where state in ('queued', 'held', 'deploying') and tracker_uid ",
        among,
        " union select tracker_uid, number from entry where restore = '\"pending\"' and tracker_uid ",
        among,
        newest!("deployed", ""),
        among,
        newest!("failed", ""),
        among,
        // One that was tried again may have failed after a newer one. Few have failed, so that they may be sorted.
        " union select tracker.uid, (select entry.number from entry \
           where entry.tracker_uid = tracker.uid and entry.state = 'failed' \
           and entry.environment = environment.name \
           order by entry.since desc, entry.number desc limit 1) \
           from tracker cross join environment where tracker.uid ",
        among,
        newest!(
            "skipped",
            " and not exists (select 1 from release where release.tracker_uid = entry.tracker_uid \
             and release.number = entry.number and release.cause = 'rollback')"
        ),
        among,
        " union select tracker.uid, (select max(release.number) from release \
           where release.tracker_uid = tracker.uid) from tracker where tracker.uid ",
        among,
        " union select tracker.uid, (select release.number from release \
           where release.tracker_uid = tracker.uid and release.cause <> 'rollback' \
           order by release.number desc limit 1) from tracker where tracker.uid ",
        among,
    ];
    if named.release.is_some() {
        parts.extend([
            " union select tracker_uid, number from release where number = $2 and tracker_uid ",
            among,
            " union select tracker_uid, superseded_by from entry \
               where number = $2 and superseded_by is not null and tracker_uid ",
            among,
            " union select tracker.uid, (select entry.number from entry \
               where entry.tracker_uid = tracker.uid and entry.state = 'deployed' \
               and entry.environment = environment.name and entry.number > $2 \
               order by entry.number limit 1) \
               from tracker cross join environment where tracker.uid ",
            among,
        ]);
    }
    if named.rollback_of.is_some() {
        let environment = match named.release {
            Some(_) => "$3",
            None => "$2",
        };
        parts.extend([
            " union select tracker_uid, number from entry \
               where state in ('deployed', 'failed') and environment = ",
            environment,
            " and tracker_uid ",
            among,
        ]);
    }
    parts.extend([
        ") select release.id, release.tracker_uid, release.number, release.body, ",
        ENTRY,
        // A cross join, for SQLite would begin with all releases otherwise.
        " from needed cross join release \
         left join entry on entry.tracker_uid = release.tracker_uid \
           and entry.number = release.number \
         where release.tracker_uid = needed.tracker_uid and release.number = needed.number",
    ]);
    let mut asked = sql_of_parts(&parts).bind(&dialect.words(uids));
    if let Some(release) = named.release {
        asked = asked.bind(super::number(location, release)?);
    }
    if let Some(environment) = named.rollback_of {
        asked = asked.bind(environment);
    }
    Ok(asked)
}

impl TrackerRow {
    fn holder(&self, location: &Arc<str>) -> Result<Holder, Error> {
        Ok(Holder {
            uid: self.uid.clone(),
            name: from_word(location, "name of a tracker", &self.name)?,
            is_deleted: self.is_deleted,
            holds: Vec::new(),
            releases: BTreeMap::new(),
        })
    }

    fn hold(self, location: &Arc<str>) -> Result<Option<(String, Hold)>, Error> {
        let Some(environment) = self.environment else {
            return Ok(None);
        };
        let hold = Hold {
            reason: self.reason.unwrap_or_default(),
            by: self.held_by.unwrap_or_default(),
            since: time(location, self.since.unwrap_or_default())?,
        };
        Ok(Some((environment, hold)))
    }
}

impl Holder {
    fn take_in(&mut self, location: &Arc<str>, row: NeededRow) -> Result<(), Error> {
        let number = u64::try_from(row.number).map_err(|_| unreadable(location, "release"))?;
        let entry = row.entry.read(location)?;
        if let Some((_, _, entries)) = self.releases.get_mut(&number) {
            entries.extend(entry);
            return Ok(());
        }
        let release = from_json(location, "release", &row.body)?;
        let entries = entry.into_iter().collect();
        self.releases.insert(number, (row.id, release, entries));
        Ok(())
    }

    fn restored(self) -> Restored {
        let mut ids = BTreeMap::new();
        let releases = self
            .releases
            .into_iter()
            .map(|(number, (id, release, entries))| {
                ids.insert(number, id);
                (release, entries)
            });
        let releases: Vec<_> = releases.collect();
        let holds = Holds::from_iter(self.holds);
        Restored {
            queues: Queues::restored(self.name.clone(), releases, holds, self.is_deleted),
            uid: self.uid,
            name: self.name,
            ids,
        }
    }
}
