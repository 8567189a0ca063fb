//! `GitCommit`: writes files to a git repository and pushes.

use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use kube::runtime::controller::Action;
use pathline_kinds::workers::{Author, GitCommit, GitCommitStatus};
use pathline_remote::git::{self, Change, Edits, Trailer, Written};

use super::context::{self, Context};
use super::credentials;
use super::explain::explain;
use super::status::{
    Occasion, READY, Reporter, Verdict, set_condition, set_progressing, set_stalled,
};

/// The time that fetching, committing and pushing may take, with all its repetitions.
const PUSH_TIMEOUT: Duration = Duration::from_secs(120);
/// The reason of a commit that a copy of a data directory does not push.
const SUSPENDED: &str = "Suspended";
/// The pause before a failed commit is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// The reason for which the files could not be written.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Access(#[from] credentials::Error),
    #[error(transparent)]
    Git(#[from] git::Error),
}

impl Failure {
    /// A reason, and whether trying again without a change could help.
    fn reason(&self) -> (&'static str, bool) {
        match self {
            Self::Access(credentials::Error::Url(_)) => ("InvalidSpec", false),
            Self::Access(_) | Self::Git(git::Error::Unauthenticated { .. }) => {
                ("AuthenticationFailed", true)
            }
            Self::Git(
                git::Error::InvalidPath { .. }
                | git::Error::InvalidMessage { .. }
                | git::Error::InvalidReference { .. }
                | git::Error::InvalidUrl { .. },
            ) => ("InvalidSpec", false),
            Self::Git(git::Error::Rejected { .. }) => ("Rejected", true),
            Self::Git(_) => ("PushFailed", true),
        }
    }
}

/// Writes the files of the newest generation unless that was done.
pub(super) async fn reconcile(
    object: Arc<GitCommit>,
    context: Arc<Context>,
) -> Result<Action, context::Error> {
    let mut reporter = Reporter::new(&context.client, &*object);
    // What the cache has may be older than what was said last: a commit is written once.
    let Some(object) = reporter.current().await? else {
        return Ok(Action::await_change());
    };
    if object.metadata.deletion_timestamp.is_some() || is_written(&object) {
        return Ok(Action::await_change());
    }
    let occasion = || Occasion::new(object.metadata.generation, &context.options.clock);
    let mut status = object.status.clone().unwrap_or_default();
    if let Some(original) = context.options.copy_of() {
        suspend(&mut status, &occasion(), original);
        reporter.write(&status).await?;
        return Ok(Action::await_change());
    }
    status.conditions.retain(|it| it.reason != SUSPENDED);
    if set_progressing(
        &mut status.conditions,
        &occasion(),
        "the files are being written",
    ) {
        reporter.write(&status).await?;
    }
    let written = write(&object, &context).await;
    let action = record(&mut status, &occasion(), written);
    reporter.write(&status).await?;
    Ok(action)
}

/// Says that a copy pushes nothing.
fn suspend(status: &mut GitCommitStatus, occasion: &Occasion, original: &str) {
    let message = format!(
        "nothing is pushed: the data directory is a copy of {original}; start it with `pathline up --adopt` to push from here, too"
    );
    let verdict = Verdict::unknown(SUSPENDED, message);
    set_condition(&mut status.conditions, READY, occasion, verdict);
    set_stalled(&mut status.conditions, occasion, None);
}

fn is_written(object: &GitCommit) -> bool {
    let is_ready = |status: &GitCommitStatus| {
        let mut conditions = status.conditions.iter();
        status.observed_generation == object.metadata.generation
            && conditions.any(|it| it.type_ == READY && it.status == "True")
    };
    object.status.as_ref().is_some_and(is_ready)
}

/// Says what came of it, and when to try again.
fn record(
    status: &mut GitCommitStatus,
    occasion: &Occasion,
    written: Result<Written, Failure>,
) -> Action {
    let (verdict, is_retried) = match written {
        Ok(written) => {
            status.revision = Some(written.tip.to_string());
            let done = if written.is_changed() {
                "the commit was pushed"
            } else {
                "the branch has the files"
            };
            status.commit = Some(written.tip.commit);
            (Verdict::yes("Succeeded", done), None)
        }
        Err(failure) => {
            let (reason, may_help) = failure.reason();
            (Verdict::no(reason, explain(&failure)), Some(may_help))
        }
    };
    let stalled = (is_retried == Some(false)).then_some(&verdict);
    set_stalled(&mut status.conditions, occasion, stalled);
    set_condition(&mut status.conditions, READY, occasion, verdict);
    status.observed_generation = occasion.generation;
    match is_retried {
        Some(true) => Action::requeue(RETRY),
        Some(false) | None => Action::await_change(),
    }
}

async fn write(object: &GitCommit, context: &Context) -> Result<Written, Failure> {
    let spec = &object.spec;
    let namespace = object.namespace().unwrap_or_default();
    let remote = credentials::remote(
        &context.client,
        &namespace,
        &spec.url,
        spec.secret_ref.as_ref(),
    )
    .await?;
    let author = spec
        .author
        .clone()
        .map(|Author { name, email }| git::Author { name, email });
    let files = spec.files.iter();
    let trailers = spec.trailers.iter();
    let edits = Edits {
        files: files
            .map(|(path, content)| (path.clone(), Some(content.clone().into_bytes())))
            .collect(),
        message: spec.message.clone(),
        trailers: trailers
            .map(|(key, value)| Trailer::new(key, value))
            .collect(),
        author: author.unwrap_or_default(),
    };
    let change = Change::fixed(&spec.branch, edits)?;
    Ok(context
        .git
        .commit(&remote.with_timeout(PUSH_TIMEOUT), change)
        .await?)
}

#[cfg(test)]
mod tests {
    use pathline_clock::Clock;

    use super::*;

    fn of(generation: i64) -> Occasion {
        Occasion::new(Some(generation), &Clock::system())
    }

    /// Returns status and reason of a condition.
    fn condition<'a>(status: &'a GitCommitStatus, type_: &str) -> Option<(&'a str, &'a str)> {
        let found = status.conditions.iter().find(|it| it.type_ == type_)?;
        Some((&found.status, &found.reason))
    }

    #[test]
    fn only_what_nobody_tries_again_is_stalled() {
        let path = || git::Error::InvalidPath {
            path: "..".into(),
            reason: "it leads out",
        };
        let broken = || git::Error::Local {
            action: "push",
            detail: "no".into(),
        };
        let mut status = GitCommitStatus::default();
        let retried = record(&mut status, &of(1), Err(broken().into()));
        assert_eq!(retried, Action::requeue(RETRY));
        assert_eq!(condition(&status, READY), Some(("False", "PushFailed")));
        assert_eq!(condition(&status, "Stalled"), None);

        let refused = record(&mut status, &of(2), Err(path().into()));
        assert_eq!(refused, Action::await_change());
        assert_eq!(condition(&status, READY), Some(("False", "InvalidSpec")));
        assert_eq!(condition(&status, "Stalled"), Some(("True", "InvalidSpec")));

        assert!(set_progressing(&mut status.conditions, &of(3), "again"));
        assert_eq!(condition(&status, READY), Some(("Unknown", "Progressing")));
        assert_eq!(condition(&status, "Stalled"), None);
        assert!(!set_progressing(&mut status.conditions, &of(3), "again"));
    }
}
