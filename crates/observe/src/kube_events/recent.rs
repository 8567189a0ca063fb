//! Events that were published lately: repetitions are counted, and owners that have too much to say wait.

use std::collections::{HashMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::ObjectReference;

use super::KubeEvent;

/// The time within which what is the same is one event.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// The number of events that are remembered, and of owners.
const MAX_REMEMBERED: usize = 4096;

/// The number of events that an owner may have published at once, and the time until it may have one more.
const BURST: u32 = 25;
const REFILL: SignedDuration = SignedDuration::from_secs(30);

/// The decision about an event.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// Publish it under this name.
    Create(String),
    /// Say of the Event of this name that it happened once more.
    Count {
        /// The name.
        name: String,
        /// The number of times that it has happened.
        count: i32,
    },
    /// Nothing: its owner has had too much to say.
    Suppress,
}

/// The events that were published lately.
#[derive(Debug, Default)]
pub struct Recent {
    published: Bounded<(String, KubeEvent), Published>,
    allowances: Bounded<String, Allowance>,
    made: u64,
}

#[derive(Debug)]
struct Published {
    name: String,
    count: i32,
    last: Timestamp,
}

#[derive(Debug)]
struct Allowance {
    left: u32,
    refilled: Timestamp,
}

impl Recent {
    /// Decides what is to be done about an event.
    pub fn decide(
        &mut self,
        regarding: &ObjectReference,
        event: &KubeEvent,
        now: Timestamp,
    ) -> Decision {
        let uid = regarding.uid.clone().unwrap_or_default();
        let allowance = self.allowances.entry(&uid, || Allowance {
            left: BURST,
            refilled: now,
        });
        if !allowance.take(now) {
            return Decision::Suppress;
        }
        let key = (uid, event.clone());
        if let Some(known) = self.published.get_mut(&key)
            && now.duration_since(known.last) < WINDOW
        {
            known.count = known.count.saturating_add(1);
            known.last = now;
            return Decision::Count {
                name: known.name.clone(),
                count: known.count,
            };
        }
        self.made += 1;
        // Names must be unique among all controllers that ever published in the namespace.
        let about: String = regarding
            .name
            .iter()
            .flat_map(|name| name.chars())
            .take(200)
            .collect();
        let name = format!("{about}.{:x}.{:x}", now.as_nanosecond(), self.made);
        self.published.insert(
            key,
            Published {
                name: name.clone(),
                count: 1,
                last: now,
            },
        );
        Decision::Create(name)
    }
}

impl Allowance {
    fn take(&mut self, now: Timestamp) -> bool {
        let waited = now.duration_since(self.refilled).as_secs().max(0);
        let earned = u32::try_from(waited / REFILL.as_secs()).unwrap_or(BURST);
        if earned > 0 {
            self.left = BURST.min(self.left.saturating_add(earned));
            self.refilled = now;
        }
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}

/// A map that forgets what came in first when it is full.
#[derive(Debug)]
struct Bounded<K, V> {
    items: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Self {
            items: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<K: Clone + Eq + std::hash::Hash, V> Bounded<K, V> {
    fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.items.get_mut(key)
    }

    fn insert(&mut self, key: K, value: V) {
        if self.items.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.items.len() > MAX_REMEMBERED
            && let Some(first) = self.order.pop_front()
        {
            self.items.remove(&first);
        }
    }

    fn entry(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        if !self.items.contains_key(key) {
            self.insert(key.clone(), make());
        }
        self.items.get_mut(key).expect("it was just put in")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(uid: &str) -> ObjectReference {
        ObjectReference {
            name: Some("app".to_owned()),
            uid: Some(uid.to_owned()),
            ..ObjectReference::default()
        }
    }

    fn event(note: &str) -> KubeEvent {
        KubeEvent::normal("Applied", note.to_owned())
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("a time")
    }

    #[test]
    fn what_repeats_is_counted_and_after_a_while_told_anew() {
        let mut recent = Recent::default();
        let Decision::Create(name) = recent.decide(&about("1"), &event("a"), at(0)) else {
            panic!("the first is published");
        };
        let again = recent.decide(&about("1"), &event("a"), at(5));
        assert_eq!(again, Decision::Count { name, count: 2 });
        assert!(matches!(
            recent.decide(&about("1"), &event("b"), at(5)),
            Decision::Create(_)
        ));
        assert!(matches!(
            recent.decide(&about("1"), &event("a"), at(5 + 600)),
            Decision::Create(_)
        ));
    }

    #[test]
    fn an_owner_with_too_much_to_say_waits_and_the_others_do_not() {
        let mut recent = Recent::default();
        let mut published = |uid: &str, now| {
            (0..100)
                .filter(|index| {
                    let decision = recent.decide(&about(uid), &event(&index.to_string()), at(now));
                    decision != Decision::Suppress
                })
                .count()
        };
        assert_eq!(published("1", 0), 25);
        assert_eq!(published("2", 0), 25);
        assert_eq!(published("1", 29), 0);
        assert_eq!(published("1", 61), 2);
    }

    #[test]
    fn only_so_much_is_remembered() {
        let mut recent = Recent::default();
        for index in 0..MAX_REMEMBERED + 100 {
            recent.decide(&about(&index.to_string()), &event("a"), at(0));
        }
        assert_eq!(recent.published.items.len(), MAX_REMEMBERED);
        assert_eq!(recent.allowances.items.len(), MAX_REMEMBERED);
        assert_eq!(recent.published.order.len(), MAX_REMEMBERED);
    }
}
