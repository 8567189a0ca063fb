//! The errors of remote repositories.

use super::RedactedUrl;
use crate::archive;

/// The error of an operation on a remote repository.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be used.
    #[error("`{url}` is not the URL of a git repository: {reason}")]
    InvalidUrl {
        /// The URL, without credentials.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The name of a branch, tag or commit is malformed.
    #[error("`{name}` cannot be the name of a {kind}")]
    InvalidReference {
        /// The kind of name.
        kind: &'static str,
        /// The name, as it was given.
        name: String,
    },
    /// The remote has no such reference.
    #[error("{url} has no {reference}")]
    UnknownReference {
        /// The remote.
        url: RedactedUrl,
        /// The reference, in words.
        reference: String,
    },
    /// A path that is not a plain path inside of the repository.
    #[error("`{path}` is not a path inside of the repository: {reason}")]
    InvalidPath {
        /// The path.
        path: String,
        /// The reason.
        reason: &'static str,
    },
    /// The message, a trailer or the author cannot be written in a commit.
    #[error("{what} cannot be written in a commit: {reason}")]
    InvalidMessage {
        /// The part of the commit.
        what: String,
        /// The reason.
        reason: &'static str,
    },
    /// The remote wants credentials, or other ones.
    #[error(
        "{url} does not accept the credentials ({detail}); name a Secret with `username` and `password`"
    )]
    Unauthenticated {
        /// The remote.
        url: RedactedUrl,
        /// The words of the remote.
        detail: String,
    },
    /// The remote did not answer in time.
    #[error("cannot {action} {url}: no answer within {seconds} s")]
    TimedOut {
        /// The operation.
        action: &'static str,
        /// The remote.
        url: RedactedUrl,
        /// The time-out in seconds.
        seconds: u64,
    },
    /// The remote could not be reached, or the conversation broke off.
    #[error("cannot {action} {url}: {detail}")]
    Unreachable {
        /// The operation.
        action: &'static str,
        /// The remote.
        url: RedactedUrl,
        /// The causes, outermost first.
        detail: String,
    },
    /// The remote has, or says, more than is taken from it.
    #[error("cannot {action} {url}: {detail}")]
    TooLarge {
        /// The operation.
        action: &'static str,
        /// The remote.
        url: RedactedUrl,
        /// A description of what is too large, with the limit.
        detail: String,
    },
    /// The remote declines the push for a reason of its own.
    #[error("{url} rejects the push to `{branch}`: {reason}")]
    Rejected {
        /// The remote.
        url: RedactedUrl,
        /// The branch.
        branch: String,
        /// The words of the remote.
        reason: String,
    },
    /// Other writers were faster every time.
    #[error("other writers of `{branch}` at {url} were faster {attempts} times in a row")]
    Contended {
        /// The remote.
        url: RedactedUrl,
        /// The branch.
        branch: String,
        /// The number of attempts.
        attempts: usize,
    },
    /// The cached repository, or something else on this machine, does not work.
    #[error("cannot {action}: {detail}")]
    Local {
        /// The operation.
        action: &'static str,
        /// The causes, outermost first.
        detail: String,
    },
    /// The content cannot be packed.
    #[error("cannot pack the content of the commit")]
    Archive(#[from] archive::Error),
}

/// Joins an error with its causes, leaving out what repeats.
pub(super) fn chain(error: &gix::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.iter_errors() {
        let text = format!("{cause:#}");
        if !parts.iter().any(|known| known.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}
