//! One client of the stream.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::Event;
use pathline_ledger::{Ledger, Recorded};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::Doors;
use crate::api::{Begin, Change};
use crate::auth::{Caller, Stay};
use crate::refusal::Refusal;

/// How many changes are read at once.
const PAGE: u32 = 64;

/// One client, and how far it has come.
pub(super) struct Follower {
    ledger: Ledger,
    stay: Stay,
    /// Rings for new changes.
    bell: watch::Receiver<i64>,
    /// The last change that was read.
    read: i64,
    /// What was read and not told yet.
    untold: VecDeque<Recorded>,
    begun: bool,
    _room: OwnedSemaphorePermit,
}

type Told = Option<(Result<Event, Infallible>, Follower)>;

impl Follower {
    /// Begins after a change, or with what is new.
    pub(super) async fn start(
        doors: &Doors,
        caller: Caller,
        after: Option<i64>,
    ) -> Result<Self, Refusal> {
        let room = doors.followers().clone().try_acquire_owned();
        let room = room.map_err(|_| Refusal::too_many("too many clients follow at once"))?;
        let ledger = doors.ledger()?.clone();
        let bell = ledger.bell();
        let stay = Stay::begin(doors, caller).await?;
        let read = after.unwrap_or_else(|| *bell.borrow());
        let untold = ledger.changes(read, PAGE).await?;
        Ok(Self {
            ledger,
            stay,
            bell,
            read,
            untold: untold.into(),
            begun: false,
            _room: room,
        })
    }

    /// Returns the next event when there is one; nothing when the stream has to end.
    pub(super) async fn next(mut self) -> Told {
        if !self.begun {
            self.begun = true;
            let begin = Begin {
                sequence: self.read,
            };
            return Some((Ok(event("begin", begin.sequence, &begin)), self));
        }
        loop {
            self.stay.check().await.ok()?;
            if let Some(recorded) = self.untold.pop_front() {
                self.read = recorded.sequence;
                let change = Change::from(recorded);
                return Some((Ok(event("change", change.sequence, &change)), self));
            }
            // One who fell behind, or whom the ledger does not answer, comes back by itself.
            self.bell.mark_unchanged();
            self.untold = self.ledger.changes(self.read, PAGE).await.ok()?.into();
            if self.untold.is_empty() && !self.wait().await {
                return None;
            }
        }
    }

    /// Waits until there may be something to tell, or a reason to end. Tells whether to go on:
    /// without a bell the ledger is closed, and nothing will ever be told.
    async fn wait(&mut self) -> bool {
        tokio::select! {
            rung = self.bell.changed() => rung.is_ok(),
            goes_on = self.stay.disturbed() => goes_on,
        }
    }
}

fn event<T: Serialize>(name: &str, sequence: i64, data: &T) -> Event {
    Event::default()
        .event(name)
        .id(sequence.to_string())
        .json_data(data)
        .expect("the types of the API are JSON")
}
