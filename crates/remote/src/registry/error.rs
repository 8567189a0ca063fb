//! Reasons for which a registry gives no answer.

use reqwest::StatusCode;

use crate::http::{Answer, Failure, FailureKind, Signs};

/// A question that a registry did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RegistryError {
    /// The reason, as far as somebody acts on it.
    pub kind: RegistryErrorKind,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The signs of the registry.
    pub signs: Box<Signs>,
    /// The reason in words, without secrets.
    pub message: String,
}

/// The reasons that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryErrorKind {
    /// There is no such repository or image.
    NotFound,
    /// The registry does not accept the credentials, or wants some.
    AuthFailed,
    /// The registry was asked too often.
    RateLimited,
    /// Anything else; the same may work later.
    Failed,
}

impl RegistryError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            kind: RegistryErrorKind::Failed,
            status: None,
            signs: Box::default(),
            message: message.into(),
        }
    }

    pub(super) fn of(kind: RegistryErrorKind, failure: Failure) -> Self {
        Self {
            kind,
            status: failure.status,
            signs: failure.signs,
            message: failure.message,
        }
    }
}

impl RegistryError {
    /// Tells whether the registry was not asked, since it does not want to be.
    pub fn is_held(&self) -> bool {
        self.kind == RegistryErrorKind::RateLimited && self.status.is_none()
    }
}

impl From<Failure> for RegistryError {
    fn from(failure: Failure) -> Self {
        let kind = match failure.kind {
            FailureKind::Held => RegistryErrorKind::RateLimited,
            _ => RegistryErrorKind::Failed,
        };
        Self::of(kind, failure)
    }
}

/// Makes an error of a status.
pub(super) fn refused(answer: Answer) -> RegistryError {
    let said = String::from_utf8_lossy(&answer.body).to_ascii_uppercase();
    let is_limited = answer.signs.is_limited() || said.contains("TOOMANYREQUESTS");
    let kind = match answer.status {
        StatusCode::TOO_MANY_REQUESTS => RegistryErrorKind::RateLimited,
        StatusCode::FORBIDDEN if is_limited => RegistryErrorKind::RateLimited,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => RegistryErrorKind::AuthFailed,
        StatusCode::NOT_FOUND => RegistryErrorKind::NotFound,
        _ => RegistryErrorKind::Failed,
    };
    RegistryError::of(kind, answer.into_failure())
}
