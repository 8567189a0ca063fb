//! The layer that lets requests pass whose token may do what they ask for.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use pathline_cluster::serve::Visitor;
use pathline_ledger::Permission;

use crate::AppState;
use crate::auth::{Caller, Secret};
use crate::error::ApiError;

/// Lets a request pass if its token has the permission, and adds the [`Caller`] to it. For routers as a
/// layer.
pub(crate) async fn require(
    State((state, needed)): State<(AppState, Permission)>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    // In a box of its own, for the request may stay long after that.
    let visitor = request.extensions().get::<Visitor>();
    let caller = Box::pin(admit(&state, request.headers(), visitor, needed)).await?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

/// Finds out who asks, and whether they may.
async fn admit(
    state: &AppState,
    headers: &HeaderMap,
    visitor: Option<&Visitor>,
    needed: Permission,
) -> Result<Caller, ApiError> {
    let caller = Caller::authenticate(state, &bearer(headers)?).await?;
    // Also of one who may not do this: the token is known.
    if let Some(visitor) = visitor {
        visitor.vouch();
    }
    caller.authorize(state, needed)?;
    Ok(caller)
}

fn bearer(headers: &HeaderMap) -> Result<Secret, ApiError> {
    let missing = || ApiError::unauthorized("token-missing", "this needs a token");
    let given = headers.get(header::AUTHORIZATION).ok_or_else(missing)?;
    let given = given.to_str().unwrap_or_default();
    let (scheme, secret) = given.split_once(' ').unwrap_or((given, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(missing());
    }
    Secret::read(secret.trim()).ok_or_else(|| {
        let message = "this is no token; tokens are `pathline_` and 64 hexadecimal digits";
        ApiError::unauthorized("token-unknown", message)
    })
}
