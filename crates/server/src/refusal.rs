//! Answers that say no: one shape for all, each with a word for programs and a hint for people.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pathline_ledger::Scope;

use crate::api::{Problem, ProblemDetail};

/// When to try again after something was not there.
const RETRY_SECONDS: &str = "2";

/// Why a request is not answered as it was meant; becomes a [`Problem`].
#[derive(Clone, Debug)]
pub struct Refusal(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    status: StatusCode,
    problem: ProblemDetail,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// Refuses a request that can't be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", message)
    }

    /// Says that there is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    /// Says that the thing is there already, or in the way.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// Says that what the request builds on is no longer kept.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "gone", message)
    }

    /// Says that the request can't be answered now, but probably soon.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
            .with_hint("try again in a moment; GET /readyz says what is missing")
            .with_header(header::RETRY_AFTER, RETRY_SECONDS)
    }

    /// Says that there are too many who ask at once.
    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many", message)
            .with_header(header::RETRY_AFTER, RETRY_SECONDS)
    }

    /// Asks for another token, or for one at all; `code` says what is wrong with this one.
    pub(crate) fn unauthorized(code: &str, message: impl Into<String>) -> Self {
        let hint = "send `Authorization: Bearer TOKEN`; `pathline token create` makes one, and the \
                    first is in the data directory of Pathline";
        Self::new(StatusCode::UNAUTHORIZED, code, message)
            .with_hint(hint)
            .with_header(header::WWW_AUTHENTICATE, "Bearer realm=\"pathline\"")
    }

    /// Says that the token may not do this.
    pub(crate) fn forbidden(name: &str, has: Scope, needed: Scope) -> Self {
        let message =
            format!("this needs the scope `{needed}`, and the token `{name}` has `{has}`");
        Self::new(StatusCode::FORBIDDEN, "scope-too-small", message).with_hint(format!(
            "make another token with `pathline token create NAME --scope {needed}`"
        ))
    }

    /// Says that the cluster does not show something to Pathline.
    pub(crate) fn withheld(what: &str) -> Self {
        let message = format!("the cluster does not let Pathline read {what}");
        Self::new(StatusCode::FORBIDDEN, "withheld", message).with_hint(
            "grant it `get` with a ClusterRole that has the label \
             `pathline.dev/aggregate-to-controller: \"true\"`",
        )
    }

    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            status,
            problem: ProblemDetail {
                code: code.to_owned(),
                message: message.into(),
                hint: None,
            },
            header: None,
        }))
    }

    fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.0.header = Some((name, HeaderValue::from_static(value)));
        self
    }

    /// Returns the status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        self.0.status
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

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.problem())).into_response();
        if let Some((name, value)) = self.0.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

impl From<pathline_ledger::Error> for Refusal {
    fn from(error: pathline_ledger::Error) -> Self {
        use pathline_ledger::Error;
        match error {
            Error::NameTaken(_) => {
                Self::conflict(error.to_string()).with_hint("choose another name")
            }
            Error::BadCursor(_) | Error::TooMuch { .. } => Self::bad_request(error.to_string()),
            Error::Forgotten { .. } => Self::gone(error.to_string())
                .with_hint("ask again for what you follow, then begin without Last-Event-ID"),
            other => {
                tracing::warn!("the ledger does not answer: {}", told(&other));
                Self::unavailable("the ledger does not answer")
            }
        }
    }
}

impl From<kube::Error> for Refusal {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.code == 404 => Self::not_found(status.message),
            kube::Error::Api(status) if status.code == 400 => Self::bad_request(status.message),
            kube::Error::Api(status) if status.code == 410 => {
                Self::gone(status.message).with_hint("begin again without `continue`")
            }
            other => {
                tracing::warn!("the cluster does not answer: {}", told(&other));
                Self::unavailable("the cluster does not answer")
            }
        }
    }
}

/// Returns an error with all its causes.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let causes = causes.map(|cause| format!(": {cause}"));
    std::iter::once(error.to_string()).chain(causes).collect()
}
