//! The table of open connections, and which one is evicted when it is full.
//!
//! Whoever has shown a valid credential stays for as long as they like: watches, streams and waits
//! do. Everybody else is a stranger, and the oldest of them goes when somebody new comes to a full
//! room. So strangers can be as many and as silent as they like, and keep nobody out.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The room of one port. A cheap handle.
#[derive(Clone)]
pub(super) struct Room {
    shared: Arc<Shared>,
}

struct Shared {
    limit: usize,
    guests: Mutex<Guests>,
    /// Rings when somebody leaves.
    changed: Notify,
}

#[derive(Default)]
struct Guests {
    /// The number of connections accepted so far.
    came: u64,
    /// Those without a credential, in the order in which they came, and how each is sent away.
    strangers: BTreeMap<u64, CancellationToken>,
    known: usize,
}

impl Guests {
    fn total(&self) -> usize {
        self.strangers.len() + self.known
    }
}

impl Room {
    /// Makes an empty room for so many.
    pub(super) fn new(limit: usize) -> Self {
        let shared = Shared {
            limit: limit.max(1),
            guests: Mutex::default(),
            changed: Notify::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Waits until somebody could come in.
    pub(super) async fn open(&self) {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            if self.has_room() {
                return;
            }
            changed.await;
        }
    }

    fn has_room(&self) -> bool {
        let guests = self.shared.guests.lock();
        guests.total() < self.shared.limit || !guests.strangers.is_empty()
    }

    /// Lets somebody in; if it is full, the oldest stranger has to go.
    pub(super) fn enter(&self) -> Seat {
        let leave = CancellationToken::new();
        let mut guests = self.shared.guests.lock();
        if guests.total() >= self.shared.limit {
            send_away(&mut guests);
        }
        guests.came += 1;
        let number = guests.came;
        guests.strangers.insert(number, leave.clone());
        drop(guests);
        let guest = Guest {
            number,
            is_known: Mutex::new(false),
            room: self.clone(),
        };
        Seat {
            visitor: Visitor(Arc::new(guest)),
            leave,
        }
    }

    /// Sends the oldest stranger away, if there is one.
    pub(super) fn make_room(&self) {
        send_away(&mut self.shared.guests.lock());
    }
}

fn send_away(guests: &mut Guests) {
    if let Some((_, leave)) = guests.strangers.pop_first() {
        leave.cancel();
    }
}

/// The place of one connection, until it is dropped.
pub(super) struct Seat {
    /// The connections, by their number.
    pub(super) visitor: Visitor,
    /// Cancelled when they have to make room.
    pub(super) leave: CancellationToken,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let guest = &self.visitor.0;
        let is_known = guest.is_known.lock();
        let mut guests = guest.room.shared.guests.lock();
        if *is_known {
            guests.known -= 1;
        } else {
            // It is not there any more if it was sent away.
            guests.strangers.remove(&guest.number);
        }
        drop(guests);
        guest.room.shared.changed.notify_one();
    }
}

/// Whoever is at the other end of a connection; every request on it has this as an extension.
#[derive(Clone)]
pub struct Visitor(Arc<Guest>);

struct Guest {
    number: u64,
    is_known: Mutex<bool>,
    room: Room,
}

impl Visitor {
    /// Notes that a request of theirs had a valid credential: they need not make room for others.
    pub fn vouch(&self) {
        let mut is_known = self.0.is_known.lock();
        if *is_known {
            return;
        }
        let mut guests = self.0.room.shared.guests.lock();
        // Whoever was sent away in this moment is gone already.
        if guests.strangers.remove(&self.0.number).is_some() {
            guests.known += 1;
            *is_known = true;
        }
    }
}

impl std::fmt::Debug for Visitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visitor")
            .field("number", &self.0.number)
            .field("is_known", &*self.0.is_known.lock())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(seats: &[Seat]) -> Vec<bool> {
        seats.iter().map(|seat| seat.leave.is_cancelled()).collect()
    }

    #[tokio::test]
    async fn hole_5_the_oldest_stranger_makes_room_and_whoever_is_known_stays() {
        let room = Room::new(3);
        let mut seats: Vec<Seat> = (0..3).map(|_| room.enter()).collect();
        seats[0].visitor.vouch();
        room.open().await;
        seats.push(room.enter());
        assert_eq!(gone(&seats), [false, true, false, false]);
        seats.push(room.enter());
        assert_eq!(gone(&seats), [false, true, true, false, false]);
        seats[1].visitor.vouch();
        assert_eq!(
            room.shared.guests.lock().known,
            1,
            "nobody comes back by a credential"
        );
        drop(seats);
        assert_eq!(room.shared.guests.lock().total(), 0);
    }

    #[tokio::test]
    async fn where_everybody_is_known_new_ones_wait() {
        let room = Room::new(1);
        let seat = room.enter();
        seat.visitor.vouch();
        let waiting = tokio::spawn({
            let room = room.clone();
            async move { room.open().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(seat);
        waiting.await.unwrap();
    }
}
