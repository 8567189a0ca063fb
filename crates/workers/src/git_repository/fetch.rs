//! Fetching when it is due, and saying what came of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use kube::runtime::controller::Action;
use parking_lot::Mutex;
use pathline_clock::instant;
use pathline_kinds::workers::{Artifact, GitRepository, GitRepositoryRef, GitRepositoryStatus};
use pathline_remote::archive::Limits;
use pathline_remote::git::{self, Reference};
use tokio::time::Instant;

use super::artifacts;
use crate::context::{self, Context};
use crate::credentials;
use crate::explain::explain;
use crate::source::archive_url;
use crate::status::{
    Occasion, READY, Reporter, Verdict, now, set_condition, set_progressing, set_stalled,
};

/// Asks for a fetch now; any change of the value counts.
const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";
/// A shorter interval would only keep the machine busy.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(500);
/// A failed fetch is tried again after this, or after the interval if that is shorter.
const RETRY: Duration = Duration::from_secs(30);

/// The condition of a repository that could not be fetched and is tried again.
const FETCH_FAILED: &str = "FetchFailed";

/// The times at which repositories are to be fetched next, by their uid.
#[derive(Debug, Default)]
pub(crate) struct Schedule(Mutex<HashMap<String, Due>>);

#[derive(Debug)]
struct Due {
    /// The generation and the request that the last fetch answered.
    answered: (Option<i64>, Option<String>),
    next: Instant,
}

impl Schedule {
    /// Returns the time to wait still, if nothing was asked for since the last fetch.
    fn remaining(&self, object: &GitRepository) -> Option<Duration> {
        let due = self.0.lock();
        let due = due.get(&object.uid().unwrap_or_default())?;
        let remaining = due.next.checked_duration_since(instant())?;
        (due.answered == asked(object)).then_some(remaining)
    }

    fn fetched(&self, object: &GitRepository, wait: Duration) {
        let next = instant() + wait;
        let due = Due {
            answered: asked(object),
            next,
        };
        self.0.lock().insert(object.uid().unwrap_or_default(), due);
    }

    fn forget(&self, object: &GitRepository) {
        self.0.lock().remove(&object.uid().unwrap_or_default());
    }
}

fn asked(object: &GitRepository) -> (Option<i64>, Option<String>) {
    (object.metadata.generation, requested_at(object))
}

fn requested_at(object: &GitRepository) -> Option<String> {
    object.annotations().get(REQUESTED_AT).cloned()
}

/// The reason for which nothing could be fetched.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("these fields are not supported yet: {}", .0.join(", "))]
    Unsupported(Vec<&'static str>),
    #[error(transparent)]
    Access(#[from] credentials::Error),
    #[error("failed to checkout and determine revision")]
    Git(#[from] git::Error),
}

impl Failure {
    /// The reason, and whether only a change of the object can help.
    fn reason(&self) -> (&'static str, bool) {
        match self {
            Self::Unsupported(_) => ("UnsupportedField", true),
            Self::Access(credentials::Error::Url(_)) => ("URLInvalid", true),
            Self::Git(git::Error::InvalidReference { .. }) => ("InvalidReference", true),
            Self::Access(_) | Self::Git(git::Error::Unauthenticated { .. }) => {
                ("AuthenticationFailed", false)
            }
            Self::Git(_) => ("GitOperationFailed", false),
        }
    }
}

/// Fetches if it is time, or if somebody asked.
pub(crate) async fn reconcile(
    object: Arc<GitRepository>,
    context: Arc<Context>,
) -> Result<Action, context::Error> {
    let schedule = &context.schedule;
    if object.metadata.deletion_timestamp.is_some() || object.spec.suspend == Some(true) {
        schedule.forget(&object);
        return Ok(Action::await_change());
    }
    if let Some(remaining) = schedule.remaining(&object) {
        return Ok(Action::requeue(remaining));
    }
    let mut reporter = Reporter::new(&context.client, &*object);
    let mut status = object.status.clone().unwrap_or_default();
    let occasion = || Occasion::new(object.metadata.generation, &context.options.clock);
    if set_progressing(&mut status.conditions, &occasion(), "it is being fetched") {
        reporter.write(&status).await?;
    }
    let fetched = fetch(&object, &context, status.artifact.as_ref()).await;
    let wait = pause(&object, &fetched);
    let action = match &fetched {
        Err(failure) if failure.reason().1 => Action::await_change(),
        _ => Action::requeue(wait),
    };
    record(&mut status, &object, &occasion(), fetched);
    reporter.write(&status).await?;
    schedule.fetched(&object, wait);
    if status.artifact
        != object
            .status
            .as_ref()
            .and_then(|known| known.artifact.clone())
    {
        artifacts::tidy(&context, &object, status.artifact.as_ref()).await;
    }
    Ok(action)
}

/// Returns the pause until the next fetch.
fn pause(object: &GitRepository, fetched: &Result<Artifact, Failure>) -> Duration {
    let interval = object.spec.interval.duration().max(SHORTEST_INTERVAL);
    match fetched {
        Ok(_) => interval,
        Err(_) => interval.min(RETRY),
    }
}

/// The artifact of what the reference names now: the known one, if it did not move.
async fn fetch(
    object: &GitRepository,
    context: &Context,
    known: Option<&Artifact>,
) -> Result<Artifact, Failure> {
    let spec = &object.spec;
    let unsupported = spec.unsupported_fields();
    if !unsupported.is_empty() {
        return Err(Failure::Unsupported(unsupported));
    }
    let namespace = object.namespace().unwrap_or_default();
    let remote = credentials::remote(
        &context.client,
        &namespace,
        &spec.url,
        spec.secret_ref.as_ref(),
    )
    .await?
    .with_timeout(spec.timeout.duration());
    let reference = reference(object);
    let revision = context.git.resolve(&remote, &reference).await?;
    let is_fresh = |artifact: &&Artifact| {
        artifact.revision == revision.to_string()
            && context.places.artifacts().join(&artifact.path).is_file()
    };
    // A repository with another URL may have a commit of the same id only if it is the same commit.
    if let Some(artifact) = known.filter(is_fresh) {
        return Ok(artifact.clone());
    }
    let revision = context.git.fetch(&remote, &reference).await?;
    let directory = artifacts::directory(&namespace, &object.name_any());
    let place = context.places.artifacts().join(&directory);
    let archive = context
        .git
        .archive(&remote, &revision, &place, Limits::default())
        .await?;
    let file = archive
        .path
        .file_name()
        .map(Path::new)
        .unwrap_or(Path::new(""));
    Ok(Artifact {
        path: directory.join(file).display().to_string(),
        url: archive_url(&archive.path),
        revision: revision.to_string(),
        digest: format!("sha256:{}", archive.digest),
        last_update_time: now(&context.options.clock),
        size: i64::try_from(archive.size).unwrap_or(i64::MAX),
        metadata: std::collections::BTreeMap::new(),
    })
}

/// Returns the reference to follow, in the order of precedence that Flux has.
fn reference(object: &GitRepository) -> Reference {
    let given = object.spec.reference.clone().unwrap_or_default();
    match given {
        GitRepositoryRef {
            name: Some(name), ..
        } => Reference::Name(name),
        GitRepositoryRef {
            commit: Some(id),
            branch,
            ..
        } => Reference::Commit { id, branch },
        GitRepositoryRef { tag: Some(tag), .. } => Reference::Tag(tag),
        GitRepositoryRef { branch, .. } => {
            Reference::Branch(branch.unwrap_or_else(|| "master".into()))
        }
    }
}

fn record(
    status: &mut GitRepositoryStatus,
    object: &GitRepository,
    occasion: &Occasion,
    fetched: Result<Artifact, Failure>,
) {
    status.last_handled_reconcile_at = requested_at(object);
    let conditions = &mut status.conditions;
    match fetched {
        Ok(artifact) => {
            let stored = format!("stored artifact for revision '{}'", artifact.revision);
            let verdict = Verdict::yes("Succeeded", stored);
            set_condition(conditions, READY, occasion, verdict.clone());
            set_condition(conditions, "ArtifactInStorage", occasion, verdict);
            set_stalled(conditions, occasion, None);
            conditions.retain(|it| it.type_ != FETCH_FAILED);
            status.observed_generation = occasion.generation;
            status.artifact = Some(artifact);
        }
        Err(failure) => record_failure(status, occasion, &failure),
    }
}

/// Says why nothing was fetched: `Stalled` if nobody tries again, else `FetchFailed`.
fn record_failure(status: &mut GitRepositoryStatus, occasion: &Occasion, failure: &Failure) {
    let conditions = &mut status.conditions;
    let (reason, is_stalled) = failure.reason();
    let verdict = Verdict::no(reason, explain(failure));
    set_condition(conditions, READY, occasion, verdict.clone());
    set_stalled(conditions, occasion, is_stalled.then_some(&verdict));
    if is_stalled {
        conditions.retain(|it| it.type_ != FETCH_FAILED);
        status.observed_generation = occasion.generation;
    } else {
        let failed = Verdict::yes(reason, verdict.message);
        set_condition(conditions, FETCH_FAILED, occasion, failed);
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use pathline_clock::Clock;

    use super::*;

    fn failed(status: &mut GitRepositoryStatus, failure: Failure) {
        let spec = serde_json::json!({ "url": "file:///a", "interval": "1m" });
        let object = GitRepository::new("a", serde_json::from_value(spec).unwrap());
        let occasion = Occasion::new(object.metadata.generation, &Clock::system());
        record(status, &object, &occasion, Err(failure));
    }

    fn unreachable() -> Failure {
        Failure::Git(git::Error::Local {
            action: "try",
            detail: "no".into(),
        })
    }

    #[test]
    fn a_failure_that_lasts_changes_nothing_in_the_status() {
        let mut status = GitRepositoryStatus::default();
        failed(&mut status, unreachable());
        for condition in &mut status.conditions {
            condition.last_transition_time = Time(jiff::Timestamp::UNIX_EPOCH);
        }
        let before = serde_json::to_value(&status).unwrap();
        failed(&mut status, unreachable());
        assert_eq!(serde_json::to_value(&status).unwrap(), before);
    }

    #[test]
    fn only_the_trouble_there_is_now_is_shown() {
        let types = |status: &GitRepositoryStatus| {
            status
                .conditions
                .iter()
                .map(|it| it.type_.clone())
                .collect::<Vec<_>>()
        };
        let mut status = GitRepositoryStatus::default();
        failed(&mut status, unreachable());
        assert_eq!(types(&status), ["Ready", "FetchFailed"]);
        failed(&mut status, Failure::Unsupported(vec!["ignore"]));
        assert_eq!(types(&status), ["Ready", "Stalled"]);
    }
}
