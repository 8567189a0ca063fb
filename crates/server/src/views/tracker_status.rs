//! Trackers as wire types.

mod places;

use pathline_client::api::{
    ImageState, PendingConfiguration, PollState, ReleaseRef, SourceState, Tracker,
    TrackerCondition, TrackerStatus,
};
use pathline_engine::Polls;
use pathline_ledger::trackers::StoredTracker;
use pathline_release::label::Kind;
use pathline_release::request::Reference;
use pathline_release::tracker::{Condition, ImageQuery, Phase};
use pathline_release::{Configuration, Release, TrackerName};

pub(crate) use self::places::{NO_PATH, Places};

/// Returns a tracker as it is shown, without its secret.
pub(crate) fn view(stored: &StoredTracker, places: &Places, polls: Option<&Polls>) -> Tracker {
    let (mut tag, mut branch, mut commit) = (None, None, None);
    match &stored.source.reference {
        Reference::Head => {}
        Reference::Tag(name) => tag = Some(name.clone()),
        Reference::Branch(name) => branch = Some(name.clone()),
        Reference::Commit(id) => commit = Some(id.clone()),
    }
    Tracker {
        id: stored.name.to_string(),
        group: stored.name.group().to_owned(),
        name: stored.name.name().to_owned(),
        repo: stored.source.repository.to_string(),
        source_path: stored.source.path.to_string(),
        tag,
        branch,
        commit,
        has_token: stored.has_token,
        token_version: stored.edition.token_version,
        generation: stored.edition.generation,
        created_at: stored.created,
        created_by: stored.created_by.clone(),
        updated_at: stored.updated,
        updated_by: stored.updated_by.clone(),
        status: status(stored, places, polls),
    }
}

fn status(stored: &StoredTracker, places: &Places, polls: Option<&Polls>) -> TrackerStatus {
    let state = &stored.state;
    // The condition says what is wrong, the versions or the last failure say why.
    let failure = polls.and_then(|it| it.last_failure.as_deref());
    let message = |condition: Condition| {
        let failure = failure.filter(|_| condition.is_trouble());
        let reason = versions(condition, state).or_else(|| failure.map(str::to_owned));
        let reason = reason.or_else(|| by_hand(condition, &stored.name));
        match reason {
            Some(reason) => format!("{}: {reason}", condition.message()),
            None => condition.message().to_owned(),
        }
    };
    let conditions = state
        .conditions()
        .map(|(condition, since)| TrackerCondition {
            of_type: condition.to_string(),
            message: message(condition),
            since,
        });
    let lost_token = stored.has_lost_token.then(|| TrackerCondition {
        of_type: "TokenLost".to_owned(),
        message: format!(
            "the key that its token was sealed with is lost, and nothing is read until the token is given again: `pathline \
             tracker set {} --source-token-file FILE`, or `--no-source-token`",
            stored.name
        ),
        since: stored.updated,
    });
    let conditions = conditions.chain(places.conditions(stored));
    let last = state.last_release();
    let wanted = state.source().or_else(|| last.map(|it| &it.configuration));
    TrackerStatus {
        phase: match state.phase() {
            _ if stored.has_lost_token => "degraded",
            Phase::Ingesting => "ingesting",
            Phase::Tracking => "tracking",
            Phase::Degraded => "degraded",
        }
        .to_owned(),
        conditions: conditions.chain(lost_token).collect(),
        warnings: Vec::new(),
        source: state.source().map(source),
        image: wanted.map(|configuration| image(stored, configuration)),
        pending: state.pending().map(|pending| PendingConfiguration {
            config_hash: pending.configuration.config_hash.clone(),
            commit: pending.configuration.commit.clone(),
            since: pending.since,
            waiting_for: named(&pending.configuration),
        }),
        last_release: last.map(|it| release_ref(it, &stored.uid)),
        environments: places.queues(&stored.uid),
        polls: polls.map(poll_state),
    }
}

/// Names the command that ends a condition.
fn by_hand(condition: Condition, name: &TrackerName) -> Option<String> {
    let command = format!("`pathline release now {name}` releases it with the image that is there");
    (condition == Condition::ConfigQueued).then_some(command)
}

/// Names the versions that a condition is about.
fn versions(condition: Condition, state: &pathline_release::tracker::Tracker) -> Option<String> {
    let last = state.last_release();
    match condition {
        Condition::AwaitingContainer => {
            let pending = state.pending()?;
            Some(format!("there is no {}", named(&pending.configuration)))
        }
        Condition::SelectedTagGone => {
            let last = last?;
            let (repository, tag) = (&last.image.repository, &last.image.tag);
            let label = last.configuration.label.as_str();
            Some(format!(
                "{repository} has nothing that `{label}` selects, and `{tag}` is released; push it \
                 again, or name another version in the application file"
            ))
        }
        Condition::VersionRegressed => {
            let last = last?;
            let found = state.answer(&ImageQuery::of(&last.configuration))?;
            let (repository, label) = (&found.repository, last.configuration.label.as_str());
            let (highest, tag) = (&found.tag, &last.image.tag);
            Some(format!(
                "{repository} has `{highest}` as the highest version in `{label}`, and `{tag}` is \
                 released; push a higher one, or name the version in the application file"
            ))
        }
        _ => None,
    }
}

fn source(configuration: &Configuration) -> SourceState {
    SourceState {
        commit: configuration.commit.clone(),
        blob: configuration.blob.clone(),
        config_hash: configuration.config_hash.clone(),
    }
}

fn image(stored: &StoredTracker, configuration: &Configuration) -> ImageState {
    let query = ImageQuery::of(configuration);
    let selected = stored.state.answer(&query);
    ImageState {
        repository: query.repository,
        label: query.label.as_str().to_owned(),
        kind: query.label.kind().as_str().to_owned(),
        tag: selected.map(|it| it.tag.clone()),
        digest: selected.map(|it| it.digest.clone()),
    }
}

fn named(configuration: &Configuration) -> String {
    let Configuration {
        repository, label, ..
    } = configuration;
    match label.kind() {
        Kind::Digest => format!("{repository}@{label}"),
        Kind::Pinned | Kind::Follow | Kind::Fixed => format!("{repository}:{label}"),
    }
}

/// Returns a release in short.
pub(crate) fn release_ref(release: &Release, uid: &str) -> ReleaseRef {
    ReleaseRef {
        id: release.id(uid),
        number: release.number,
        image: format!("{}@{}", release.image.repository, release.image.digest),
        tag: release.image.tag.clone(),
        time: release.at,
    }
}

fn poll_state(polls: &Polls) -> PollState {
    PollState {
        observed_at: polls.observed,
        next_poll_at: polls.next,
        failures: polls.failures,
        interval_seconds: polls.interval.as_secs().unsigned_abs(),
        last_failure: polls.last_failure.clone(),
    }
}
