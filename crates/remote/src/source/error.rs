//! Reasons for which a file cannot be read.

use reqwest::StatusCode;

use crate::http::{Answer, Failure, FailureKind, Signs};

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// The reason, as far as somebody acts on it.
    pub kind: SourceErrorKind,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The signs of the host.
    pub signs: Box<Signs>,
    /// The reason in words, without secrets.
    pub message: String,
}

/// The reasons that callers tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// There is no such branch, tag or commit, or no such repository, or it is not shown to us.
    RefMissing,
    /// The commit has no such file.
    FileMissing {
        /// The commit.
        commit: String,
    },
    /// The file is larger than [`super::MAX_FILE_BYTES`].
    TooLarge {
        /// The commit.
        commit: String,
    },
    /// The host does not accept the token, or wants one.
    AuthFailed,
    /// The host was asked too often.
    RateLimited,
    /// Anything else; the same may work later.
    Failed,
}

impl SourceError {
    pub(super) fn new(kind: SourceErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            signs: Box::default(),
            message: message.into(),
        }
    }

    pub(super) fn of(kind: SourceErrorKind, failure: Failure) -> Self {
        Self {
            kind,
            status: failure.status,
            signs: failure.signs,
            message: failure.message,
        }
    }

    /// Tells whether the host was not asked, since it does not want to be.
    pub fn is_held(&self) -> bool {
        self.kind == SourceErrorKind::RateLimited && self.status.is_none()
    }

    /// Adds the signs of an answer.
    pub(super) fn at(mut self, signs: Signs) -> Self {
        self.signs = Box::new(signs.then(*self.signs));
        self
    }
}

impl From<Failure> for SourceError {
    fn from(failure: Failure) -> Self {
        let kind = match failure.kind {
            FailureKind::Held => SourceErrorKind::RateLimited,
            _ => SourceErrorKind::Failed,
        };
        Self::of(kind, failure)
    }
}

/// Makes an error of a status; a 404 means that `missing` is not there.
pub(super) fn refused(answer: Answer, missing: SourceErrorKind) -> SourceError {
    let is_limited = answer.signs.is_limited() || says_limited(&answer);
    let kind = match answer.status {
        StatusCode::TOO_MANY_REQUESTS => SourceErrorKind::RateLimited,
        StatusCode::FORBIDDEN if is_limited => SourceErrorKind::RateLimited,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => SourceErrorKind::AuthFailed,
        StatusCode::NOT_FOUND | StatusCode::GONE => missing,
        _ => SourceErrorKind::Failed,
    };
    SourceError::of(kind, answer.into_failure())
}

/// Tells whether a host says in words alone that there were too many requests.
pub(super) fn says_limited(answer: &Answer) -> bool {
    let said = String::from_utf8_lossy(&answer.body).to_ascii_lowercase();
    matches!(answer.status.as_u16(), 403 | 429)
        && (said.contains("rate limit") || said.contains("abuse detection"))
}
