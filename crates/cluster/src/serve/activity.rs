//! The state of one connection: requests in flight, and bodies that are being received.

use std::sync::Arc;

use parking_lot::Mutex;
use pathline_clock::instant;
use tokio::time::{Duration, Instant};

/// Counts what goes on on one connection. A cheap handle.
#[derive(Clone)]
pub(super) struct Activity {
    counts: Arc<Mutex<Counts>>,
}

struct Counts {
    /// Requests whose answers have not been handed over yet.
    under_way: usize,
    /// Bodies of requests that somebody waits for.
    arriving: usize,
    /// True once there was a request.
    has_begun: bool,
    /// True once the rest of a body was discarded.
    has_unread: bool,
    /// The time at which the last request ended, or the connection began.
    quiet_since: Instant,
}

impl Activity {
    pub(super) fn new() -> Self {
        let counts = Counts {
            under_way: 0,
            arriving: 0,
            has_begun: false,
            has_unread: false,
            quiet_since: instant(),
        };
        Self {
            counts: Arc::new(Mutex::new(counts)),
        }
    }

    /// Notes a request; it is under way until the returned value is dropped.
    pub(super) fn begin(&self) -> UnderWay {
        let mut counts = self.counts.lock();
        counts.under_way += 1;
        counts.has_begun = true;
        UnderWay(self.clone())
    }

    /// Returns whether the head of any request has arrived yet.
    pub(super) fn has_begun(&self) -> bool {
        self.counts.lock().has_begun
    }

    /// Returns whether there was no request for so long.
    pub(super) fn is_idle(&self, timeout: Duration) -> bool {
        let counts = self.counts.lock();
        counts.under_way == 0 && counts.quiet_since.elapsed() >= timeout
    }

    /// Returns whether all there is to wait for is the client.
    pub(super) fn waits_for_client(&self) -> bool {
        let counts = self.counts.lock();
        counts.under_way == 0 || counts.arriving > 0
    }

    /// Returns whether the client may still send what nobody reads.
    pub(super) fn has_unread(&self) -> bool {
        self.counts.lock().has_unread
    }

    /// Notes a body that somebody waits for.
    pub(super) fn expect(&self) {
        self.counts.lock().arriving += 1;
    }

    /// Notes that a body has arrived, or that nobody wants the rest of it.
    pub(super) fn expected(&self, is_whole: bool) {
        let mut counts = self.counts.lock();
        counts.arriving -= 1;
        counts.has_unread |= !is_whole;
    }
}

/// A request that is under way.
pub(super) struct UnderWay(Activity);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut counts = self.0.counts.lock();
        counts.under_way -= 1;
        counts.quiet_since = instant();
    }
}
