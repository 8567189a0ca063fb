//! The contents of a store: items by name, and the names by controller.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use kube::ResourceExt;
use kube::api::DynamicObject;

use super::Item;
use crate::runtime::queue::Key;

/// The number of ends that are remembered; answers are seconds late at most.
const MAX_ENDED: usize = 256;

/// The items of a store.
pub(super) struct Contents<T> {
    pub(super) by_key: BTreeMap<Key, Entry<T>>,
    by_controller: HashMap<String, BTreeSet<Key>>,
    /// The uids that ended last: the answer to a write may arrive after the end of what was written.
    ended: VecDeque<String>,
}

/// An item, and the state of the object that it was read from.
pub(super) struct Entry<T> {
    pub(super) state: ObjectState,
    pub(super) item: Arc<T>,
}

/// A state of an object, told from others.
pub(super) struct ObjectState {
    uid: String,
    version: Option<u64>,
    /// The uid of the object that controls it.
    controller: Option<String>,
}

impl ObjectState {
    pub(super) fn of(object: &DynamicObject) -> Self {
        let mut owners = object.owner_references().iter();
        let controller = owners.find(|reference| reference.controller == Some(true));
        Self {
            uid: object.uid().unwrap_or_default(),
            version: object.resource_version().and_then(|it| it.parse().ok()),
            controller: controller.map(|it| it.uid.clone()),
        }
    }
}

impl<T> Default for Contents<T> {
    fn default() -> Self {
        Self {
            by_key: BTreeMap::new(),
            by_controller: HashMap::new(),
            ended: VecDeque::new(),
        }
    }
}

impl<T: Item> Contents<T> {
    pub(super) fn get(&self, key: &Key) -> Option<&Arc<T>> {
        self.by_key.get(key).map(|entry| &entry.item)
    }

    /// Returns the items of the objects that the object of a uid controls, by name.
    pub(super) fn controlled_by(&self, uid: &str) -> Vec<Arc<T>> {
        let keys = self.by_controller.get(uid).into_iter().flatten();
        keys.filter_map(|key| self.get(key).cloned()).collect()
    }

    /// Tells whether an object has ended, or this state of it or a newer one is here already.
    pub(super) fn knows(&self, key: &Key, state: &ObjectState) -> bool {
        let known = self.by_key.get(key).map(|entry| &entry.state);
        let known = known.filter(|known| known.uid == state.uid);
        let is_old = known.is_some_and(|it| state.version.is_some() && state.version <= it.version);
        is_old || self.ended.contains(&state.uid)
    }

    /// Keeps an item unless its object is known. Returns the item before it, and the one that is there now.
    pub(super) fn put(
        &mut self,
        key: &Key,
        state: ObjectState,
        mut item: T,
    ) -> (Option<Arc<T>>, Option<Arc<T>>) {
        if self.knows(key, &state) {
            let known = self.get(key).cloned();
            return (known.clone(), known);
        }
        let before = self.by_key.get(key);
        if let Some(before) = before.filter(|before| before.state.uid == state.uid) {
            item.succeed(&before.item);
        }
        let item = Arc::new(item);
        let before = self.unlink(key);
        self.link(
            key.clone(),
            Entry {
                state,
                item: item.clone(),
            },
        );
        (before.map(|entry| entry.item), Some(item))
    }

    /// Drops the item of an object, but not that of another one that was made under its name since.
    pub(super) fn remove(&mut self, key: &Key, state: ObjectState) -> Option<Arc<T>> {
        let known = self.by_key.get(key).map(|entry| &entry.state);
        let is_it = known.is_some_and(|known| known.uid == state.uid);
        let removed = is_it.then(|| self.unlink(key)).flatten();
        if !state.uid.is_empty() {
            if self.ended.len() == MAX_ENDED {
                self.ended.pop_front();
            }
            self.ended.push_back(state.uid);
        }
        removed.map(|entry| entry.item)
    }

    /// Puts the items of a listing in the place of all. Returns those that were there before.
    pub(super) fn replace(&mut self, listing: Vec<(Key, Entry<T>)>) -> BTreeMap<Key, Entry<T>> {
        let before = std::mem::take(&mut self.by_key);
        self.by_controller.clear();
        for (key, entry) in listing {
            self.unlink(&key);
            self.link(key, entry);
        }
        // What is listed is there, whatever ended before the listing.
        let listed = self.by_key.values().map(|it| it.state.uid.as_str());
        let listed: HashSet<&str> = listed.collect();
        self.ended.retain(|uid| !listed.contains(uid.as_str()));
        before
    }

    fn link(&mut self, key: Key, entry: Entry<T>) {
        if let Some(uid) = &entry.state.controller {
            let keys = self.by_controller.entry(uid.clone()).or_default();
            keys.insert(key.clone());
        }
        self.by_key.insert(key, entry);
    }

    fn unlink(&mut self, key: &Key) -> Option<Entry<T>> {
        let entry = self.by_key.remove(key)?;
        if let Some(uid) = &entry.state.controller
            && let Some(keys) = self.by_controller.get_mut(uid)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.by_controller.remove(uid);
            }
        }
        Some(entry)
    }
}
