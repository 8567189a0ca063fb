//! Making, listing and revoking tokens.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Doors;
use crate::api::{CreatedToken, NewToken, Token, TokenList, example};
use crate::auth::Secret;
use crate::extract::{Body, Path};
use crate::names;
use crate::openapi::refusals::{ForAdmins, MayMiss, Picky, Reading, Taken};
use crate::refusal::Refusal;

/// Ten years.
const LONGEST_SECONDS: u32 = 315_360_000;

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
        ForAdmins
    )
)]
pub(crate) async fn list(State(doors): State<Doors>) -> Result<Json<TokenList>, Refusal> {
    let tokens = doors.ledger()?.tokens().await?;
    let items = tokens.into_iter().map(Token::from).collect();
    Ok(Json(TokenList { items }))
}

/// Make a token
///
/// The answer holds the secret, which is shown this once and kept nowhere.
#[utoipa::path(
    post, path = "/tokens", operation_id = "create_token", tag = "tokens", security(("token" = ["admin"])),
    request_body(content = NewToken, example = json!(example::new_token())),
    responses(
        (status = 201, description = "The token and its secret", body = CreatedToken, example = json!(example::created_token())),
        ForAdmins, Picky, Reading, Taken
    )
)]
pub(crate) async fn create(
    State(doors): State<Doors>,
    Body(wanted): Body<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), Refusal> {
    names::check_label("name", &wanted.name)?;
    let now = Timestamp::now();
    let expires = wanted
        .expires_in_seconds
        .map(|it| end(now, it))
        .transpose()?;
    let secret = Secret::random().map_err(|error| {
        tracing::error!("the system gives no randomness: {error}");
        Refusal::unavailable("no secret can be made")
    })?;
    let made = doors
        .ledger()?
        .create_token(&wanted.name, wanted.scope, &secret.hash(), expires, now)
        .await?;
    tracing::info!("made the token `{}` with scope {}", made.name, made.scope);
    let answer = CreatedToken {
        token: Token::from(made),
        secret: secret.reveal().to_owned(),
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Revoke a token
///
/// It ends at once, also where it is in use. One that is revoked already stays so.
#[utoipa::path(
    delete, path = "/tokens/{name}", operation_id = "revoke_token", tag = "tokens", params(TokenName), security(("token" = ["admin"])),
    responses(
        (status = 200, description = "The token, revoked", body = Token, example = json!(example::revoked_token())),
        ForAdmins, Picky, MayMiss
    )
)]
pub(crate) async fn revoke(
    State(doors): State<Doors>,
    Path(TokenName { name }): Path<TokenName>,
) -> Result<Json<Token>, Refusal> {
    names::check_label("name", &name)?;
    let revoked = doors
        .ledger()?
        .revoke_token(&name, Timestamp::now())
        .await?;
    let revoked = revoked.ok_or_else(|| {
        Refusal::not_found(format!("there is no token `{name}`"))
            .with_hint("GET /tokens lists them")
    })?;
    tracing::info!("revoked the token `{name}`");
    Ok(Json(Token::from(revoked)))
}

fn end(now: Timestamp, seconds: u32) -> Result<Timestamp, Refusal> {
    if !(1..=LONGEST_SECONDS).contains(&seconds) {
        return Err(Refusal::bad_request(format!(
            "expiresInSeconds: a number from 1 to {LONGEST_SECONDS} is expected"
        )));
    }
    Ok(now + SignedDuration::from_secs(seconds.into()))
}
