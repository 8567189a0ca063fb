//! The runs of objects: at most one run each, stopped before the next one starts.

use std::collections::HashMap;
use std::future::Future;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The runs of one kind of object, by the uid of the object.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Mutex<HashMap<String, Slot>>,
    tasks: TaskTracker,
}

#[derive(Clone, Debug)]
struct Slot {
    generation: i64,
    stop: CancellationToken,
    ended: CancellationToken,
}

impl Slots {
    /// The generation that runs, or ran last, for an object.
    pub(crate) fn generation(&self, uid: &str) -> Option<i64> {
        self.slots.lock().get(uid).map(|slot| slot.generation)
    }

    /// Starts a run; the one before must have been stopped.
    pub(crate) fn start<F>(
        &self,
        uid: &str,
        generation: i64,
        run: impl FnOnce(CancellationToken) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let slot = Slot {
            generation,
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
        };
        let run = run(slot.stop.clone());
        let guard = slot.ended.clone().drop_guard();
        self.slots.lock().insert(uid.to_owned(), slot);
        self.tasks.spawn(async move {
            let _ended = guard;
            run.await;
        });
    }

    /// Stops the run of an object, if there is one, and forgets it when it has ended.
    pub(crate) async fn stop(&self, uid: &str) {
        let Some(slot) = self.slots.lock().get(uid).cloned() else {
            return;
        };
        slot.stop.cancel();
        slot.ended.cancelled().await;
        self.slots.lock().remove(uid);
    }

    /// Stops every run and returns when the last one has ended.
    pub(crate) async fn stop_all(&self) {
        for slot in self.slots.lock().values() {
            slot.stop.cancel();
        }
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_run_has_ended_when_stop_returns() {
        let slots = Slots::default();
        let ended = Arc::new(AtomicUsize::new(0));
        for round in 1..=3 {
            slots.stop("uid").await;
            assert_eq!(
                ended.load(Ordering::SeqCst),
                round - 1,
                "the former run has ended"
            );
            let count = ended.clone();
            slots.start("uid", round as i64, |stop| async move {
                stop.cancelled().await;
                tokio::task::yield_now().await;
                count.fetch_add(1, Ordering::SeqCst);
            });
            assert_eq!(slots.generation("uid"), Some(round as i64));
        }
        slots.stop_all().await;
        assert_eq!(ended.load(Ordering::SeqCst), 3);
    }
}
