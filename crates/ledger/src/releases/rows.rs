//! Rows of releases and of their entries.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pathline_release::queue::Entry;

use super::stored::StoredRelease;
use crate::database::{Session, from_row, sql_of_parts};
use crate::error::Error;
use crate::rows::{from_json, from_word, time, unreadable};

/// The question for [`ReleaseRow`], without a condition.
pub(super) const RELEASE: &str = "select release.sequence, release.id, release.tracker_uid, \
     tracker.name as tracker_name, release.body, release.image_revision, release.image_source \
     from release join tracker on tracker.uid = release.tracker_uid";

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
    }
}

from_row! {
    /// An entry of a release.
    struct EntryRow {
        sequence: i64,
        environment: String,
        state: String,
        since: i64,
        attempt: i64,
        is_promoted: bool,
        superseded_by: Option<i64>,
        message: Option<String>,
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
        "select release.sequence, entry.environment, entry.state, entry.since, entry.attempt, \
         entry.is_promoted, entry.superseded_by, entry.message \
         from release join entry on entry.tracker_uid = release.tracker_uid \
           and entry.number = release.number \
         where release.sequence ",
        dialect.is_in_first(),
    ]);
    let sequences: Vec<i64> = rows.iter().map(|row| row.sequence).collect();
    let asked = asked.bind(&dialect.list(&sequences));
    let mut entries: HashMap<i64, BTreeMap<String, Entry>> = HashMap::new();
    for row in session.all::<EntryRow>(asked).await? {
        let of_release = entries.entry(row.sequence).or_default();
        let (environment, entry) = row.read(location)?;
        of_release.insert(environment, entry);
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
            entries,
        })
    }
}

impl EntryRow {
    fn read(self, location: &Arc<str>) -> Result<(String, Entry), Error> {
        let wrong = |_| unreadable(location, "entry");
        let superseded_by = self.superseded_by.map(u64::try_from).transpose();
        let entry = Entry {
            state: from_word(location, "state of an entry", &self.state)?,
            since: time(location, self.since)?,
            attempt: u32::try_from(self.attempt).map_err(wrong)?,
            is_promoted: self.is_promoted,
            superseded_by: superseded_by.map_err(wrong)?,
            message: self.message,
            ..Entry::default()
        };
        Ok((self.environment, entry))
    }
}
