//! Releases: listed and shown, with what they change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pathline_client::api::{
    KeyChange, Release, ReleaseDetail, ReleaseEntry, ReleaseImage, ReleasePage, ReleaseSource,
};
use pathline_keys::document::Format;
use pathline_keys::{ChangeKind, KeyRef, KeySet, Name, ValueRef};
use pathline_ledger::releases::{ReleaseFilter, StoredConfiguration, StoredRelease};
use pathline_ledger::{Page, Paged};
use pathline_release::TrackerName;
use pathline_release::application;
use pathline_release::queue::{Flow, Restore};
use serde_json::Value;

use crate::AppState;
use crate::error::ApiError;
use crate::views::environments;

/// The longest value that is shown whole, in characters.
const MAX_VALUE: usize = 200;

/// A release, as people name it.
#[derive(Clone, Debug)]
pub(crate) enum ReleaseName {
    /// By its id, or by enough of its first digits.
    Id(String),
    /// By its tracker and its number.
    Number(TrackerName, u64),
}

impl fmt::Display for ReleaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(digits) => f.write_str(digits),
            Self::Number(tracker, number) => write!(f, "{tracker}@{number}"),
        }
    }
}

/// Lists releases, the newest first.
pub(crate) async fn list(
    state: &AppState,
    filter: &ReleaseFilter,
    page: &Page,
) -> Result<ReleasePage, ApiError> {
    let Paged { items, next } = state.ledger()?.releases().list(filter, page).await?;
    let known = environments::load_if_possible(state).await;
    // One that has been removed may still have had some.
    let wanted = filter.environment.as_ref().filter(|_| items.is_empty());
    if let (Some(environment), Some(known)) = (wanted, &known) {
        environments::find(known.flow(), environment)?;
    }
    let flow = known.map_or_else(Flow::usual, |it| it.flow().clone());
    let replacements = Replacements::load(state, &items).await?;
    let items = items.into_iter();
    Ok(ReleasePage {
        items: items.map(|it| replacements.view(it, &flow)).collect(),
        next,
    })
}

/// Returns a release by its id, by enough of its first digits, or by its tracker and its number; with what it changes.
pub(crate) async fn get(state: &AppState, id: &ReleaseName) -> Result<ReleaseDetail, ApiError> {
    let stored = find(state, id).await?;
    let releases = state.ledger()?.releases();
    let uid = &stored.tracker_uid;
    let before = match stored.release.previous {
        None => None,
        Some(number) => releases.numbered(uid, number).await?,
    };
    let after = releases
        .configuration(uid, &stored.release.configuration.config_hash)
        .await?;
    let before = match before {
        None => None,
        Some(before) => {
            let hash = &before.release.configuration.config_hash;
            releases.configuration(uid, hash).await?
        }
    };
    let changes = changes(before.as_ref(), after.as_ref());
    let replacements = Replacements::load(state, std::slice::from_ref(&stored)).await?;
    Ok(ReleaseDetail {
        release: replacements.view(stored, &flow(state).await),
        changes,
    })
}

/// The releases that were deployed after others, by the uid of the tracker, the environment and the number.
struct Replacements(BTreeMap<(String, String, u64), u64>);

impl Replacements {
    async fn load(state: &AppState, releases: &[StoredRelease]) -> Result<Self, ApiError> {
        let uids: BTreeSet<&String> = releases.iter().map(|it| &it.tracker_uid).collect();
        let uids: Vec<String> = uids.into_iter().cloned().collect();
        let numbers = || releases.iter().map(|it| it.release.number);
        let range = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
        let found = state.ledger()?.releases();
        Ok(Self(found.replacements(&uids, range).await?))
    }

    fn view(&self, stored: StoredRelease, flow: &Flow) -> Release {
        let uid = stored.tracker_uid.clone();
        let mut release = view(stored, flow);
        for entry in &mut release.entries {
            let key = (uid.clone(), entry.environment.clone(), release.number);
            entry.replaced_by = self.0.get(&key).copied();
        }
        release
    }
}

/// Finds a release.
pub(crate) async fn find(state: &AppState, name: &ReleaseName) -> Result<StoredRelease, ApiError> {
    let releases = state.ledger()?.releases();
    let found = match name {
        ReleaseName::Id(digits) => releases.get(digits).await?,
        ReleaseName::Number(tracker, number) => releases.of_tracker(tracker, *number).await?,
    };
    found.ok_or_else(|| {
        ApiError::not_found(format!("there is no release `{name}`"))
            .with_hint("`pathline release list` or GET /releases lists them")
    })
}

/// Returns the environments in order; the usual ones where the cluster does not say.
async fn flow(state: &AppState) -> Flow {
    let environments = environments::load_if_possible(state).await;
    environments.map_or_else(Flow::usual, |it| it.flow().clone())
}

/// Returns a release as it is shown, with its environments in the order of a flow.
pub(crate) fn view(stored: StoredRelease, flow: &Flow) -> Release {
    let place = |name: &str| flow.environments().iter().position(|it| it.name == name);
    let mut entries: Vec<ReleaseEntry> = stored
        .entries
        .into_iter()
        .map(|(environment, entry)| ReleaseEntry {
            environment,
            state: entry.state.to_string(),
            since: entry.since,
            superseded_by: entry.superseded_by,
            replaced_by: None,
            restore: entry.restore.map(|it| match it {
                Restore::Pending => "pending".to_owned(),
                Restore::Done => "done".to_owned(),
                Restore::Failed(message) => message,
            }),
            message: entry.message,
        })
        .collect();
    entries.sort_by_key(|it| place(&it.environment).unwrap_or(usize::MAX));
    let release = stored.release;
    Release {
        id: stored.id,
        tracker: stored.tracker.to_string(),
        number: release.number,
        previous: release.previous,
        cause: release.cause.to_string(),
        by: stored.by,
        reason: stored.reason,
        from: ReleaseSource {
            commit: release.configuration.commit,
            blob: release.configuration.blob,
            config_hash: release.configuration.config_hash,
        },
        image: ReleaseImage {
            repository: release.image.repository,
            tag: release.image.tag,
            digest: release.image.digest,
            revision: stored.image_revision,
            source: stored.image_source,
        },
        time: release.at,
        entries,
    }
}

/// The keys of a configuration, and those of them that are no secrets.
#[derive(Default)]
struct Keys {
    all: KeySet,
    public: KeySet,
}

impl Keys {
    fn of(configuration: Option<&StoredConfiguration>) -> Self {
        let Some(configuration) = configuration else {
            return Self::default();
        };
        let read = |document: Value| {
            let document = application::settings(document).to_string();
            let keys = pathline_keys::document::read(Format::Json, &document);
            // It was read as an application file before; whatever is in one can be a key.
            keys.unwrap_or_default()
        };
        Self {
            all: read(configuration.whole()),
            public: read(configuration.document.clone()),
        }
    }

    fn hides(&self, name: &Name) -> bool {
        self.all.get(name).is_some() && self.public.get(name).is_none()
    }
}

/// Compares two configurations key by key. That a secret has changed is told, and nothing else of it.
fn changes(
    before: Option<&StoredConfiguration>,
    after: Option<&StoredConfiguration>,
) -> Vec<KeyChange> {
    let (before, after) = (Keys::of(before), Keys::of(after));
    let difference = KeySet::diff(&before.all, &after.all, None);
    let says_something = |change: &pathline_keys::Change<'_>| {
        let mut keys = [change.old(), change.current()].into_iter().flatten();
        !keys.all(is_structure)
    };
    let change = |change: pathline_keys::Change<'_>| {
        let name = change.name();
        let secret = before.hides(&name) || after.hides(&name);
        let shown = |key: Option<KeyRef<'_>>| key.filter(|_| !secret).map(value);
        KeyChange {
            key: name.to_string(),
            change: match change.kind() {
                ChangeKind::Added => "added",
                ChangeKind::Removed => "removed",
                ChangeKind::Modified => "modified",
            }
            .to_owned(),
            before: shown(change.old()),
            after: shown(change.current()),
            secret,
        }
    };
    difference
        .iter()
        .filter(says_something)
        .map(change)
        .collect()
}

/// Tells whether a key is no value, but a map or a list around others, or an empty one.
fn is_structure(key: KeyRef<'_>) -> bool {
    let metadata = key.metadata();
    metadata.get("map").is_some() || metadata.get("array").is_some()
}

fn value(key: KeyRef<'_>) -> String {
    let text = match key.value() {
        ValueRef::Text(text) => text.to_owned(),
        ValueRef::Absent => String::new(),
        ValueRef::Binary(bytes) => format!("{} bytes", bytes.len()),
    };
    match text.char_indices().nth(MAX_VALUE) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
