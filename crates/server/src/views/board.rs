//! The board: where the releases of all trackers are, and why they are not further.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_client::api::{Board, BoardCell, BoardRow};
use pathline_ledger::releases::{QueuesOf, TrackerQueues, TrackerRef};
use pathline_release::TrackerName;
use pathline_release::queue::{EntryState, Queues, Why};

use crate::AppState;
use crate::error::ApiError;
use crate::views::environments::{self, Course};
use crate::views::presence::Presence;
use crate::views::trackers;

/// The largest page.
pub(crate) const MAX_ROWS: u32 = 1000;

/// The part of the board that is asked for.
#[derive(Debug)]
pub(crate) struct BoardQuestion {
    /// Only one tracker.
    pub(crate) tracker: Option<TrackerName>,
    /// Only one environment.
    pub(crate) environment: Option<String>,
    /// The most trackers, up to [`MAX_ROWS`].
    pub(crate) limit: u32,
    /// The last tracker of the page before.
    pub(crate) after: Option<TrackerName>,
}

/// Returns a page of the board, in three statements to the ledger however many trackers are on it.
pub(crate) async fn board(state: &AppState, asked: &BoardQuestion) -> Result<Board, ApiError> {
    let course = Course::load(state).await?;
    if let Some(environment) = &asked.environment {
        environments::find(course.flow(), environment)?;
    }
    let (found, next) = trackers(state, asked).await?;
    let wanted = course.flow().environments().iter();
    let wanted = wanted.map(|it| it.name.clone());
    let is_wanted = |it: &String| asked.environment.as_ref().is_none_or(|name| name == it);
    let environments: Vec<String> = wanted.filter(is_wanted).collect();
    // As it is spelt: the case of names does not matter.
    let one = asked.tracker.as_ref().and(found.first());
    let drawing = Drawing {
        course,
        environments,
        presence: Presence::load(state, one.map(|it| &it.name)).await,
        now: state.clock().now(),
    };
    // It counts for a thousand trackers; others are answered meanwhile.
    let drawn = tokio::task::spawn_blocking(move || {
        let rows = found.iter().map(|it| drawing.row(it));
        (rows.collect(), drawing.environments)
    });
    let (items, environments) = drawn
        .await
        .map_err(|_| ApiError::unavailable("the board could not be drawn"))?;
    Ok(Board {
        environments,
        items,
        next,
    })
}

/// Reads the trackers of a page, and the `continue` of the next one.
async fn trackers(
    state: &AppState,
    asked: &BoardQuestion,
) -> Result<(Vec<TrackerQueues>, Option<String>), ApiError> {
    let releases = state.ledger()?.releases();
    if let Some(name) = &asked.tracker {
        let tracker = TrackerRef::Name(name.clone());
        let which = QueuesOf::One {
            tracker: &tracker,
            release: None,
        };
        let found = releases.queues(which).await?;
        return match found.is_empty() {
            true => Err(trackers::missing(name)),
            false => Ok((found, None)),
        };
    }
    let which = QueuesOf::All {
        after: asked.after.as_ref(),
        limit: asked.limit.saturating_add(1).min(MAX_ROWS),
    };
    let mut found = releases.queues(which).await?;
    let limit = usize::try_from(asked.limit).unwrap_or(usize::MAX);
    // A page as large as can be may be the last one; then the next is empty.
    let has_more = found.len() > limit || asked.limit >= MAX_ROWS && found.len() == limit;
    found.truncate(limit);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|it| it.name.to_string());
    Ok((found, next))
}

/// All that the rows of a board are made from.
struct Drawing {
    course: Course,
    environments: Vec<String>,
    presence: Presence,
    now: Timestamp,
}

impl Drawing {
    fn row(&self, tracker: &TrackerQueues) -> BoardRow {
        let mut answers: BTreeMap<u64, Vec<Why>> = BTreeMap::new();
        let mut cells = Vec::new();
        for environment in &self.environments {
            let Some(release) = tracker.queues.foremost(environment) else {
                continue;
            };
            let course = (self.course.flow(), &self.course.halts);
            // Mostly the same release matters everywhere.
            let of_release = answers
                .entry(release)
                .or_insert_with(|| tracker.queues.why(course, release, self.now));
            let answer = of_release.iter().find(|it| it.environment == *environment);
            cells.extend(answer.map(|it| {
                let (mut why, of_tracker) = (it.clone(), (&tracker.name, &tracker.queues));
                let known = &self.course.environments;
                let live = self.presence.tell(known, of_tracker, release, &mut why);
                cell(&tracker.queues, release, &why, live)
            }));
        }
        BoardRow {
            tracker: tracker.name.to_string(),
            environments: cells,
        }
    }
}

fn cell(queues: &Queues, release: u64, why: &Why, live: Option<bool>) -> BoardCell {
    let environment = why.environment.as_str();
    BoardCell {
        environment: environment.to_owned(),
        deployed: queues.newest(environment, EntryState::Deployed),
        release,
        tag: queues.tag(release).unwrap_or_default().to_owned(),
        state: why.state.map(|it| it.to_string()),
        since: queues.entry(environment, release).map(|it| it.since),
        sentence: why.sentence.clone(),
        earliest: why.earliest,
        never: why.never,
        live,
    }
}
