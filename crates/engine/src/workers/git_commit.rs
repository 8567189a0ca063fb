//! `GitCommit`: writes files to a git repository and pushes.

#![expect(
    clippy::duplicated_attributes,
    reason = "clippy takes the types of several columns for one attribute"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::controller::Action;
use kube::{CustomResource, ResourceExt};
use pathline_remote::git::{self, Change, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{self, Context};
use super::credentials::{self, SecretReference};
use super::status::{
    READY, Reporter, Verdict, explain, set_condition, set_progressing, set_stalled,
};

/// How long fetching, committing and pushing may take, with all its repetitions.
const PATIENCE: Duration = Duration::from_secs(120);
/// The reason of a commit that a copy of a data directory does not push.
const SUSPENDED: &str = "Suspended";
/// When a failed commit is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// What to write. A change of anything here is written as a further commit.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "pathline.dev",
    version = "v1alpha1",
    kind = "GitCommit",
    namespaced,
    status = "GitCommitStatus",
    category = "all",
    doc = "Files to write to a branch of a git repository.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(name = "Revision", type_ = "string", json_path = ".status.revision"),
    printcolumn(name = "URL", type_ = "string", json_path = ".spec.url", priority = 1),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct GitCommitSpec {
    /// The repository: `https://`, `ssh://`, `file://` or an absolute path.
    pub url: String,
    /// The branch; it is created when it does not exist.
    #[serde(default = "default_branch")]
    pub branch: String,
    /// The files: paths in the repository and their content. Others stay as they are.
    #[schemars(extend("minProperties" = 1))]
    pub files: BTreeMap<String, String>,
    /// The commit message.
    pub message: String,
    /// The author; the committer is Pathline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Trailers at the end of the message, as git writes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trailers: BTreeMap<String, String>,
    /// A Secret with `username` and `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
}

fn default_branch() -> String {
    "main".into()
}

/// Who a commit is by.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// What was written.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitCommitStatus {
    /// The generation the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`: True once the branch has the files, Unknown while they are written; `Stalled` when only a change of the object can help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The commit that has the files, of the last success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The same with its branch: `main@sha1:<commit>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Why the files could not be written.
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
    let generation = object.metadata.generation;
    let mut status = object.status.clone().unwrap_or_default();
    if let Some(original) = context.options.copy_of() {
        suspend(&mut status, generation, original);
        reporter.write(&status).await?;
        return Ok(Action::await_change());
    }
    status.conditions.retain(|it| it.reason != SUSPENDED);
    if set_progressing(
        &mut status.conditions,
        generation,
        "the files are being written",
    ) {
        reporter.write(&status).await?;
    }
    let written = write(&object, &context).await;
    let action = record(&mut status, generation, written);
    reporter.write(&status).await?;
    Ok(action)
}

/// Says that a copy pushes nothing.
fn suspend(status: &mut GitCommitStatus, generation: Option<i64>, original: &str) {
    let message = format!(
        "nothing is pushed: the data directory is a copy of {original}; start it with `pathline up --adopt` to push from here, too"
    );
    let verdict = Verdict::unknown(SUSPENDED, message);
    set_condition(&mut status.conditions, READY, generation, verdict);
    set_stalled(&mut status.conditions, generation, None);
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
    generation: Option<i64>,
    written: Result<Written, Failure>,
) -> Action {
    let (verdict, is_retried) = match written {
        Ok(written) => {
            status.revision = Some(written.revision.to_string());
            status.commit = Some(written.revision.commit);
            let done = if written.changed {
                "the commit was pushed"
            } else {
                "the branch has the files"
            };
            (Verdict::yes("Succeeded", done), None)
        }
        Err(failure) => {
            let (reason, may_help) = failure.reason();
            (Verdict::no(reason, explain(&failure)), Some(may_help))
        }
    };
    let stalled = (is_retried == Some(false)).then_some(&verdict);
    set_stalled(&mut status.conditions, generation, stalled);
    set_condition(&mut status.conditions, READY, generation, verdict);
    status.observed_generation = generation;
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
    let change = Change {
        branch: spec.branch.clone(),
        files: spec.files.clone(),
        message: spec.message.clone(),
        trailers: spec.trailers.clone(),
        author: author.unwrap_or_default(),
    };
    Ok(context
        .git
        .commit(&remote.with_timeout(PATIENCE), change)
        .await?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let retried = record(&mut status, Some(1), Err(broken().into()));
        assert_eq!(retried, Action::requeue(RETRY));
        assert_eq!(condition(&status, READY), Some(("False", "PushFailed")));
        assert_eq!(condition(&status, "Stalled"), None);

        let refused = record(&mut status, Some(2), Err(path().into()));
        assert_eq!(refused, Action::await_change());
        assert_eq!(condition(&status, READY), Some(("False", "InvalidSpec")));
        assert_eq!(condition(&status, "Stalled"), Some(("True", "InvalidSpec")));

        assert!(set_progressing(&mut status.conditions, Some(3), "again"));
        assert_eq!(condition(&status, READY), Some(("Unknown", "Progressing")));
        assert_eq!(condition(&status, "Stalled"), None);
        assert!(!set_progressing(&mut status.conditions, Some(3), "again"));
    }
}
