//! The objects of one kind that is looked at, as the cluster last showed them.

use std::collections::HashMap;
use std::sync::Arc;

use kube::api::DynamicObject;
use kube::runtime::watcher::Event;
use parking_lot::RwLock;
use serde_json::Value;

use crate::packed::Packed;
use crate::queue::Key;

/// Holds the objects that a watch delivers. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Objects {
    state: Arc<RwLock<State>>,
}

#[derive(Default)]
struct State {
    known: HashMap<Key, Item>,
    /// What a listing that has not ended yet delivered so far.
    listing: HashMap<Key, Item>,
    /// Whether a listing has ever ended.
    is_listed: bool,
}

struct Item {
    object: Packed<DynamicObject>,
    /// The repository that it follows, found without unpacking all objects.
    repository: Option<Arc<str>>,
}

impl Item {
    fn new(object: &DynamicObject) -> Self {
        let repository = object.data.pointer("/spec/source/git/url");
        Self {
            repository: repository.and_then(Value::as_str).map(Arc::from),
            object: Packed::new(object),
        }
    }
}

impl Objects {
    /// Returns an object.
    pub(crate) fn get(&self, key: &Key) -> Option<DynamicObject> {
        let state = self.state.read();
        state.known.get(key).map(|item| item.object.unpack())
    }

    /// Tells whether all objects are known: before that, one that is not known need not be gone.
    pub(crate) fn is_listed(&self) -> bool {
        self.state.read().is_listed
    }

    /// Returns the names of all objects.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.state.read().known.keys().cloned().collect()
    }

    /// Returns the objects that follow a git repository, with its address.
    pub(crate) fn repositories(&self) -> Vec<(Key, Arc<str>)> {
        let state = self.state.read();
        let items = state.known.iter();
        items
            .filter_map(|(key, item)| Some((key.clone(), item.repository.clone()?)))
            .collect()
    }

    /// Takes in what the watch delivers.
    pub(crate) fn observe(&self, event: Event<DynamicObject>) {
        match event {
            Event::Apply(object) => {
                let (key, item) = (key_of(&object), Item::new(&object));
                self.state.write().known.insert(key, item);
            }
            Event::Delete(object) => {
                self.state.write().known.remove(&key_of(&object));
            }
            Event::Init => self.state.write().listing.clear(),
            Event::InitApply(object) => {
                let (key, item) = (key_of(&object), Item::new(&object));
                self.state.write().listing.insert(key, item);
            }
            Event::InitDone => {
                let mut state = self.state.write();
                state.known = std::mem::take(&mut state.listing);
                state.is_listed = true;
            }
        }
    }
}

/// Returns how a queue names an object.
pub(crate) fn key_of(object: &DynamicObject) -> Key {
    let metadata = &object.metadata;
    Key {
        namespace: metadata.namespace.clone().unwrap_or_default(),
        name: metadata.name.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str, url: Option<&str>) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "Deliverable",
            "metadata": {"namespace": "dev", "name": name},
            "spec": {"source": {"git": {"url": url}}},
        }))
        .expect("the test wrote a valid object")
    }

    fn names(objects: &Objects) -> Vec<String> {
        let mut names: Vec<String> = objects.keys().into_iter().map(|key| key.name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_listing_counts_when_it_has_ended() {
        let objects = Objects::default();
        objects.observe(Event::Apply(object("old", None)));
        objects.observe(Event::Init);
        objects.observe(Event::InitApply(object("new", None)));
        assert_eq!(names(&objects), ["old"]);
        assert!(!objects.is_listed());
        objects.observe(Event::InitDone);
        assert!(objects.is_listed());
        assert_eq!(names(&objects), ["new"]);
        objects.observe(Event::Delete(object("new", None)));
        assert!(objects.get(&Key::new("dev", "new")).is_none());
    }

    #[test]
    fn repositories_are_found_as_they_are_now() {
        let objects = Objects::default();
        objects.observe(Event::Apply(object("one", Some("https://git/a"))));
        objects.observe(Event::Apply(object("two", None)));
        objects.observe(Event::Apply(object("one", Some("https://git/b"))));
        let found = objects.repositories();
        assert_eq!(found, [(Key::new("dev", "one"), "https://git/b".into())]);
    }
}
