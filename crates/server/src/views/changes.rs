//! Changes of the ledger as they happen.
//!
//! A follower is a cursor into what the ledger keeps: it owns no queue, so one that stops reading
//! holds no memory, and one that comes back goes on where it was.

use std::collections::VecDeque;

use pathline_client::api::{Begin, Change};
use pathline_ledger::{Ledger, Recorded, Topic};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::AppState;
use crate::auth::{Caller, StreamSession};
use crate::error::ApiError;
use crate::views::convert;

/// The changes that are read at once.
const PAGE_SIZE: u32 = 64;

/// One element of the feed.
pub(crate) enum Item {
    /// The first: changes after this one follow.
    Begin(Begin),
    /// A change.
    Change(Box<Change>),
}

/// Follows the changes for one client.
pub(crate) struct ChangeFeed {
    ledger: Ledger,
    session: StreamSession,
    /// The newest change of lineage.
    changes: watch::Receiver<i64>,
    /// The last change that was read.
    read: i64,
    /// The changes that were read and not sent yet.
    unsent: VecDeque<Recorded>,
    begun: bool,
    _room: OwnedSemaphorePermit,
}

impl ChangeFeed {
    /// Begins after a change, or with what is new.
    ///
    /// # Errors
    /// If too many follow already, the token has ended, or the change is no longer kept.
    pub(crate) async fn start(
        state: &AppState,
        caller: Caller,
        after: Option<i64>,
    ) -> Result<Self, ApiError> {
        let room = state.followers().clone().try_acquire_owned();
        let room = room.map_err(|_| ApiError::too_many("too many clients follow at once"))?;
        let ledger = state.ledger()?.clone();
        let changes = ledger.subscribe(Topic::Lineage);
        let session = StreamSession::begin(state, caller).await?;
        let read = after.unwrap_or_else(|| *changes.borrow());
        let unsent = ledger.lineage().changes(read, PAGE_SIZE).await?;
        Ok(Self {
            ledger,
            session,
            changes,
            read,
            unsent: unsent.into(),
            begun: false,
            _room: room,
        })
    }

    /// Returns the next item when there is one; none when the feed has to end.
    pub(crate) async fn next(&mut self) -> Option<Item> {
        if !self.begun {
            self.begun = true;
            return Some(Item::Begin(Begin {
                sequence: self.read,
            }));
        }
        loop {
            self.session.check().await.ok()?;
            if let Some(recorded) = self.unsent.pop_front() {
                self.read = recorded.sequence;
                return Some(Item::Change(Box::new(convert::change(recorded))));
            }
            // One who fell behind, or whom the ledger does not answer, comes back by itself.
            self.changes.mark_unchanged();
            self.unsent = self
                .ledger
                .lineage()
                .changes(self.read, PAGE_SIZE)
                .await
                .ok()?
                .into();
            if self.unsent.is_empty() && !self.wait().await {
                return None;
            }
        }
    }

    /// Waits until there may be something to send, or a reason to end. Tells whether to go on:
    /// without a subscription the ledger is closed, and nothing will ever be sent.
    async fn wait(&mut self) -> bool {
        tokio::select! {
            changed = self.changes.changed() => changed.is_ok(),
            goes_on = self.session.disturbed() => goes_on,
        }
    }
}
