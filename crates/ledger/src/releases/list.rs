//! Lists of releases.

use super::rows::{RELEASE, ReleaseRow, with_entries};
use super::stored::{ReleaseFilter, StoredRelease};
use super::{Releases, digits};
use crate::database::{Statement, sql_of_parts};
use crate::error::Error;
use crate::page::{Page, Paged};

/// The beginning of each question, and its end.
const BEFORE: &str = " where release.sequence < $1";
const NEWEST_FIRST: &str = " order by release.sequence desc limit $2";

/// The condition that a release is of a tracker that has the name, or had it.
const OF_TRACKER: &str =
    " and release.tracker_uid in (select uid from tracker where name_key = $3)";

/// Returns the condition that the configuration or the image of a release is of a commit, each of which has an index.
macro_rules! of_commit {
    ($first:literal, $end:literal) => {
        concat!(
            " and release.sequence in (select sequence from release where config_commit >= ",
            $first,
            " and config_commit < ",
            $end,
            " union select sequence from release where image_revision >= ",
            $first,
            " and image_revision < ",
            $end,
            ")"
        )
    };
}

/// Lists
impl Releases<'_> {
    /// Returns releases with their entries, the newest first, a page at a time.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn list(
        self,
        filter: &ReleaseFilter,
        page: &Page,
    ) -> Result<Paged<StoredRelease>, Error> {
        let Some(asked) = asked(filter, page)? else {
            return Ok(Paged {
                items: Vec::new(),
                next: None,
            });
        };
        let mut session = self.ledger.database().reader().await?;
        let rows: Vec<ReleaseRow> = session.all(asked).await?;
        let Paged { items, next } = Paged::new(page, rows, |row| row.sequence);
        let location = self.ledger.database().location();
        let items = with_entries(&mut session, location, items).await?;
        Ok(Paged { items, next })
    }
}

/// Returns the question; none if it has no answer, since so few digits name no commit.
fn asked(filter: &ReleaseFilter, page: &Page) -> Result<Option<Statement>, Error> {
    let commit = match &filter.commit {
        None => None,
        Some(commit) => match digits(commit) {
            None => return Ok(None),
            range => range,
        },
    };
    let tracker = filter.tracker.as_ref().map(|it| it.key());
    let (of_tracker, of_commit) = match (&tracker, &commit) {
        (None, None) => ("", ""),
        (Some(_), None) => (OF_TRACKER, ""),
        (None, Some(_)) => ("", of_commit!("$3", "$4")),
        (Some(_), Some(_)) => (OF_TRACKER, of_commit!("$4", "$5")),
    };
    let asked = sql_of_parts(&[RELEASE, BEFORE, of_tracker, of_commit, NEWEST_FIRST]);
    let mut asked = asked.bind(page.after(i64::MAX)?).bind(page.rows());
    if let Some(tracker) = &tracker {
        asked = asked.bind(tracker);
    }
    if let Some((first, end)) = &commit {
        asked = asked.bind(first).bind(end);
    }
    Ok(Some(asked))
}
