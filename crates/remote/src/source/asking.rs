//! Requests of git's protocol over HTTP, and what can be wrong with the answers.

use std::io;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use reqwest::{Method, StatusCode, Url};

use super::cached::TOKEN_USER;
use super::error::refused;
use super::{SourceError, SourceErrorKind, SourceRequest};
use crate::Secret;
use crate::http::{Answer, Request};

/// The largest list of references, none of which is kept but one.
const MAX_LIST_BYTES: u64 = 64 << 20;
/// The tail of the URL of requests.
pub(super) const UPLOAD_PACK: &str = "/git-upload-pack";

/// A failure of a conversation after which another one may still work.
pub(super) enum Trouble {
    /// The host has refused, or does not answer: that is the answer.
    Final(SourceError),
    /// The host speaks otherwise than was thought.
    Protocol(SourceError),
}

impl Trouble {
    /// Tells whether another way may lead further.
    pub(super) fn of(error: SourceError) -> Self {
        match error.kind {
            SourceErrorKind::AuthFailed | SourceErrorKind::RateLimited => Self::Final(error),
            _ if error.status.is_some_and(|it| it >= 500) => Self::Final(error),
            _ => Self::Protocol(error),
        }
    }
}

/// Makes a request of git's protocol.
pub(super) fn ask(
    request: &SourceRequest,
    method: Method,
    base: &str,
    tail: &str,
) -> Result<Request, SourceError> {
    let url = Url::parse(&format!("{base}{tail}"));
    let url = url.map_err(|_| nothing("the URL of the repository cannot be parsed"))?;
    let is_post = method == Method::POST;
    let mut asked = Request::new(method, url)
        .header(HeaderName::from_static("git-protocol"), "version=2")
        .allow_http(request.allow_http)
        .cap(MAX_LIST_BYTES);
    if is_post {
        asked = asked
            .header(CONTENT_TYPE, "application/x-git-upload-pack-request")
            .header(ACCEPT, "application/x-git-upload-pack-result");
    }
    Ok(match secret_for(request, base) {
        Some(secret) => asked.basic(TOKEN_USER, secret),
        None => asked,
    })
}

/// Returns the token, if a URL is of the host that it is for and may see it.
pub(super) fn secret_for<'a>(request: &'a SourceRequest, base: &str) -> Option<&'a Secret> {
    let is_safe = base.starts_with("https://") || request.allow_http;
    let secret = request.secret.as_ref()?;
    (is_safe && origin(base) == origin(&request.url)).then_some(secret)
}

/// Returns the scheme, host and port of a URL.
pub(super) fn origin(url: &str) -> String {
    let parsed = Url::parse(url);
    parsed.map_or_else(|_| url.to_owned(), |it| it.origin().ascii_serialization())
}

/// Passes on an answer that is one of git's.
pub(super) fn checked(answer: Answer, kind: &str) -> Result<Answer, SourceError> {
    if answer.status != StatusCode::OK {
        return Err(refused(answer, SourceErrorKind::RefMissing));
    }
    if answer.media_type() != format!("application/x-git-upload-pack-{kind}") {
        let told = "does not speak git's smart protocol";
        return Err(answer.into_nonsense(told).into());
    }
    Ok(answer)
}

pub(super) fn nonsense(answer: Answer, error: &io::Error) -> SourceError {
    answer
        .into_nonsense(&format!("cannot be read: {error}"))
        .into()
}

pub(super) fn nothing(told: &str) -> SourceError {
    SourceError::new(SourceErrorKind::Failed, told)
}
