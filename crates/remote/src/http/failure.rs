//! Failures of requests, in words that have no secrets.

use super::Signs;

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The signs of the host.
    pub signs: Box<Signs>,
    /// The status and the URL, without query and credentials; the beginning of what the host says, scrubbed.
    pub message: String,
}

/// The kinds of failures that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The host answers, with a status that is not a good one.
    Status,
    /// The host does not want to be asked yet, so nothing was sent.
    Held,
    /// The host does not answer in time.
    TimedOut,
    /// The answer has more than is read.
    TooLarge,
    /// The URL, or one that the host redirects to, may not be asked.
    Forbidden,
    /// The host cannot be reached, the conversation breaks off, or the answer makes no sense.
    Broken,
}
