//! Every request has a name, by which it is found in the log.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX_ID_BYTES: usize = 64;

/// Gives the answer the id that the request came with, or a new one, and logs both.
pub(crate) async fn name(request: Request, next: Next) -> Response {
    let given = request.headers().get(REQUEST_ID);
    let id = given
        .filter(|id| is_plain(id.as_bytes()))
        .cloned()
        .unwrap_or_else(new_id);
    // The query is left out, for clients put things there that they should not.
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = next.run(request).await;
    let status = response.status();
    let shown = id.to_str().unwrap_or_default();
    if status.is_server_error() {
        tracing::warn!("{method} {path} -> {status} (request {shown})");
    } else {
        tracing::debug!("{method} {path} -> {status} (request {shown})");
    }
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

fn is_plain(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    !id.is_empty() && id.len() <= MAX_ID_BYTES && id.iter().all(plain)
}

fn new_id() -> HeaderValue {
    let number = getrandom::u64().unwrap_or_default();
    HeaderValue::from_str(&format!("{number:016x}")).expect("hexadecimal digits are a header")
}
