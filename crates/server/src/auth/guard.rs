//! Letting in who may come in.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use jiff::Timestamp;
use pathline_cluster::serve::Visitor;
use pathline_ledger::{Ledger, Scope, Token, TokenHash};

use super::Secret;
use crate::Doors;
use crate::refusal::Refusal;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) hash: TokenHash,
    pub(crate) token: Token,
}

/// Lets a request pass if its token has the scope, and says who asks. For routers as a layer.
pub(crate) async fn require(
    State((doors, needed)): State<(Doors, Scope)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    // In a box of its own, for the request may stay long after that.
    let visitor = request.extensions().get::<Visitor>();
    let caller = Box::pin(admit(&doors, request.headers(), visitor, needed)).await?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

/// Finds out who asks, and whether they may.
async fn admit(
    doors: &Doors,
    headers: &HeaderMap,
    visitor: Option<&Visitor>,
    needed: Scope,
) -> Result<Caller, Refusal> {
    let hash = bearer(headers)?.hash();
    let ledger = doors.ledger()?;
    let now = Timestamp::now();
    let token = current(ledger, &hash, now).await?;
    if let Some(visitor) = visitor {
        visitor.vouch();
    }
    if token.scope < needed {
        return Err(Refusal::forbidden(&token.name, token.scope, needed));
    }
    doors.usage().note(ledger, &token, now);
    Ok(Caller { hash, token })
}

/// Refuses if the token of a caller who is in already has ended since.
pub(crate) async fn refuse_ended(ledger: &Ledger, caller: &Caller) -> Result<(), Refusal> {
    current(ledger, &caller.hash, Timestamp::now())
        .await
        .map(drop)
}

/// Returns the token of a hash, if it holds now.
async fn current(ledger: &Ledger, hash: &TokenHash, now: Timestamp) -> Result<Token, Refusal> {
    let token = ledger.token_by_hash(hash).await?;
    let token = token.ok_or_else(|| {
        let message = "nobody knows this token; was it made for another Pathline?";
        Refusal::unauthorized("token-unknown", message)
    })?;
    if let Some(revoked) = token.revoked {
        let message = format!("the token `{}` was revoked at {revoked}", token.name);
        return Err(Refusal::unauthorized("token-revoked", message));
    }
    match token.expires {
        Some(expires) if expires <= now => {
            let message = format!("the token `{}` ended at {expires}", token.name);
            Err(Refusal::unauthorized("token-expired", message))
        }
        _ => Ok(token),
    }
}

fn bearer(headers: &HeaderMap) -> Result<Secret, Refusal> {
    let missing = || Refusal::unauthorized("token-missing", "this needs a token");
    let given = headers.get(header::AUTHORIZATION).ok_or_else(missing)?;
    let given = given.to_str().unwrap_or_default();
    let (scheme, secret) = given.split_once(' ').unwrap_or((given, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(missing());
    }
    Secret::read(secret.trim()).ok_or_else(|| {
        let message = "this is no token; tokens are `pathline_` and 64 hexadecimal digits";
        Refusal::unauthorized("token-unknown", message)
    })
}
