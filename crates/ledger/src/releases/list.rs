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
const OF_TRACKER: [&str; 2] = [
    " and release.tracker_uid in (select uid from tracker where name_key = ",
    ")",
];

/// The condition that the configuration or the image of a release is of a commit, each of which has an index.
const OF_COMMIT: [&str; 5] = [
    " and release.sequence in (select sequence from release where config_commit >= ",
    " and config_commit < ",
    " union select sequence from release where image_revision >= ",
    " and image_revision < ",
    ")",
];

/// The condition that a release has an entry in an environment.
const IN_ENVIRONMENT: [&str; 2] = [
    " and exists (select 1 from entry where entry.tracker_uid = release.tracker_uid \
      and entry.number = release.number and entry.environment = ",
    ")",
];

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
    let mut places = ["$3", "$4", "$5", "$6"].into_iter();
    let mut place = || places.next().unwrap_or_default();
    let mut parts = vec![RELEASE, BEFORE];
    if tracker.is_some() {
        parts.extend([OF_TRACKER[0], place(), OF_TRACKER[1]]);
    }
    if commit.is_some() {
        let (first, end) = (place(), place());
        let [one, two, three, four, last] = OF_COMMIT;
        parts.extend([one, first, two, end, three, first, four, end, last]);
    }
    if filter.environment.is_some() {
        parts.extend([IN_ENVIRONMENT[0], place(), IN_ENVIRONMENT[1]]);
    }
    parts.push(NEWEST_FIRST);
    let mut asked = sql_of_parts(&parts);
    asked = asked.bind(page.after(i64::MAX)?).bind(page.rows());
    if let Some(tracker) = &tracker {
        asked = asked.bind(tracker);
    }
    if let Some((first, end)) = &commit {
        asked = asked.bind(first).bind(end);
    }
    if let Some(environment) = &filter.environment {
        asked = asked.bind(environment);
    }
    Ok(Some(asked))
}
