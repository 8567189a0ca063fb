//! Answers to why a release of a tracker is not where it should be.

use pathline_client::api::{EnvironmentWhy, Tracker, TrackerWhy};
use pathline_ledger::Page;
use pathline_ledger::releases::{QueuesOf, ReleaseFilter, StoredRelease, TrackerRef};
use pathline_ledger::trackers::StoredTracker;
use pathline_release::TrackerName;
use pathline_release::queue::{Queues, Why};

use crate::AppState;
use crate::error::ApiError;
use crate::views::environments::{self, Course};
use crate::views::presence::Presence;
use crate::views::tracker_status::NO_PATH;
use crate::views::{tracker_status, trackers};

/// The release that is asked about, and where.
#[derive(Debug, Default)]
pub(crate) struct WhyQuestion {
    /// The number of the release.
    pub(crate) release: Option<u64>,
    /// Digits of a commit, of which the newest release is meant.
    pub(crate) commit: Option<String>,
    /// The environment; nothing for all.
    pub(crate) environment: Option<String>,
}

/// Says for each environment why a release is not there yet; where there is no release, why there is none.
pub(crate) async fn why(
    state: &AppState,
    name: &TrackerName,
    asked: &WhyQuestion,
) -> Result<TrackerWhy, ApiError> {
    let stored = trackers::find(state, name).await?;
    // As it is spelt: the case of names does not matter.
    let name = &stored.name;
    let course = Course::load(state).await?;
    if let Some(environment) = &asked.environment {
        environments::find(course.flow(), environment)?;
    }
    let number = match (&asked.commit, asked.release) {
        (Some(commit), _) => newest_of_commit(state, &stored, commit).await?,
        (None, number) => number,
    };
    let tracker = trackers::shown(state, stored.clone()).await?;
    if asked.commit.is_some() && number.is_none() {
        return Ok(unreleased(&tracker, asked.commit.as_deref()));
    }
    let queues = queues(state, &stored.uid, number).await?;
    let newest = queues.as_ref().and_then(Queues::newest_release);
    let (Some(queues), Some(number)) = (queues, number.or(newest)) else {
        return Ok(unreleased(&tracker, None));
    };
    let now = state.clock().now();
    let mut answers = queues.why((course.flow(), &course.halts), number, now);
    let presence = Presence::load(state, Some(name)).await;
    let releases = state.ledger()?.releases();
    let found = releases.numbered(&stored.uid, number).await?;
    let found = found.ok_or_else(|| no_release(name, number))?;
    let is_wanted = |it: &Why| {
        asked
            .environment
            .as_ref()
            .is_none_or(|name| *name == it.environment)
    };
    let is_newest = Some(number) == newest;
    Ok(TrackerWhy {
        tracker: tracker.id.clone(),
        release: Some(tracker_status::release_ref(&found.release, &stored.uid)),
        environments: {
            let of_tracker = (name, &queues);
            let view = |it: &mut Why| {
                let live = presence.tell(&course.environments, of_tracker, number, it);
                view(it.clone(), live)
            };
            let wanted = answers.iter_mut().filter(|it| is_wanted(it));
            wanted.map(view).collect()
        },
        reasons: {
            let pending = pending(&tracker).filter(|_| is_newest);
            pending.into_iter().chain(conditions(&tracker)).collect()
        },
    })
}

/// Returns the answer for an environment as it is shown.
fn view(why: Why, live: Option<bool>) -> EnvironmentWhy {
    EnvironmentWhy {
        environment: why.environment,
        state: why.state.map(|it| it.to_string()),
        sentence: why.sentence,
        earliest: why.earliest,
        never: why.never,
        live,
    }
}

/// Returns the queues of a tracker, with what is needed for a release.
pub(crate) async fn queues(
    state: &AppState,
    uid: &str,
    release: Option<u64>,
) -> Result<Option<Queues>, ApiError> {
    let tracker = TrackerRef::Uid(uid.to_owned());
    let which = QueuesOf::One {
        tracker: &tracker,
        release,
    };
    let found = state.ledger()?.releases().queues(which).await?;
    Ok(found.into_iter().next().map(|it| it.queues))
}

/// Returns the releases of a commit, the newest first: those of the tracker that has the name now.
pub(crate) async fn of_commit(
    state: &AppState,
    stored: &StoredTracker,
    commit: &str,
) -> Result<Vec<StoredRelease>, ApiError> {
    let filter = ReleaseFilter {
        tracker: Some(stored.name.clone()),
        commit: Some(commit.to_owned()),
        environment: None,
    };
    let releases = state.ledger()?.releases();
    let found = releases.list(&filter, &Page::default()).await?;
    let found = found.items.into_iter();
    Ok(found.filter(|it| it.tracker_uid == stored.uid).collect())
}

/// Returns the newest release of a commit that is no rollback.
async fn newest_of_commit(
    state: &AppState,
    stored: &StoredTracker,
    commit: &str,
) -> Result<Option<u64>, ApiError> {
    let found = of_commit(state, stored, commit).await?;
    let mut found = found.iter().map(|it| &it.release);
    let newest = found.find(|it| it.rollback.is_none());
    Ok(newest.map(|it| it.number))
}

/// Says why there is no release, or none of a commit.
fn unreleased(tracker: &Tracker, commit: Option<&str>) -> TrackerWhy {
    let mut reasons: Vec<String> = commit
        .map(|it| format!("there is no release of commit {it}"))
        .into_iter()
        .collect();
    reasons.extend(waiting(tracker));
    TrackerWhy {
        tracker: tracker.id.clone(),
        release: None,
        environments: Vec::new(),
        reasons,
    }
}

/// Says what a tracker without a release waits for, as far as it is known.
pub(crate) fn waiting(tracker: &Tracker) -> Vec<String> {
    let status = &tracker.status;
    let mut reasons: Vec<String> = pending(tracker).into_iter().collect();
    reasons.extend(conditions(tracker));
    if reasons.is_empty() && status.source.is_none() {
        reasons.push("the repository was not read yet".to_owned());
    }
    reasons
}

/// Returns the conditions of a tracker in words, without those that a row has.
fn conditions(tracker: &Tracker) -> impl Iterator<Item = String> {
    let conditions = tracker.status.conditions.iter();
    let conditions = conditions.filter(|it| it.of_type != NO_PATH);
    conditions.map(|it| format!("{}: {}", it.of_type, it.message))
}

fn pending(tracker: &Tracker) -> Option<String> {
    let pending = tracker.status.pending.as_ref()?;
    Some(format!(
        "the configuration of commit {} waits for {} since {:.0}",
        pending.commit, pending.waiting_for, pending.since
    ))
}

/// Returns the error that a tracker has no such release.
pub(crate) fn no_release(name: &TrackerName, number: u64) -> ApiError {
    ApiError::not_found(format!("there is no release {number} of `{name}`")).with_hint(format!(
        "`pathline release list --tracker {name}` lists them"
    ))
}
