//! Handlers of tokens.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use pathline_client::api::{CreatedToken, NewToken, Token, TokenList};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::error::ApiError;
use crate::rest::extract::{Body, Path};
use crate::rest::openapi::example;
use crate::rest::openapi::responses::{BadRequest, Conflict, Forbidden, InvalidBody, NotFound};
use crate::views::tokens;

/// Names a token in a path.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TokenName {
    /// Its name.
    #[param(
        example = "ci",
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length = 63
    )]
    name: String,
}

/// List tokens
///
/// All that were ever made, without their secrets.
#[utoipa::path(
    get, path = "/tokens", operation_id = "list_tokens", tag = "tokens", security(("token" = ["admin"])),
    responses(
        (status = 200, description = "All tokens, by name", body = TokenList, example = json!(example::token_list())),
        Forbidden
    )
)]
pub(crate) async fn list(State(state): State<AppState>) -> Result<Json<TokenList>, ApiError> {
    tokens::list(&state).await.map(Json)
}

/// Make a token
///
/// The answer holds the secret, which is shown this once and kept nowhere.
#[utoipa::path(
    post, path = "/tokens", operation_id = "create_token", tag = "tokens", security(("token" = ["admin"])),
    request_body(content = NewToken, example = json!(example::new_token())),
    responses(
        (status = 201, description = "The token and its secret", body = CreatedToken, example = json!(example::created_token())),
        Forbidden, BadRequest, InvalidBody, Conflict
    )
)]
pub(crate) async fn create(
    State(state): State<AppState>,
    Body(wanted): Body<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let created = tokens::create(&state, &wanted).await?;
    Ok((StatusCode::CREATED, Json(created)))
}

/// Revoke a token
///
/// It ends at once, also where it is in use. One that is revoked already stays so.
#[utoipa::path(
    delete, path = "/tokens/{name}", operation_id = "revoke_token", tag = "tokens", params(TokenName), security(("token" = ["admin"])),
    responses(
        (status = 200, description = "The token, revoked", body = Token, example = json!(example::revoked_token())),
        Forbidden, BadRequest, NotFound
    )
)]
pub(crate) async fn revoke(
    State(state): State<AppState>,
    Path(TokenName { name }): Path<TokenName>,
) -> Result<Json<Token>, ApiError> {
    tokens::revoke(&state, &name).await.map(Json)
}
