//! Trackers: listed, made, replaced, deleted and looked at.

use pathline_client::api::{Tracker, TrackerWarning};
use pathline_ledger::trackers::{
    CreateOutcome, DeleteOutcome, Edition, ReplaceOutcome, StoredTracker,
};
use pathline_ledger::{Error, Page, Paged};
use pathline_release::application;
use pathline_release::request::{Body, InvalidBody, Problem};
use pathline_release::{InvalidName, Token, TrackerName, owner_name};

use crate::AppState;
use crate::error::{ApiError, ErrorKind};
use crate::views::tracker_status::{self, Places};

/// Lists trackers by name: all of them, or a page.
pub(crate) async fn list(
    state: &AppState,
    page: Option<&Page>,
) -> Result<Paged<Tracker>, ApiError> {
    let trackers = state.ledger()?.trackers();
    let Paged { items, next } = match page {
        Some(page) => trackers.list(page).await?,
        None => Paged {
            items: trackers.all_active().await?,
            next: None,
        },
    };
    let uids: Vec<String> = items.iter().map(|it| it.uid.clone()).collect();
    let places = Places::load(state, &uids).await?;
    let items = items.iter().map(|it| view(state, it, &places));
    Ok(Paged {
        items: items.collect(),
        next,
    })
}

/// Returns a tracker.
pub(crate) async fn get(state: &AppState, name: &TrackerName) -> Result<Tracker, ApiError> {
    let stored = find(state, name).await?;
    shown(state, stored).await
}

/// Finds a tracker.
pub(crate) async fn find(state: &AppState, name: &TrackerName) -> Result<StoredTracker, ApiError> {
    let stored = state.ledger()?.trackers().get(name).await?;
    stored.ok_or_else(|| missing(name))
}

/// Makes a tracker.
pub(crate) async fn create(state: &AppState, body: &[u8], by: &str) -> Result<Tracker, ApiError> {
    let body = Body::read(body).map_err(|invalid| refuse_body(&invalid))?;
    let tracking = state.tracking();
    let new = body.create(&tracking.known_hosts()).map_err(invalid)?;
    let name = new.name.clone();
    let trackers = state.ledger()?.trackers();
    let created = trackers
        .create(new, tracking.settle, by, state.clock().now())
        .await?;
    match created {
        CreateOutcome::Created(stored) => {
            tracing::info!("`{by}` made the tracker `{name}`");
            shown(state, *stored).await
        }
        CreateOutcome::Exists => {
            // As it is spelt: the case of names does not matter.
            let existing = trackers.get(&name).await?.map_or(name, |it| it.name);
            let message = format!("there is a tracker `{existing}` already");
            let hint = format!(
                "`pathline tracker set {existing}` or PUT /trackers/{existing} replaces what it reads"
            );
            Err(ApiError::conflict(message).with_hint(hint))
        }
        CreateOutcome::OwnerTaken { by: other } => {
            let owner = owner_name(&name);
            let message = format!(
                "there is a tracker `{other}` already, whose objects in clusters are called `{owner}`, as those of `{name}` would be"
            );
            Err(ApiError::conflict(message).with_hint("choose another name"))
        }
    }
}

/// Replaces what a tracker reads.
pub(crate) async fn replace(
    state: &AppState,
    name: &TrackerName,
    expected: Option<Vec<Edition>>,
    body: &[u8],
    by: &str,
) -> Result<Tracker, ApiError> {
    let body = Body::read(body).map_err(|invalid| refuse_body(&invalid))?;
    let trackers = state.ledger()?.trackers();
    let stored = trackers.get(name).await?.ok_or_else(|| missing(name))?;
    let token = match stored.has_token {
        true => trackers.token(&stored.uid).await?,
        false => None,
    };
    let token = token.and_then(|it| Token::new(it.reveal().to_owned()));
    let token = token.unwrap_or_default();
    let hosts = state.tracking().known_hosts();
    let replacement = body.replace(name, (&stored.source, &token), &hosts);
    let replacement = replacement.map_err(invalid)?;
    let expected = among(expected, stored.edition).ok_or_else(|| stale(name))?;
    // What was read here may be another edition by now; the ledger compares again.
    let replaced = trackers
        .replace(name, replacement, expected, by, state.clock().now())
        .await?;
    match replaced {
        ReplaceOutcome::Replaced(stored) => {
            tracing::info!("`{by}` replaced the tracker `{name}`");
            shown(state, *stored).await
        }
        ReplaceOutcome::Unchanged(stored) => shown(state, *stored).await,
        ReplaceOutcome::TokenRequired => Err(invalid(vec![Problem {
            field: "token".to_owned(),
            code: "token-required",
            message: "a stored token is not sent to another repository; give one".to_owned(),
        }])),
        ReplaceOutcome::Stale => Err(stale(name)),
        ReplaceOutcome::Missing => Err(missing(name)),
    }
}

/// Deletes a tracker. Its releases stay.
pub(crate) async fn delete(
    state: &AppState,
    name: &TrackerName,
    expected: Option<Vec<Edition>>,
    by: &str,
) -> Result<(), ApiError> {
    let trackers = state.ledger()?.trackers();
    let stored = trackers.get(name).await?.ok_or_else(|| missing(name))?;
    let expected = among(expected, stored.edition).ok_or_else(|| stale(name))?;
    let now = state.clock().now();
    match trackers.delete(name, expected, by, now).await? {
        DeleteOutcome::Deleted { .. } => {
            tracing::info!("`{by}` deleted the tracker `{name}`");
            Ok(())
        }
        DeleteOutcome::Stale => Err(stale(name)),
        DeleteOutcome::Missing => Err(missing(name)),
    }
}

/// Lets a tracker be looked at now.
pub(crate) async fn poll(state: &AppState, name: &TrackerName, by: &str) -> Result<(), ApiError> {
    let trackers = state.ledger()?.trackers();
    let stored = trackers.get(name).await?.ok_or_else(|| missing(name))?;
    let now = state.clock().now();
    trackers.poll_now(&stored.uid, by, now).await?;
    Ok(())
}

/// Reads the name of a tracker in a path.
pub(crate) fn name_in_path(text: &str) -> Result<TrackerName, ApiError> {
    text.parse()
        .map_err(|invalid: InvalidName| ApiError::bad_request(invalid.to_string()))
}

/// Returns a tracker as it is shown, with warnings.
pub(crate) async fn shown(state: &AppState, stored: StoredTracker) -> Result<Tracker, ApiError> {
    let uid = [stored.uid.clone()];
    let places = Places::load(state, &uid).await?;
    let mut tracker = view(state, &stored, &places);
    tracker.status.warnings = warnings(state, &stored).await?;
    Ok(tracker)
}

/// Finds the keys that mean nothing in the configuration as the repository has it. They are not stored: whatever the file
/// says is, and what it means may be more in a later version.
async fn warnings(
    state: &AppState,
    stored: &StoredTracker,
) -> Result<Vec<TrackerWarning>, ApiError> {
    let Some(source) = stored.state.source() else {
        return Ok(Vec::new());
    };
    let releases = state.ledger()?.releases();
    let kept = match releases
        .configuration(&stored.uid, &source.config_hash)
        .await
    {
        // The tracker is worth showing without its key.
        Err(Error::NoSealKey { .. } | Error::WrongSealKey { .. }) => None,
        kept => kept?,
    };
    let warnings = kept.map(|it| application::warnings(&stored.name, &it.whole()));
    let warnings = warnings.unwrap_or_default().into_iter();
    Ok(warnings
        .map(|it| TrackerWarning {
            path: it.path,
            line: it.position.map(|it| it.line as u64),
            column: it.position.map(|it| it.column as u64),
            message: it.message,
        })
        .collect())
}

fn view(state: &AppState, stored: &StoredTracker, places: &Places) -> Tracker {
    let polls = state.polls().of(&stored.uid);
    tracker_status::view(stored, places, polls.as_ref())
}

/// Returns the edition that the ledger is to find, if any will not do; nothing if there is another one already.
fn among(expected: Option<Vec<Edition>>, found: Edition) -> Option<Option<Edition>> {
    match expected {
        None => Some(None),
        Some(editions) => editions.contains(&found).then_some(Some(found)),
    }
}

/// Returns the error that there is no such tracker.
pub(crate) fn missing(name: &TrackerName) -> ApiError {
    ApiError::not_found(format!("there is no tracker `{name}`"))
        .with_hint("`pathline tracker list` or GET /trackers lists them; POST /trackers makes one")
}

fn stale(name: &TrackerName) -> ApiError {
    let message = format!("the tracker `{name}` has changed since it was read");
    ApiError::new(ErrorKind::PreconditionFailed, "stale", message)
        .with_hint("read it again, and send its ETag as If-Match")
}

/// Returns the error of a body that cannot be read.
pub(crate) fn refuse_body(invalid: &InvalidBody) -> ApiError {
    let kind = match invalid {
        InvalidBody::TooLarge => {
            return ApiError::new(ErrorKind::PayloadTooLarge, "too-large", invalid.to_string());
        }
        InvalidBody::NotJson(_) | InvalidBody::NotUtf8 | InvalidBody::NotAnObject => {
            ErrorKind::BadRequest
        }
    };
    let message = match invalid {
        InvalidBody::NotJson(error) => {
            format!("{invalid}: {}, {}", error.position, error.kind)
        }
        _ => invalid.to_string(),
    };
    ApiError::new(kind, "bad-request", message)
}

fn invalid(problems: Vec<Problem>) -> ApiError {
    ApiError::invalid(problems)
}
