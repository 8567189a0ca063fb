//! What a watch delivered, read once and kept by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::runtime::watcher;
use parking_lot::RwLock;
use tokio::sync::watch;

/// Holds all objects of one cluster-wide kind, each read into a `T`.
pub(crate) struct Shelf<T> {
    items: RwLock<BTreeMap<String, Arc<T>>>,
    is_filled: watch::Sender<bool>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            items: RwLock::default(),
            is_filled: watch::Sender::new(false),
        }
    }
}

impl<T> Shelf<T> {
    /// Returns the object of this name.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<T>> {
        self.items.read().get(name).cloned()
    }

    /// Returns all objects, by name.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.items.read().values().cloned().collect()
    }

    /// Waits until the first listing has arrived: before, absence says nothing.
    pub(crate) async fn filled(&self) {
        let mut is_filled = self.is_filled.subscribe();
        // The sender lives as long as the shelf.
        let _ = is_filled.wait_for(|filled| *filled).await;
    }

    /// Keeps the shelf as the events of a watch say, until they end.
    ///
    /// `read` turns an object into what is kept; `touched` is told the name, the old and the new item.
    pub(crate) async fn follow(
        &self,
        events: impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>>,
        read: impl Fn(DynamicObject) -> T,
        touched: impl Fn(&str, Option<&T>, Option<&T>),
    ) {
        let mut events = std::pin::pin!(events);
        let mut listing = BTreeMap::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Apply(object)) => {
                    let (name, item) = (object.name_any(), Arc::new(read(object)));
                    let old = self.items.write().insert(name.clone(), item.clone());
                    touched(&name, old.as_deref(), Some(&item));
                }
                Ok(watcher::Event::Delete(object)) => {
                    let name = object.name_any();
                    let old = self.items.write().remove(&name);
                    touched(&name, old.as_deref(), None);
                }
                Ok(watcher::Event::Init) => listing.clear(),
                Ok(watcher::Event::InitApply(object)) => {
                    listing.insert(object.name_any(), Arc::new(read(object)));
                }
                Ok(watcher::Event::InitDone) => {
                    self.replace(std::mem::take(&mut listing), &touched);
                    self.is_filled.send_replace(true);
                }
                Err(error) => tracing::warn!(%error, "a watch failed; it is tried again"),
            }
        }
    }

    fn replace(
        &self,
        listing: BTreeMap<String, Arc<T>>,
        touched: &impl Fn(&str, Option<&T>, Option<&T>),
    ) {
        let old = std::mem::replace(&mut *self.items.write(), listing);
        let listing = self.items.read().clone();
        for (name, item) in &listing {
            touched(name, old.get(name).map(AsRef::as_ref), Some(item));
        }
        for (name, item) in old.iter().filter(|(name, _)| !listing.contains_key(*name)) {
            touched(name, Some(item), None);
        }
    }
}
