//! A wait for one owner.
//!
//! Read on in this order: `awaited_owner` (the owner, be it there or not), `presence` (has it come, has it gone),
//! `evaluation` (what can be said of it), `running` (what runs, if that was asked).

mod awaited_owner;
mod evaluation;
mod presence;
mod running;

use std::time::Duration;

use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::{WaitResult, WaitState};
use pathline_ledger::Ledger;
use tokio::sync::{OwnedSemaphorePermit, watch};

use self::awaited_owner::AwaitedOwner;
use super::owner_watch::WatchedOwner;
use super::question::WaitQuestion;
use crate::AppState;
use crate::auth::{Caller, StreamSession};
use crate::error::ApiError;
use crate::views::answers::Answers;
use crate::views::names::OwnerName;

/// The pause before an answer that was held back is confirmed again.
const CONFIRM_INTERVAL: Duration = Duration::from_millis(500);

/// A wait for one owner, and its last answer.
pub(crate) struct OwnerWait {
    session: StreamSession,
    state: AppState,
    kind: OwnerKind,
    name: OwnerName,
    asked: WaitQuestion,
    owner: AwaitedOwner,
    /// Shows whether the owner is there, until something is recorded of it.
    cluster: Option<watch::Receiver<WatchedOwner>>,
    last: Option<WaitResult>,
    /// Whether the owner was looked at with what it should have been.
    has_seen: bool,
    /// Whether the last answer was held back, since something has changed that the ledger does not
    /// know yet. If the next look finds that all is as before, nothing is recorded.
    is_outdated: bool,
    /// Whether what was said to run was found to have ended, and not to run again since.
    has_ended: bool,
    _room: OwnedSemaphorePermit,
}

impl OwnerWait {
    /// Begins to wait for an owner, be it there or not.
    pub(crate) async fn start(
        state: &AppState,
        caller: Caller,
        kind: OwnerKind,
        name: OwnerName,
        asked: WaitQuestion,
    ) -> Result<Self, ApiError> {
        let room = state.waiters().clone().try_acquire_owned();
        let room = room.map_err(|_| ApiError::too_many("too many clients wait at once"))?;
        let session = StreamSession::begin(state, caller).await?;
        let mut waiting = Self {
            session,
            state: state.clone(),
            kind,
            name,
            asked,
            owner: AwaitedOwner::Gone,
            cluster: None,
            last: None,
            has_seen: false,
            is_outdated: false,
            has_ended: false,
            _room: room,
        };
        waiting.begin().await?;
        Ok(waiting)
    }

    fn ledger(&self) -> Result<&Ledger, ApiError> {
        self.state.ledger()
    }

    /// Waits until there may be something new. Tells whether one can go on at all.
    async fn disturbed(&mut self) -> bool {
        let lineage = async {
            match &mut self.owner {
                AwaitedOwner::Present(present) => present.lineages.changed().await.is_ok(),
                AwaitedOwner::Absent(_) | AwaitedOwner::Gone => std::future::pending().await,
            }
        };
        let cluster = async {
            match &mut self.cluster {
                Some(cluster) => cluster.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        };
        let again = async {
            match self.is_outdated {
                true => tokio::time::sleep(CONFIRM_INTERVAL).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            goes_on = lineage => goes_on,
            goes_on = cluster => goes_on,
            () = again => true,
            goes_on = self.session.disturbed() => goes_on,
        }
    }
}

impl Answers for OwnerWait {
    type Answer = WaitResult;

    /// Returns what can be said as soon as it is something new; an error ends the waiting.
    async fn next(&mut self) -> Result<WaitResult, ApiError> {
        loop {
            self.session.check().await?;
            Box::pin(self.observe_cluster()).await?;
            let waited = self.evaluate().await?;
            let is_news = self.last.as_ref() != Some(&waited);
            // In a box of its own: it takes far more memory than to wait.
            if is_news && let Some(answer) = Box::pin(self.with_running(waited)).await {
                return Ok(answer);
            }
            if !self.disturbed().await {
                return Err(ApiError::unavailable("the ledger is closed"));
            }
        }
    }

    fn last(&self) -> Option<WaitResult> {
        let mut last = self.last.clone()?;
        if self.asked.is_live() && last.state == WaitState::Holds {
            let note = "what runs cannot be listed: time is up";
            last.notes.push(note.to_owned());
        }
        Some(last)
    }
}
