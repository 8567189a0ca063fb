//! Rows of trackers.

use std::sync::Arc;

use pathline_release::request::SourceLocation;
use pathline_release::tracker::{Basis, Tracker};

use super::stored::{Edition, StoredTracker};
use crate::database::from_row;
use crate::error::Error;
use crate::rows::{from_json, from_word, some_time, time, unreadable};

/// The columns of [`TrackerRow`].
pub(super) const TRACKER: &str = "uid, name, source, coalesce(token <> 'forgotten', false) as has_token, \
     coalesce(token = 'forgotten', false) as has_lost_token, token_version, generation, \
     version, state, known_source, exists (select 1 from release \
     where release.tracker_uid = tracker.uid and not release.is_described) as is_undescribed, created, created_by, updated, updated_by, observed";

from_row! {
    /// A tracker.
    pub(super) struct TrackerRow {
        pub(super) uid: String,
        pub(super) name: String,
        source: String,
        pub(super) has_token: bool,
        has_lost_token: bool,
        token_version: i64,
        generation: i64,
        version: i64,
        state: String,
        known_source: Option<String>,
        is_undescribed: bool,
        created: i64,
        created_by: String,
        updated: i64,
        updated_by: String,
        observed: Option<i64>,
    }
}

impl TrackerRow {
    pub(super) fn read(self, location: &Arc<str>) -> Result<StoredTracker, Error> {
        let state: Tracker = from_json(location, "tracker", &self.state)?;
        let number =
            |number: i64| u64::try_from(number).map_err(|_| unreadable(location, "tracker"));
        let edition = Edition {
            generation: number(self.generation)?,
            token_version: number(self.token_version)?,
        };
        // What is compared is in columns; what decides is in the state.
        let basis = Basis {
            generation: edition.generation,
            version: number(self.version)?,
        };
        if state.basis() != basis {
            return Err(unreadable(location, "tracker"));
        }
        let known = self.known_source.as_deref();
        let known = known.map(|it| from_json(location, "known source", it));
        Ok(StoredTracker {
            name: from_word(location, "name of a tracker", &self.name)?,
            source: from_json::<SourceLocation>(location, "source", &self.source)?,
            has_token: self.has_token,
            has_lost_token: self.has_lost_token,
            edition,
            state,
            known_source: known.transpose()?,
            is_undescribed: self.is_undescribed,
            created: time(location, self.created)?,
            created_by: self.created_by,
            updated: time(location, self.updated)?,
            updated_by: self.updated_by,
            observed: some_time(location, self.observed)?,
            uid: self.uid,
        })
    }
}
