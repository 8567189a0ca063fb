//! Errors of questions to Pathline: one shape for all, each with a code for programs and a hint for
//! people. HTTP comes in with [`crate::rest`].

use pathline_client::api::{FieldProblem, Problem, ProblemDetail};
use pathline_engine::{ConfirmError, explain};
use pathline_ledger::{Permission, Permissions};

/// The advice where a part is up and does not answer: `/readyz` does not know of it.
const LOGGED: &str = "try again in a moment; the log of Pathline says why it does not answer";

/// The advice where secrets cannot be kept.
const SEAL_KEY: &str = "start Pathline with --seal-key FILE, or PATHLINE_SEAL_KEY; `pathline seal new` \
                        makes one where nothing is sealed yet";

/// An error of the REST API; becomes a response with a [`Problem`].
#[derive(Clone, Debug)]
pub struct ApiError(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    kind: ErrorKind,
    problem: ProblemDetail,
}

/// The kind of an [`ApiError`]; each is a status of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The question can't be understood.
    BadRequest,
    /// There is no valid token.
    Unauthorized,
    /// The token, or Pathline itself, has not the rights.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// The thing is there, and can't be asked this.
    MethodNotAllowed,
    /// The thing is there already, or in the way.
    Conflict,
    /// The question builds on something that is no longer kept.
    Gone,
    /// The thing has changed since it was read.
    PreconditionFailed,
    /// The body is too large.
    PayloadTooLarge,
    /// The body is not of a type that is read here.
    UnsupportedMediaType,
    /// The body can be read, and its fields are wrong.
    Unprocessable,
    /// There are too many who ask at once.
    TooManyRequests,
    /// It can't be answered now, but probably soon.
    Unavailable,
}

impl ApiError {
    /// Returns the error of a request that can't be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, "bad-request", message)
    }

    /// Returns the error that there is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, "not-found", message)
    }

    /// Returns the error that the thing is there already, or in the way.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, "conflict", message)
    }

    /// Returns the error that what the request builds on is no longer kept.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Gone, "gone", message)
    }

    /// Returns the error of a request that can't be answered now, but probably soon.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, "unavailable", message)
            .with_hint("try again in a moment; GET /readyz says what is missing")
    }

    /// Returns the error that there are too many who ask at once.
    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooManyRequests, "too-many", message)
    }

    /// Asks for another token, or for one at all; `code` says what is wrong with this one.
    pub(crate) fn unauthorized(code: &str, message: impl Into<String>) -> Self {
        let hint = "send `Authorization: Bearer TOKEN`; `pathline token create` makes one, and the \
                    first is in the data directory of Pathline";
        Self::new(ErrorKind::Unauthorized, code, message).with_hint(hint)
    }

    /// Returns the error that the token may not do this.
    pub(crate) fn forbidden(name: &str, has: Permissions, needed: Permission) -> Self {
        let message =
            format!("this needs the scope `{needed}`, and the token `{name}` has `{has}`");
        Self::new(ErrorKind::Forbidden, "scope-too-small", message).with_hint(format!(
            "make another token with `pathline token create NAME --scope {needed}`"
        ))
    }

    /// Returns the error that the cluster does not show something to Pathline.
    pub(crate) fn cluster_forbidden(what: &str) -> Self {
        let message = format!("the cluster does not let Pathline read {what}");
        Self::new(ErrorKind::Forbidden, "withheld", message).with_hint(
            "grant it `get` with a ClusterRole that has the label \
             `pathline.dev/aggregate-to-controller: \"true\"`",
        )
    }

    pub(crate) fn new(kind: ErrorKind, code: &str, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            problem: ProblemDetail {
                code: code.to_owned(),
                message: message.into(),
                hint: None,
                details: Vec::new(),
            },
        }))
    }

    /// Returns the error of a body whose fields are wrong; all of them are told.
    pub(crate) fn invalid(problems: Vec<pathline_release::request::Problem>) -> Self {
        let fields: Vec<_> = problems.iter().map(|it| it.field.as_str()).collect();
        let message = format!("these fields are missing or wrong: {}", fields.join(", "));
        let mut error = Self::new(ErrorKind::Unprocessable, "invalid", message);
        error.0.problem.details = problems
            .into_iter()
            .map(|problem| FieldProblem {
                field: problem.field,
                code: problem.code.to_owned(),
                message: problem.message,
            })
            .collect();
        error
    }

    /// Returns the error that a message does not show the secret of its sender.
    pub(crate) fn ingest_unauthorized() -> Self {
        let message = "the message does not show the secret of its sender";
        Self::new(ErrorKind::Unauthorized, "signature-wrong", message)
            .with_hint("`secretFile` and `auth` of the configuration file say what is expected")
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the body of the answer.
    pub(crate) fn problem(&self) -> Problem {
        Problem {
            error: self.0.problem.clone(),
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.problem.hint = Some(hint.into());
        self
    }
}

impl From<pathline_ledger::Error> for ApiError {
    fn from(error: pathline_ledger::Error) -> Self {
        use pathline_ledger::Error;
        match error {
            Error::NameTaken(_) => {
                Self::conflict(error.to_string()).with_hint("choose another name")
            }
            Error::BadCursor(_) | Error::TooMuch { .. } | Error::AmbiguousId(_) => {
                Self::bad_request(error.to_string())
            }
            Error::NoSealKey { .. } => {
                Self::unavailable("there is no key to seal secrets with").with_hint(SEAL_KEY)
            }
            Error::Forgotten { .. } | Error::Ahead { .. } => Self::gone(error.to_string())
                .with_hint("ask again for what you follow, then begin without Last-Event-ID"),
            other => {
                tracing::warn!("the ledger does not answer: {}", explain(&other));
                Self::unavailable("the ledger does not answer").with_hint(LOGGED)
            }
        }
    }
}

impl From<ConfirmError> for ApiError {
    fn from(error: ConfirmError) -> Self {
        match error {
            ConfirmError::Cluster(error) => error.into(),
            ConfirmError::TimedOut => Self::unavailable("the cluster does not answer"),
            ConfirmError::Ledger(error) => error.into(),
        }
    }
}

impl From<kube::Error> for ApiError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.code == 404 => Self::not_found(status.message),
            kube::Error::Api(status) if status.code == 400 => Self::bad_request(status.message),
            kube::Error::Api(status) if status.code == 410 => {
                Self::gone(status.message).with_hint("begin again without `continue`")
            }
            other => {
                tracing::warn!("the cluster does not answer: {}", explain(&other));
                Self::unavailable("the cluster does not answer").with_hint(LOGGED)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_that_is_up_and_does_not_answer_is_explained_by_the_log() {
        let error = kube::Error::TlsRequired;
        let hint = ApiError::from(error).problem().error.hint.unwrap();
        assert!(hint.contains("the log of Pathline"), "{hint}");
        assert!(!hint.contains("/readyz"), "{hint}");
    }
}
