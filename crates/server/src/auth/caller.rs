//! Callers: who asks, and whether they may.

use jiff::Timestamp;
use pathline_ledger::{Ledger, Permission, Token, TokenHash};

use super::Secret;
use crate::AppState;
use crate::error::ApiError;

/// A caller who has shown a valid token.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) hash: TokenHash,
    pub(crate) token: Token,
}

impl Caller {
    /// Finds out whose secret it is.
    ///
    /// # Errors
    /// If nobody knows it, or its token has ended, or the ledger does not answer.
    pub(crate) async fn authenticate(state: &AppState, secret: &Secret) -> Result<Self, ApiError> {
        let hash = secret.hash();
        let token = valid_token(state.ledger()?, &hash, state.clock().now()).await?;
        Ok(Self { hash, token })
    }

    /// Notes that the token is used, if it may do what is needed.
    ///
    /// # Errors
    /// If it may not.
    pub(crate) fn authorize(&self, state: &AppState, needed: Permission) -> Result<(), ApiError> {
        let token = &self.token;
        if !token.permissions.contains(needed) {
            return Err(ApiError::forbidden(&token.name, token.permissions, needed));
        }
        let now = state.clock().now();
        state.usage().note(state.ledger()?, token, now);
        Ok(())
    }

    /// Fails if the token has ended since the caller was let in.
    pub(super) async fn ensure_valid(
        &self,
        ledger: &Ledger,
        now: Timestamp,
    ) -> Result<(), ApiError> {
        valid_token(ledger, &self.hash, now).await.map(drop)
    }
}

/// Returns the token of a hash, if it is valid now.
async fn valid_token(ledger: &Ledger, hash: &TokenHash, now: Timestamp) -> Result<Token, ApiError> {
    let token = ledger.access().token_by_hash(hash).await?;
    let token = token.ok_or_else(|| {
        let message = "nobody knows this token; was it made for another Pathline?";
        ApiError::unauthorized("token-unknown", message)
    })?;
    if let Some(revoked) = token.revoked {
        let message = format!("the token `{}` was revoked at {revoked}", token.name);
        return Err(ApiError::unauthorized("token-revoked", message));
    }
    match token.expires {
        Some(expires) if expires <= now => {
            let message = format!("the token `{}` ended at {expires}", token.name);
            Err(ApiError::unauthorized("token-expired", message))
        }
        _ => Ok(token),
    }
}
