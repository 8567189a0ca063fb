//! Changes of the ledger as they happen: those of owners, of trackers and of releases, in one order.
//!
//! A follower is a cursor into what the ledger keeps: it owns no queue, so one that stops reading
//! holds no memory, and one that comes back goes on where it was.

mod merge;

use std::collections::VecDeque;

use pathline_client::api::{Begin, Change, HoldEvent, MoveEvent, ReleaseEvent, TrackerEvent};
use pathline_ledger::{Ledger, Topic};
use tokio::sync::{OwnedSemaphorePermit, watch};

use self::merge::Merged;
use crate::AppState;
use crate::auth::{Caller, StreamSession};
use crate::error::ApiError;

/// One element of the feed.
pub(crate) enum Item {
    /// The first: changes after this one follow.
    Begin(Begin),
    /// A change of an owner.
    Change(Box<Change>),
    /// A change of a tracker.
    Tracker(Box<TrackerEvent>),
    /// A release that was formed.
    Release(Box<ReleaseEvent>),
    /// A release that is in another state in an environment.
    Move(Box<MoveEvent>),
    /// An environment, or a tracker in it, that is held, or is no more.
    Hold(Box<HoldEvent>),
}

/// Follows the changes for one client.
pub(crate) struct ChangeFeed {
    ledger: Ledger,
    session: StreamSession,
    news: News,
    /// The last change that was sent; all before it were, too.
    read: i64,
    /// The changes that were read and not sent yet.
    unsent: VecDeque<Item>,
    /// The change up to which all are sent when those are.
    complete: i64,
    begun: bool,
    _room: OwnedSemaphorePermit,
}

/// Says that there may be something to read, of any topic that is told.
struct News {
    lineage: watch::Receiver<i64>,
    trackers: watch::Receiver<i64>,
    releases: watch::Receiver<i64>,
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
        let news = News::of(&ledger);
        let session = StreamSession::begin(state, caller).await?;
        let read = match after {
            Some(after) => after,
            None => ledger.trackers().newest_change().await?,
        };
        let Merged { items, complete } = merge::read(&ledger, read).await?;
        Ok(Self {
            ledger,
            session,
            news,
            read,
            unsent: items,
            complete,
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
            if let Some(item) = self.unsent.pop_front() {
                self.read = item.sequence();
                return Some(item);
            }
            self.read = self.complete;
            self.news.mark_seen();
            // One who fell behind, or whom the ledger does not answer, comes back by itself.
            let Merged { items, complete } = merge::read(&self.ledger, self.read).await.ok()?;
            self.unsent = items;
            // Where a topic has more than was read, there is something to read at once.
            let has_news = complete > self.complete;
            self.complete = complete;
            if !has_news && !self.wait().await {
                return None;
            }
        }
    }

    /// Waits until there may be something to send, or a reason to end. Tells whether to go on:
    /// without a subscription the ledger is closed, and nothing will ever be sent.
    async fn wait(&mut self) -> bool {
        tokio::select! {
            goes_on = self.news.changed() => goes_on,
            goes_on = self.session.disturbed() => goes_on,
        }
    }
}

impl Item {
    /// Returns the place among all changes.
    pub(crate) fn sequence(&self) -> i64 {
        match self {
            Self::Begin(begin) => begin.sequence,
            Self::Change(change) => change.sequence,
            Self::Tracker(event) => event.sequence,
            Self::Release(event) => event.sequence,
            Self::Move(event) => event.sequence,
            Self::Hold(event) => event.sequence,
        }
    }
}

impl News {
    fn of(ledger: &Ledger) -> Self {
        Self {
            lineage: ledger.subscribe(Topic::Lineage),
            trackers: ledger.subscribe(Topic::Trackers),
            releases: ledger.subscribe(Topic::Releases),
        }
    }

    fn mark_seen(&mut self) {
        self.lineage.mark_unchanged();
        self.trackers.mark_unchanged();
        self.releases.mark_unchanged();
    }

    /// Waits for something; false if there will never be anything.
    async fn changed(&mut self) -> bool {
        tokio::select! {
            changed = self.lineage.changed() => changed.is_ok(),
            changed = self.trackers.changed() => changed.is_ok(),
            changed = self.releases.changed() => changed.is_ok(),
        }
    }
}
