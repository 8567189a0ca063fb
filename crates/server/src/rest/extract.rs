//! Extractors of paths, queries and bodies, whose rejections are [`ApiError`]s.

use axum::body::Bytes;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_LENGTH;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::error::{ApiError, ErrorKind};
use crate::rest::bounds::MAX_BODY_BYTES;

/// The query of a request. Parameters that nobody reads are mistakes.
pub(crate) struct Query<T>(pub(crate) T);

/// The parts of the path that stand for something.
pub(crate) struct Path<T>(pub(crate) T);

/// The body of a request, as JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = axum::extract::Query::from_request_parts(parts, state).await;
        read.map(|query| Self(query.0))
            .map_err(|rejection: QueryRejection| ApiError::bad_request(rejection.body_text()))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        read.map(|path| Self(path.0))
            .map_err(|rejection: PathRejection| ApiError::bad_request(rejection.body_text()))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if announced(request.headers()).is_some_and(|length| length > MAX_BODY_BYTES) {
            return Err(too_large());
        }
        let read = axum::Json::from_request(request, state).await;
        read.map(|body| Self(body.0))
            .map_err(|rejection| refuse_body(&rejection))
    }
}

/// Reads a body of at most so many bytes; one that says to be longer is not read at all.
pub(crate) async fn read_bytes(
    headers: &HeaderMap,
    body: axum::body::Body,
    limit: usize,
) -> Result<Bytes, ApiError> {
    let too_large = || {
        let message = format!("the body of this request has at most {limit} bytes");
        ApiError::new(ErrorKind::PayloadTooLarge, "too-large", message)
    };
    if announced(headers).is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let read = Limited::new(body, limit).collect().await;
    read.map(|collected| collected.to_bytes()).map_err(|error| {
        if error.is::<LengthLimitError>() {
            return too_large();
        }
        ApiError::bad_request("the body did not come whole")
    })
}

/// Returns how long the body says to be.
fn announced(headers: &HeaderMap) -> Option<usize> {
    let length = headers.get(CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

fn too_large() -> ApiError {
    let message = format!("the body of a request has at most {MAX_BODY_BYTES} bytes");
    ApiError::new(ErrorKind::PayloadTooLarge, "too-large", message)
}

fn refuse_body(rejection: &JsonRejection) -> ApiError {
    let message = rejection.body_text();
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            ApiError::new(ErrorKind::UnsupportedMediaType, "not-json", message)
                .with_hint("send `Content-Type: application/json`")
        }
        // What has the wrong shape and what is no JSON at all are both the sender's mistake.
        _ => ApiError::bad_request(message),
    }
}
