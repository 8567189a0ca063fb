//! The objects that a watch delivered, read once and kept by name.

mod contents;

use std::sync::Arc;

use futures::Stream;
use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::runtime::watcher;
use parking_lot::RwLock;
use pathline_workers::explain;
use tokio::sync::watch;

use crate::runtime::queue::Key;
use crate::runtime::reflector::{Reflect, reflect};
use contents::{Contents, Entry, ObjectState};

/// Holds all objects of one kind that a watch delivers, each read into a `T`, by name and by the uid of their
/// controller; the namespace of what is cluster-wide is empty.
///
/// It follows the watch, and our own writes: what the server answered to a write is newer than what the watch has
/// delivered so far.
pub(crate) struct Store<T> {
    contents: RwLock<Contents<T>>,
    is_filled: watch::Sender<bool>,
}

/// An object as a store keeps it.
pub(crate) trait Item {
    /// Takes over what is known from the state of the same object before this one, with no state missed in between.
    fn succeed(&mut self, _before: &Self) {}
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self {
            contents: RwLock::default(),
            is_filled: watch::Sender::new(false),
        }
    }
}

impl<T: Item> Store<T> {
    /// Returns the object of this name.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.contents.read().get(key).cloned()
    }

    /// Returns all objects, by name.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let contents = self.contents.read();
        let entries = contents.by_key.values();
        entries.map(|entry| entry.item.clone()).collect()
    }

    /// Returns every object whose controller has this uid, by name.
    pub(crate) fn controlled_by(&self, uid: &str) -> Vec<Arc<T>> {
        self.contents.read().controlled_by(uid)
    }

    /// Returns the names of all objects.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.contents.read().by_key.keys().cloned().collect()
    }

    /// Returns what `pick` finds in the objects, with their names.
    pub(crate) fn pick<P>(&self, pick: impl Fn(&T) -> Option<P>) -> Vec<(Key, P)> {
        let contents = self.contents.read();
        let entries = contents.by_key.iter();
        let picked = entries.map(|(key, entry)| (key, pick(&entry.item)));
        picked
            .filter_map(|(key, picked)| Some((key.clone(), picked?)))
            .collect()
    }

    /// Tells whether the first listing has arrived: before, absence says nothing.
    pub(crate) fn is_filled(&self) -> bool {
        *self.is_filled.borrow()
    }

    /// Waits until the first listing has arrived.
    pub(crate) async fn filled(&self) {
        let mut is_filled = self.is_filled.subscribe();
        // The sender lives as long as the store.
        let _ = is_filled.wait_for(|filled| *filled).await;
    }

    /// Keeps the store as the events of a watch say, until they end; `kind` is for logs.
    ///
    /// `read` turns an object into what is kept; `touched` gets the name, the old and the new item. By
    /// then the store has the new one: whoever wakes up must see what woke it.
    pub(crate) async fn follow(
        &self,
        kind: &str,
        events: impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>>,
        read: impl Fn(DynamicObject) -> T,
        touched: impl Fn(&Key, Option<&T>, Option<&T>),
    ) {
        let keeper = Keeper {
            store: self,
            kind,
            read,
            touched,
        };
        reflect(events, keeper).await;
    }

    /// Takes in what the server answered to a write of ours.
    pub(crate) fn wrote(&self, object: DynamicObject, read: impl Fn(DynamicObject) -> T) {
        self.put(&key_of(&object), object, read);
    }

    /// Keeps an object unless it is known. Returns the item before it, and the one that is there now.
    fn put(
        &self,
        key: &Key,
        object: DynamicObject,
        read: impl Fn(DynamicObject) -> T,
    ) -> (Option<Arc<T>>, Option<Arc<T>>) {
        let state = ObjectState::of(&object);
        let contents = self.contents.read();
        // Most answers come twice: to the write, and by the watch.
        if contents.knows(key, &state) {
            let known = contents.get(key).cloned();
            return (known.clone(), known);
        }
        drop(contents);
        let item = read(object);
        self.contents.write().put(key, state, item)
    }
}

/// Keeps a store as a watch says.
struct Keeper<'s, T, R, C> {
    store: &'s Store<T>,
    kind: &'s str,
    read: R,
    touched: C,
}

impl<T, R, C> Reflect for Keeper<'_, T, R, C>
where
    T: Item,
    R: Fn(DynamicObject) -> T,
    C: Fn(&Key, Option<&T>, Option<&T>),
{
    type Listing = Vec<(Key, Entry<T>)>;

    fn begin(&self) -> Self::Listing {
        Vec::new()
    }

    fn list(&self, listing: &mut Self::Listing, object: DynamicObject) {
        let (key, state) = (key_of(&object), ObjectState::of(&object));
        let item = Arc::new((self.read)(object));
        listing.push((key, Entry { state, item }));
    }

    fn listed(&self, listing: Self::Listing) {
        let items = listing.iter();
        let items = items.map(|(key, entry)| (key.clone(), entry.item.clone()));
        let items: Vec<(Key, Arc<T>)> = items.collect();
        let mut before = self.store.contents.write().replace(listing);
        for (key, item) in &items {
            let old = before.remove(key).map(|entry| entry.item);
            (self.touched)(key, old.as_deref(), Some(item));
        }
        for (key, entry) in &before {
            (self.touched)(key, Some(&entry.item), None);
        }
        self.store.is_filled.send_replace(true);
    }

    fn applied(&self, object: DynamicObject) {
        let key = key_of(&object);
        let (old, new) = self.store.put(&key, object, &self.read);
        (self.touched)(&key, old.as_deref(), new.as_deref());
    }

    fn deleted(&self, object: DynamicObject) {
        let (key, state) = (key_of(&object), ObjectState::of(&object));
        let removed = self.store.contents.write().remove(&key, state);
        let old = removed.unwrap_or_else(|| Arc::new((self.read)(object)));
        let new = self.store.get(&key);
        (self.touched)(&key, Some(&old), new.as_deref());
    }

    fn failed(&self, error: &watcher::Error) {
        let (kind, error) = (self.kind, explain(error));
        tracing::warn!(kind, error, "a watch failed; it is tried again");
    }
}

/// Returns the name of an object, as queues and stores have it.
pub(crate) fn key_of(object: &DynamicObject) -> Key {
    Key {
        namespace: object.namespace().unwrap_or_default(),
        name: object.metadata.name.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
