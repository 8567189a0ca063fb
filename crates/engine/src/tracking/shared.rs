//! Answers that several rounds share: who asks what somebody else is asking waits for that answer.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::runtime::clock::Clock;

/// The questions that are open, and the answers that are still new.
pub(super) struct Shared<K, V> {
    clock: Clock,
    asked: Mutex<Asked<K, V>>,
}

/// The fewest questions among which old ones are looked for.
const MIN_SWEPT: usize = 64;

struct Asked<K, V> {
    questions: HashMap<K, Question<V>>,
    /// The number of questions at which old ones are forgotten: twice as many as were left the last time, so that it
    /// costs next to nothing for each.
    sweep_at: usize,
}

/// A question, and its answer once there is one.
struct Question<V> {
    at: Timestamp,
    answer: Arc<OnceCell<V>>,
}

impl<K: Clone + Eq + Hash, V: Clone> Shared<K, V> {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            asked: Mutex::new(Asked {
                questions: HashMap::new(),
                sweep_at: MIN_SWEPT,
            }),
        }
    }

    /// Returns an answer that was asked for at a time or after it: somebody else's, or that of `ask`.
    pub(super) async fn get(
        &self,
        key: &K,
        not_before: Timestamp,
        ask: impl Future<Output = V>,
    ) -> V {
        let answer = {
            let questions = &mut self.asked.lock().questions;
            match questions.get(key).filter(|it| it.at >= not_before) {
                Some(question) => Arc::clone(&question.answer),
                None => {
                    let (at, answer) = (self.clock.now(), Arc::new(OnceCell::new()));
                    let question = Question {
                        at,
                        answer: Arc::clone(&answer),
                    };
                    questions.insert(key.clone(), question);
                    answer
                }
            }
        };
        // If the one who asks is cut off, the next one who waits asks.
        answer.get_or_init(|| ask).await.clone()
    }

    /// Forgets an answer that will not do for anybody who asks from now on.
    pub(super) fn forget(&self, key: &K) {
        self.asked.lock().questions.remove(key);
    }

    /// Forgets answers that were asked for before a time, now and then.
    pub(super) fn forget_before(&self, time: Timestamp) {
        let mut asked = self.asked.lock();
        if asked.questions.len() >= asked.sweep_at {
            asked.questions.retain(|_, it| it.at >= time);
            asked.sweep_at = MIN_SWEPT.max(2 * asked.questions.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use jiff::SignedDuration;

    use super::*;

    fn mk_shared() -> (Clock, Shared<&'static str, usize>) {
        let clock = Clock::standing(Timestamp::UNIX_EPOCH);
        (clock.clone(), Shared::new(clock))
    }

    #[tokio::test]
    async fn those_who_ask_at_the_same_time_share_one_answer() {
        let (clock, shared) = mk_shared();
        let asked = AtomicUsize::new(0);
        let ask = async || {
            tokio::task::yield_now().await;
            asked.fetch_add(1, Ordering::Relaxed)
        };
        let now = clock.now();
        let all = futures::future::join_all((0..57).map(|_| shared.get(&"a", now, ask()))).await;
        assert!(all.iter().all(|it| *it == 0));
        shared.get(&"b", now, ask()).await;
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn older_answer_does_not_count() {
        let (clock, shared) = mk_shared();
        let first = shared.get(&"a", clock.now(), async { 1 }).await;
        let later = clock.now() + SignedDuration::from_secs(1);
        clock.set(later);
        let second = shared.get(&"a", later, async { 2 }).await;
        assert_eq!((first, second), (1, 2));
        let third = shared.get(&"a", Timestamp::UNIX_EPOCH, async { 3 }).await;
        assert_eq!(third, 2, "new enough");
    }

    #[tokio::test]
    async fn old_answers_are_forgotten_when_there_are_many() {
        let clock = Clock::standing(Timestamp::UNIX_EPOCH);
        let shared: Shared<i64, i64> = Shared::new(clock.clone());
        for second in 0..1000 {
            let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
            clock.set(now);
            shared.forget_before(now - SignedDuration::from_secs(100));
            shared.get(&second, now, async { second }).await;
            let kept = shared.asked.lock().questions.len();
            assert!(kept <= 204, "{kept} at {second}");
        }
    }

    #[tokio::test]
    async fn answer_of_one_who_was_cut_off_is_asked_for_by_the_next() {
        let (clock, shared) = mk_shared();
        let cut_off = shared.get(&"a", clock.now(), std::future::pending());
        let cut_off = tokio::time::timeout(std::time::Duration::from_millis(1), cut_off).await;
        assert!(cut_off.is_err());
        assert_eq!(shared.get(&"a", clock.now(), async { 7 }).await, 7);
    }
}
