//! Errors as responses: the status and the headers of each kind.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, ErrorKind};

/// The `Retry-After` of what is not there yet, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("2");

impl ErrorKind {
    /// Returns the status of a response with such an error.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Gone => StatusCode::GONE,
            Self::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the header that tells the client how to go on.
    fn header(self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Unauthorized => {
                let bearer = HeaderValue::from_static("Bearer realm=\"pathline\"");
                Some((header::WWW_AUTHENTICATE, bearer))
            }
            Self::TooManyRequests | Self::Unavailable => Some((header::RETRY_AFTER, RETRY_AFTER)),
            _ => None,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let kind = self.kind();
        let mut response = (kind.status(), Json(self.problem())).into_response();
        if let Some((name, value)) = kind.header() {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
