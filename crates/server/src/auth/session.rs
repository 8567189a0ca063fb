//! Sessions of open streams: their tokens may end meanwhile, and the server may stop.

use pathline_clock::Clock;
use pathline_ledger::{Ledger, Topic};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Caller;
use crate::AppState;
use crate::error::ApiError;

/// An open stream; ends when its token is revoked or expires, and when the server stops.
pub(crate) struct StreamSession {
    ledger: Ledger,
    clock: Clock,
    caller: Caller,
    /// The newest change of any token.
    token_changes: watch::Receiver<i64>,
    closing: CancellationToken,
}

impl StreamSession {
    /// Opens a session for a caller whose token was valid when the request came.
    pub(crate) async fn begin(state: &AppState, caller: Caller) -> Result<Self, ApiError> {
        let (ledger, clock) = (state.ledger()?.clone(), state.clock().clone());
        let token_changes = ledger.subscribe(Topic::Access);
        // The token was good before the session subscribed; it might have ended in between.
        caller.ensure_valid(&ledger, clock.now()).await?;
        Ok(Self {
            ledger,
            clock,
            caller,
            token_changes,
            closing: state.closing().clone(),
        })
    }

    /// Fails if the session has to end, with the reason. The ledger is asked only if some
    /// token changed.
    pub(crate) async fn check(&mut self) -> Result<(), ApiError> {
        if self.closing.is_cancelled() {
            return Err(ApiError::unavailable("Pathline is stopping"));
        }
        let (expires, now) = (self.caller.token.expires, self.clock.now());
        let has_expired = expires.is_some_and(|expires| expires <= now);
        if !has_expired && !self.token_changes.has_changed().unwrap_or(false) {
            return Ok(());
        }
        self.token_changes.mark_unchanged();
        Box::pin(self.caller.ensure_valid(&self.ledger, now)).await
    }

    /// Waits until there may be a reason to end. Tells whether one can go on at all: without
    /// a subscription the ledger is closed.
    pub(crate) async fn disturbed(&mut self) -> bool {
        let now = self.clock.now();
        let left = self.caller.token.expires.map(|it| it.duration_since(now));
        let expiry = async {
            match left {
                Some(left) => tokio::time::sleep(left.try_into().unwrap_or_default()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.closing.cancelled() => true,
            changed = self.token_changes.changed() => {
                self.token_changes.mark_changed();
                changed.is_ok()
            }
            () = expiry => true,
        }
    }
}
