//! The handler of messages from forges and registries.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use pathline_release::ingest::MAX_MESSAGE;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::error::ApiError;
use crate::rest::extract::{Path, Query, read_bytes};
use crate::rest::openapi::responses::{BadRequest, IngestUnauthorized, NotFound, TooLarge};
use crate::views::ingest::{self, Message};

/// Names a sender in a path.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SenderName {
    /// The name that the configuration file gives the sender.
    #[param(example = "github", max_length = 63)]
    name: String,
}

/// The secret of a sender that cannot sign.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Key {
    /// The secret, where the configuration says `auth: key`.
    key: Option<String>,
}

/// Take a message of a forge or a registry
///
/// A message is a hint: whoever follows the repository or the image that it names is looked at within ten seconds. What
/// it says is not believed. It is signed (`X-Hub-Signature-256`,
/// `X-Gitea-Signature`), or carries the secret as a bearer token, in `X-Gitlab-Token` or as `key`, as the configuration
/// file says. The answer is the same whether anybody is concerned or not.
#[utoipa::path(
    post, path = "/ingest/{name}", operation_id = "ingest", tag = "trackers", params(SenderName, Key),
    request_body(content = serde_json::Value, description = "The message, as its sender words it",
        example = json!({"repo": "https://github.com/shop/web", "ref": "refs/heads/main", "image": "registry.example/shop/web"})),
    responses(
        (status = 202, description = "The message was taken"),
        IngestUnauthorized, BadRequest, TooLarge, NotFound
    )
)]
pub(crate) async fn take(
    State(state): State<AppState>,
    Path(SenderName { name }): Path<SenderName>,
    Query(Key { key }): Query<Key>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let bytes = read_bytes(&headers, body, MAX_MESSAGE).await?;
    let message = Message {
        bytes: &bytes,
        headers: &headers,
        key: key.as_deref(),
    };
    ingest::take(&state, &name, &message).await?;
    Ok(StatusCode::ACCEPTED)
}
