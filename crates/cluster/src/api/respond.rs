//! Answers: JSON or YAML bodies, `Status` failures and `Warning` headers.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::Value;

use super::accept::Encoding;
use crate::status::Status;

/// The body of an answer; reading it never fails.
pub type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// The most `Warning` headers, and their longest text: clients limit the size of all headers.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING_BYTES: usize = 256;

/// Answers with a body that is there already.
pub(crate) fn bytes(
    code: StatusCode,
    media_type: &'static str,
    body: Bytes,
) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(body).boxed_unsync());
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Answers with a value, encoded as the client asked for.
pub(crate) fn value(code: StatusCode, encoding: Encoding, value: &Value) -> Response<ResponseBody> {
    match encoding {
        Encoding::Json => json(code, value),
        Encoding::Yaml => match serde_saphyr::to_string(value) {
            Ok(text) => bytes(code, "application/yaml", text.into()),
            Err(error) => failure(&Status::internal(format!("encoding YAML: {error}"))),
        },
    }
}

/// Answers with JSON.
pub(crate) fn json(code: StatusCode, value: &impl serde::Serialize) -> Response<ResponseBody> {
    let body = serde_json::to_vec(value).expect("JSON values have only string keys");
    bytes(code, "application/json", body.into())
}

/// Answers with a failure.
pub(crate) fn failure(status: &Status) -> Response<ResponseBody> {
    let mut response = json(status.code(), &status.to_json());
    if let Some(seconds) = status.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Adds warnings to an answer.
pub(crate) fn warn(response: &mut Response<ResponseBody>, warnings: &[String]) {
    for text in warnings.iter().take(MAX_WARNINGS) {
        if let Ok(value) = HeaderValue::from_str(&warning(text)) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

/// Quotes a text as the `Warning` header wants it.
fn warning(text: &str) -> String {
    let visible = text
        .chars()
        .filter(|it| it.is_ascii() && !it.is_ascii_control());
    let mut quoted = String::from("299 - \"");
    for character in visible.take(MAX_WARNING_BYTES) {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_quoted_and_bounded() {
        assert_eq!(
            warning("unknown field \"foo\""),
            "299 - \"unknown field \\\"foo\\\"\""
        );
        assert!(warning(&"x".repeat(10_000)).len() < 300);
        let mut response = json(StatusCode::OK, &Value::Null);
        warn(&mut response, &vec!["a\nb".to_owned(); 50]);
        assert_eq!(
            response.headers().get_all(WARNING).iter().count(),
            MAX_WARNINGS
        );
    }
}
