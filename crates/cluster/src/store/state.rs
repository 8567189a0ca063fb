//! The state in memory: every object, and the latest events in revision order.
//!
//! Readers share it behind one lock; only the writer changes it, after the disk has the change.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::log::Log;
use super::object::{Collection, Event, EventKind, Key, Stored};
use super::{Expired, Limits, Snapshot};

/// Every object and the window of history.
#[derive(Default)]
pub(super) struct State {
    revision: u64,
    /// The revision at which the history began when the store was opened.
    opened_floor: u64,
    collections: HashMap<Collection, Topic>,
    history: Log,
}

/// The objects of one collection, and its part of the history.
#[derive(Default)]
struct Topic {
    objects: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<Stored>>>,
    log: Log,
}

/// Reading
impl State {
    /// Returns the newest revision.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the current state of an object.
    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.collections
            .get(&key.collection)?
            .objects
            .get(&key.namespace)?
            .get(&key.name)
    }

    /// Returns the objects of a collection, or of one namespace in it.
    pub(super) fn list(&self, collection: &Collection, namespace: Option<&str>) -> Snapshot {
        let items = self.objects(collection, namespace).map(Stored::lend);
        Snapshot {
            revision: self.revision,
            items: items.collect(),
        }
    }

    /// Returns what [`Self::list`] returned when `revision` was the newest one.
    pub(super) fn list_at(
        &self,
        collection: &Collection,
        namespace: Option<&str>,
        revision: u64,
    ) -> Result<Snapshot, Expired> {
        let mut objects: BTreeMap<(&str, &str), &Arc<Stored>> = self
            .objects(collection, namespace)
            .map(|stored| ((&*stored.key.namespace, &*stored.key.name), stored))
            .collect();
        if let Some(topic) = self.collections.get(collection) {
            for event in topic.log.after(revision)?.rev() {
                let key = &event.current.key;
                if namespace.is_some_and(|namespace| namespace != &*key.namespace) {
                    continue;
                }
                match &event.previous {
                    Some(previous) => objects.insert((&key.namespace, &key.name), previous),
                    None => objects.remove(&(&*key.namespace, &*key.name)),
                };
            }
        }
        Ok(Snapshot {
            revision,
            items: objects.into_values().map(Stored::lend).collect(),
        })
    }

    /// Returns every object in a namespace.
    pub(super) fn contents(&self, namespace: &str) -> impl Iterator<Item = &Arc<Stored>> {
        let topics = self.collections.values();
        topics
            .filter_map(move |topic| topic.objects.get(namespace))
            .flat_map(BTreeMap::values)
    }

    /// Returns every object there is.
    pub(super) fn everything(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.collections
            .values()
            .flat_map(|topic| topic.objects.values())
            .flat_map(BTreeMap::values)
    }

    /// Returns the history of all collections together.
    pub(super) fn history(&self) -> &Log {
        &self.history
    }

    /// Returns the history of one collection, or of all of them. It is `None` before
    /// [`Self::ensure`].
    pub(super) fn log(&self, collection: Option<&Collection>) -> Option<&Log> {
        match collection {
            Some(collection) => self.collections.get(collection).map(|topic| &topic.log),
            None => Some(&self.history),
        }
    }

    /// Returns how many events are kept, and how many bytes of text they hold.
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.history.len(), self.history.bytes())
    }

    fn objects(
        &self,
        collection: &Collection,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &Arc<Stored>> {
        let objects = self.collections.get(collection).map(|topic| &topic.objects);
        let bound = namespace.map_or(Bound::Unbounded, Bound::Included);
        let chosen = objects
            .into_iter()
            .flat_map(move |objects| objects.range::<str, _>((bound, bound)));
        chosen.flat_map(|(_, objects)| objects.values())
    }
}

/// Changing
impl State {
    /// Starts with nothing, the history having been forgotten up to `floor`.
    pub(super) fn at(floor: u64) -> Self {
        let history = Log::at(floor);
        Self {
            revision: floor,
            opened_floor: floor,
            history,
            ..Self::default()
        }
    }

    /// Makes room for a collection, so that it can be watched before it has any object.
    pub(super) fn ensure(&mut self, collection: &Collection) -> &Log {
        &self.topic(collection).log
    }

    /// Puts an object whose event has left the history.
    pub(super) fn restore(&mut self, stored: Arc<Stored>) {
        let key = stored.key.clone();
        self.topic(&key.collection).put(&key, stored);
    }

    /// Takes in the next event.
    pub(super) fn apply(&mut self, event: Event) {
        self.revision = event.revision();
        let key = event.current.key.clone();
        let topic = self.topic(&key.collection);
        match event.kind {
            EventKind::Added | EventKind::Modified => topic.put(&key, Arc::clone(&event.current)),
            EventKind::Deleted => topic.remove(&key),
        }
        if let Some(old) = topic.log.push(event.clone()) {
            topic.keep_as_text(&old);
        }
        self.history.push(event);
    }

    /// Returns the revision up to which history should be forgotten to meet `limits`. It is
    /// somewhat more than needed, so that this happens seldom and in one go.
    pub(super) fn excess(&self, limits: &Limits) -> Option<u64> {
        let (events, bytes) = self.kept();
        if events <= limits.events && bytes <= limits.bytes {
            return None;
        }
        let (most_events, most_bytes) = (
            limits.events - limits.events / 16,
            limits.bytes - limits.bytes / 16,
        );
        Some(self.history.floor_for(most_events, most_bytes))
    }

    /// Forgets the history up to and including `floor`.
    pub(super) fn forget(&mut self, floor: u64) {
        while self.history.oldest().is_some_and(|oldest| oldest <= floor) {
            let Some(event) = self.history.pop() else {
                break;
            };
            self.topic(&event.current.key.collection).log.pop();
        }
    }

    /// Wakes the watchers of `collections`.
    pub(super) fn announce<'a>(&self, collections: impl Iterator<Item = &'a Collection>) {
        for topic in collections.filter_map(|collection| self.collections.get(collection)) {
            topic.log.announce();
        }
        self.history.announce();
    }

    fn topic(&mut self, collection: &Collection) -> &mut Topic {
        if !self.collections.contains_key(collection) {
            // After a restart it is not known which collections the forgotten events were of, so
            // each starts with the floor the whole history had when it was loaded.
            let log = Log::at(self.opened_floor);
            self.collections.insert(
                collection.clone(),
                Topic {
                    log,
                    ..Topic::default()
                },
            );
        }
        self.collections
            .get_mut(collection)
            .expect("it was just inserted")
    }
}

impl Topic {
    fn put(&mut self, key: &Key, stored: Arc<Stored>) {
        let namespace = self.objects.entry(Arc::clone(&key.namespace)).or_default();
        namespace.insert(Arc::clone(&key.name), stored);
    }

    /// Keeps an object as text if it is still in the state that was made then.
    fn keep_as_text(&mut self, then: &Arc<Stored>) {
        let namespace = self.objects.get_mut(&then.key.namespace);
        let now = namespace.and_then(|namespace| namespace.get_mut(&then.key.name));
        if let Some(now) = now.filter(|now| now.revision == then.revision) {
            *now = Arc::clone(then);
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(namespace) = self.objects.get_mut(&key.namespace) {
            namespace.remove(&key.name);
            if namespace.is_empty() {
                self.objects.remove(&key.namespace);
            }
        }
    }
}
