//! The latest events in revision order.
//!
//! Of most events nobody asks again. So only the newest ones, which watchers are about to read, stay
//! parsed; who reads an older one has its text parsed anew.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

use super::Expired;
use super::object::{Event, Stored};

/// The number of the newest events that stay parsed.
const PARSED: usize = 128;

/// Events in revision order; those up to `floor` have been forgotten.
#[derive(Default)]
pub(super) struct Log {
    events: VecDeque<Event>,
    bytes: usize,
    floor: u64,
    changed: Arc<Notify>,
}

impl Log {
    /// Starts with nothing, the events having been forgotten up to `floor`.
    pub(super) fn at(floor: u64) -> Self {
        Self {
            floor,
            ..Self::default()
        }
    }

    /// Returns the events after `revision`, or refuses if some of them have been forgotten.
    pub(super) fn after(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Event>, Expired> {
        self.check(revision)?;
        let start = self
            .events
            .partition_point(|event| event.revision() <= revision);
        Ok(self.events.range(start..))
    }

    /// Refuses if an event after `revision` has been forgotten.
    pub(super) fn check(&self, revision: u64) -> Result<(), Expired> {
        if revision < self.floor {
            Err(Expired { floor: self.floor })
        } else {
            Ok(())
        }
    }

    /// Returns how many events are kept.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns how many bytes of text they hold.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the revision of the oldest event.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.events.front().map(Event::revision)
    }

    /// Returns the revision up to which must be forgotten so that no more than this is left.
    pub(super) fn floor_for(&self, most_events: usize, most_bytes: usize) -> u64 {
        let (mut events, mut bytes) = (self.len(), self.bytes);
        let mut floor = self.floor;
        for event in &self.events {
            if events <= most_events && bytes <= most_bytes {
                break;
            }
            events -= 1;
            bytes -= event.bytes();
            floor = event.revision();
        }
        floor
    }

    /// Returns what wakes those who wait for an event.
    pub(super) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Wakes whoever waits for an event.
    pub(super) fn announce(&self) {
        self.changed.notify_waiters();
    }

    /// Takes in the next event. Returns what the event that is no longer among the newest had made.
    pub(super) fn push(&mut self, event: Event) -> Option<Arc<Stored>> {
        self.bytes += event.bytes();
        self.events.push_back(event);
        let index = self.events.len().checked_sub(PARSED + 1)?;
        let old = self.events.get_mut(index)?;
        old.current = old.current.as_text();
        old.previous = old.previous.as_ref().map(|previous| previous.as_text());
        Some(Arc::clone(&old.current))
    }

    /// Forgets the oldest event.
    pub(super) fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        self.bytes -= event.bytes();
        self.floor = event.revision();
        Some(event)
    }
}
