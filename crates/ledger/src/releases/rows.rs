//! Rows of releases and of their entries.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::SignedDuration;
use pathline_release::queue::{Entry, Live};

use super::stored::StoredRelease;
use crate::database::{Session, from_row, sql_of_parts};
use crate::error::Error;
use crate::rows::{from_json, from_word, some_time, time, unreadable};

/// The question for [`ReleaseRow`], without a condition.
pub(super) const RELEASE: &str = "select release.sequence, release.id, release.tracker_uid, \
     tracker.name as tracker_name, release.body, release.image_revision, release.image_source, \
     release.formed_by, release.reason \
     from release join tracker on tracker.uid = release.tracker_uid";

/// The columns of [`EntryRow`].
pub(super) const ENTRY: &str = "entry.environment, entry.state, entry.since, entry.attempt, \
     entry.is_promoted, entry.superseded_by, entry.message, entry.live_counted, entry.live_since, \
     entry.restore";

from_row! {
    /// A release.
    pub(super) struct ReleaseRow {
        pub(super) sequence: i64,
        id: String,
        tracker_uid: String,
        tracker_name: String,
        body: String,
        image_revision: Option<String>,
        image_source: Option<String>,
        formed_by: Option<String>,
        reason: Option<String>,
    }
}

from_row! {
    /// An entry of a release, or the absence of one, where releases are joined with what may not be there.
    pub(super) struct EntryRow {
        environment: Option<String>,
        state: Option<String>,
        since: Option<i64>,
        attempt: Option<i64>,
        is_promoted: Option<bool>,
        superseded_by: Option<i64>,
        message: Option<String>,
        live_counted: Option<i64>,
        live_since: Option<i64>,
        restore: Option<String>,
    }
}

from_row! {
    /// An entry, with the release that it is of.
    struct OfRelease {
        sequence: i64,
        ..
        entry: EntryRow,
    }
}

/// Reads releases, with their entries, in the order of the rows.
pub(super) async fn with_entries(
    session: &mut Session,
    location: &Arc<str>,
    rows: Vec<ReleaseRow>,
) -> Result<Vec<StoredRelease>, Error> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let dialect = session.dialect();
    let asked = sql_of_parts(&[
        "select release.sequence, ",
        ENTRY,
        " from release join entry on entry.tracker_uid = release.tracker_uid \
           and entry.number = release.number \
         where release.sequence ",
        dialect.is_in_first(),
    ]);
    let sequences: Vec<i64> = rows.iter().map(|row| row.sequence).collect();
    let asked = asked.bind(&dialect.list(&sequences));
    let mut entries: HashMap<i64, BTreeMap<String, Entry>> = HashMap::new();
    for row in session.all::<OfRelease>(asked).await? {
        let of_release = entries.entry(row.sequence).or_default();
        of_release.extend(row.entry.read(location)?);
    }
    let read = |row: ReleaseRow| {
        let entries = entries.remove(&row.sequence).unwrap_or_default();
        row.read(location, entries)
    };
    rows.into_iter().map(read).collect()
}

impl ReleaseRow {
    fn read(
        self,
        location: &Arc<str>,
        entries: BTreeMap<String, Entry>,
    ) -> Result<StoredRelease, Error> {
        Ok(StoredRelease {
            tracker: from_word(location, "name of a tracker", &self.tracker_name)?,
            release: from_json(location, "release", &self.body)?,
            id: self.id,
            tracker_uid: self.tracker_uid,
            image_revision: self.image_revision,
            image_source: self.image_source,
            by: self.formed_by,
            reason: self.reason,
            entries,
        })
    }
}

impl EntryRow {
    /// Returns the entry with its environment, if there is one.
    pub(super) fn read(self, location: &Arc<str>) -> Result<Option<(String, Entry)>, Error> {
        let Some(environment) = self.environment else {
            return Ok(None);
        };
        let wrong = || unreadable(location, "entry");
        let superseded_by = self.superseded_by.map(u64::try_from).transpose();
        let restore = self.restore.as_deref();
        let restore = restore.map(|it| from_json(location, "entry", it));
        let state = self.state.ok_or_else(wrong)?;
        let attempt = u32::try_from(self.attempt.unwrap_or_default());
        let entry = Entry {
            state: from_word(location, "state of an entry", &state)?,
            since: time(location, self.since.ok_or_else(wrong)?)?,
            attempt: attempt.map_err(|_| wrong())?,
            is_promoted: self.is_promoted.unwrap_or_default(),
            superseded_by: superseded_by.map_err(|_| wrong())?,
            message: self.message,
            live: Live {
                counted: SignedDuration::from_micros(self.live_counted.unwrap_or_default()),
                since: some_time(location, self.live_since)?,
            },
            restore: restore.transpose()?,
        };
        Ok(Some((environment, entry)))
    }
}
