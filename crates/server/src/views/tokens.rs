//! Tokens: listed, made and revoked.

use jiff::{SignedDuration, Timestamp};
use pathline_client::api::{CreatedToken, NewToken, Token, TokenList};

use crate::AppState;
use crate::auth::Secret;
use crate::error::ApiError;
use crate::views::{convert, names};

/// Ten years.
const MAX_EXPIRY_SECONDS: u32 = 315_360_000;

/// Lists all tokens that were ever made, without their secrets.
pub(crate) async fn list(state: &AppState) -> Result<TokenList, ApiError> {
    let tokens = state.ledger()?.access().tokens().await?;
    let items = tokens.into_iter().map(convert::token).collect();
    Ok(TokenList { items })
}

/// Makes a token; its secret is in the answer and nowhere else.
pub(crate) async fn create(state: &AppState, wanted: &NewToken) -> Result<CreatedToken, ApiError> {
    names::check_label("name", &wanted.name)?;
    let now = state.clock().now();
    let expires = wanted
        .expires_in_seconds
        .map(|it| end(now, it))
        .transpose()?;
    let secret = Secret::random().map_err(|error| {
        tracing::error!("the system gives no randomness: {error}");
        ApiError::unavailable("no secret can be made")
    })?;
    let made = state
        .ledger()?
        .access()
        .create_token(
            &wanted.name,
            convert::scope(wanted.scope),
            &secret.hash(),
            expires,
            now,
        )
        .await?;
    tracing::info!(
        "made the token `{}` with scope {}",
        made.name,
        made.permissions
    );
    Ok(CreatedToken {
        token: convert::token(made),
        secret: secret.reveal().to_owned(),
    })
}

/// Revokes a token, which ends at once.
pub(crate) async fn revoke(state: &AppState, name: &str) -> Result<Token, ApiError> {
    names::check_label("name", name)?;
    let revoked = state
        .ledger()?
        .access()
        .revoke_token(name, state.clock().now())
        .await?;
    let revoked = revoked.ok_or_else(|| {
        ApiError::not_found(format!("there is no token `{name}`"))
            .with_hint("`pathline token list` or GET /tokens lists them")
    })?;
    tracing::info!("revoked the token `{name}`");
    Ok(convert::token(revoked))
}

fn end(now: Timestamp, seconds: u32) -> Result<Timestamp, ApiError> {
    if !(1..=MAX_EXPIRY_SECONDS).contains(&seconds) {
        return Err(ApiError::bad_request(format!(
            "expiresInSeconds: a number from 1 to {MAX_EXPIRY_SECONDS} is expected"
        )));
    }
    Ok(now + SignedDuration::from_secs(seconds.into()))
}
