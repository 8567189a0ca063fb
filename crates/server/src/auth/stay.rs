//! Somebody who stays: the token may end meanwhile, and the doors may close.

use std::time::Duration;

use jiff::Timestamp;
use pathline_ledger::Ledger;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Caller, refuse_ended};
use crate::Doors;
use crate::refusal::Refusal;

/// The right of one caller to stay.
pub(crate) struct Stay {
    ledger: Ledger,
    caller: Caller,
    /// Rings when a token was made or revoked.
    token_bell: watch::Receiver<u64>,
    closing: CancellationToken,
}

impl Stay {
    /// Lets a caller stay, whose token was good when the request came.
    pub(crate) async fn begin(doors: &Doors, caller: Caller) -> Result<Self, Refusal> {
        let ledger = doors.ledger()?.clone();
        let token_bell = ledger.token_bell();
        // The token was good before the bell was heard; it might have ended in between.
        refuse_ended(&ledger, &caller).await?;
        Ok(Self {
            ledger,
            caller,
            token_bell,
            closing: doors.closing().clone(),
        })
    }

    /// Says why the caller has to leave, if there is a reason. The ledger is asked only if some
    /// token changed.
    pub(crate) async fn check(&mut self) -> Result<(), Refusal> {
        if self.closing.is_cancelled() {
            return Err(Refusal::unavailable("Pathline is stopping"));
        }
        let expires = self.caller.token.expires;
        let has_expired = expires.is_some_and(|expires| expires <= Timestamp::now());
        if !has_expired && !self.token_bell.has_changed().unwrap_or(false) {
            return Ok(());
        }
        self.token_bell.mark_unchanged();
        Box::pin(refuse_ended(&self.ledger, &self.caller)).await
    }

    /// Waits until there may be a reason to leave. Tells whether one can go on at all: without a
    /// bell the ledger is closed.
    pub(crate) async fn disturbed(&mut self) -> bool {
        let expires = self.caller.token.expires;
        let expiry = async {
            match expires {
                Some(expires) => tokio::time::sleep(until(expires)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.closing.cancelled() => true,
            rung = self.token_bell.changed() => {
                self.token_bell.mark_changed();
                rung.is_ok()
            }
            () = expiry => true,
        }
    }
}

fn until(time: Timestamp) -> Duration {
    let left = time.duration_since(Timestamp::now());
    Duration::try_from(left).unwrap_or_default()
}
