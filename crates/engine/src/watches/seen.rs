//! The stamped objects of one kind, as the cluster last showed them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::runtime::watcher::Event;
use parking_lot::RwLock;
use pathline_lineage::rollout;
use serde_json::Value;
use tokio::sync::watch;

use crate::packed::Packed;

/// Namespace and name.
type Key = (String, String);

/// Holds objects by name and by the uid of their controller.
///
/// It follows a watch, and our own writes: what the server answered to a write is newer than what
/// the watch has delivered so far.
pub(crate) struct Seen {
    objects: RwLock<Objects>,
    is_filled: watch::Sender<bool>,
}

#[derive(Default)]
struct Objects {
    by_key: HashMap<Key, Item>,
    by_controller: BTreeMap<String, BTreeSet<Key>>,
    listing: Vec<(Key, Item)>,
    /// What was stamped as the cluster wrote it, where that differs; by what was stamped.
    normal: HashMap<Key, (String, Packed<Value>)>,
    /// The uids that ended last: the answer to a write may arrive after the end of what was written.
    ended: VecDeque<String>,
}

/// An object, and what it is found and judged by.
struct Item {
    uid: String,
    version: Option<u64>,
    /// The uid of the owner that controls it.
    controller: Option<String>,
    /// The version since which its content, as ConfigMaps and Secrets have one, is the same.
    steady_since: Option<u64>,
    object: Packed<DynamicObject>,
}

impl Item {
    fn new(mut object: DynamicObject) -> Self {
        // When a content was written is all that is asked of them.
        let owns_content = |it: &ManagedFieldsEntry| {
            let fields = it.fields_v1.as_ref();
            fields.is_some_and(|it| rollout::owns_content(&it.0))
        };
        object.managed_fields_mut().retain(owns_content);
        Self {
            uid: object.uid().unwrap_or_default(),
            version: version(&object),
            steady_since: version(&object).filter(|_| has_content(&object)),
            controller: controller(&object).map(str::to_owned),
            object: Packed::new(&object),
        }
    }
}

/// The fields with content of ConfigMaps and Secrets.
const CONTENT: [&str; 2] = ["data", "binaryData"];

impl Item {
    /// Takes over from what was seen before it, without a gap, since when the content is the same.
    fn follow(&mut self, before: &Self) {
        let have_content = self.steady_since.is_some() && before.steady_since.is_some();
        if self.uid != before.uid || !have_content {
            return;
        }
        let (now, before_it) = (self.object.unpack(), before.object.unpack());
        let mut content = CONTENT.iter();
        if content.all(|it| now.data.get(*it) == before_it.data.get(*it)) {
            self.steady_since = before.steady_since;
        }
    }
}

fn has_content(object: &DynamicObject) -> bool {
    CONTENT.iter().any(|it| object.data.get(*it).is_some())
}

/// How many ends are remembered; answers are seconds late at most.
const MOST_ENDED: usize = 256;

impl Default for Seen {
    fn default() -> Self {
        Self {
            objects: RwLock::default(),
            is_filled: watch::Sender::new(false),
        }
    }
}

impl Seen {
    /// Waits until everything there was at the start is known.
    pub(crate) async fn filled(&self) {
        // The sender lives as long as the store.
        let _ = self.is_filled.subscribe().wait_for(|filled| *filled).await;
    }

    /// Returns an object by its name.
    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<DynamicObject> {
        let key = (namespace.to_owned(), name.to_owned());
        let objects = self.objects.read();
        objects.by_key.get(&key).map(|item| item.object.unpack())
    }

    /// Returns the version since which the content of an object is known to be the same, up to this
    /// version of it.
    pub(crate) fn steady_since(&self, namespace: &str, name: &str, version: u64) -> Option<u64> {
        let key = (namespace.to_owned(), name.to_owned());
        let objects = self.objects.read();
        let item = objects.by_key.get(&key)?;
        item.steady_since.filter(|_| item.version == Some(version))
    }

    /// Returns every object whose controller has this uid, by name.
    pub(crate) fn controlled_by(&self, uid: &str) -> Vec<DynamicObject> {
        let objects = self.objects.read();
        let keys = objects.by_controller.get(uid).into_iter().flatten();
        keys.filter_map(|key| objects.by_key.get(key))
            .map(|item| item.object.unpack())
            .collect()
    }

    /// Takes in what the server answered to a write of ours.
    pub(crate) fn wrote(&self, object: DynamicObject) {
        let key = key(&object);
        let uid = object.uid().unwrap_or_default();
        // Most answers come twice: to the write, and by the watch.
        if self.objects.read().knows(&key, &uid, version(&object)) {
            return;
        }
        let item = Item::new(object);
        self.objects.write().put(key, item);
    }

    /// Remembers how the cluster wrote what was stamped, under the digest of the latter.
    pub(crate) fn normalize(&self, namespace: &str, name: &str, digest: &str, normal: &Value) {
        let key = (namespace.to_owned(), name.to_owned());
        let normal = (digest.to_owned(), Packed::new(normal));
        self.objects.write().normal.insert(key, normal);
    }

    /// Returns how the cluster wrote what was stamped, if it did so its own way.
    pub(crate) fn normal(&self, namespace: &str, name: &str, digest: &str) -> Option<Value> {
        let key = (namespace.to_owned(), name.to_owned());
        let objects = self.objects.read();
        let (known, normal) = objects.normal.get(&key)?;
        (known == digest).then(|| normal.unpack())
    }

    /// Takes in what the watch delivers.
    pub(crate) fn observe(&self, event: Event<DynamicObject>) {
        match event {
            Event::Apply(object) => self.wrote(object),
            Event::Delete(object) => self.objects.write().remove(&object),
            Event::Init => self.objects.write().listing.clear(),
            Event::InitApply(object) => {
                let listed = (key(&object), Item::new(object));
                self.objects.write().listing.push(listed);
            }
            Event::InitDone => {
                self.objects.write().restart();
                self.is_filled.send_replace(true);
            }
        }
    }
}

impl Objects {
    /// Keeps an object unless it is known.
    fn put(&mut self, key: Key, mut item: Item) {
        if self.knows(&key, &item.uid, item.version) {
            return;
        }
        if let Some(before) = self.by_key.get(&key) {
            item.follow(before);
        }
        self.unlink(&key);
        if let Some(uid) = &item.controller {
            self.by_controller
                .entry(uid.clone())
                .or_default()
                .insert(key.clone());
        }
        self.by_key.insert(key, item);
    }

    /// Tells whether an object has ended, or this state of it or a newer one is here already.
    fn knows(&self, key: &Key, uid: &String, version: Option<u64>) -> bool {
        let known = self.by_key.get(key).filter(|known| known.uid == *uid);
        let is_old = known.is_some_and(|known| version.is_some() && version <= known.version);
        is_old || self.ended.contains(uid)
    }

    /// Drops an object, but not another one that was made under its name since.
    fn remove(&mut self, object: &DynamicObject) {
        let key = key(object);
        if self.ended.len() == MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.extend(object.uid());
        if self
            .by_key
            .get(&key)
            .is_some_and(|known| Some(&known.uid) == object.metadata.uid.as_ref())
        {
            self.unlink(&key);
            self.by_key.remove(&key);
            self.normal.remove(&key);
        }
    }

    fn unlink(&mut self, key: &Key) {
        let known = self.by_key.get(key);
        let Some(uid) = known.and_then(|known| known.controller.as_ref()) else {
            return;
        };
        if let Some(keys) = self.by_controller.get_mut(uid) {
            keys.remove(key);
            if keys.is_empty() {
                self.by_controller.remove(uid);
            }
        }
    }

    fn restart(&mut self) {
        let listing = std::mem::take(&mut self.listing);
        self.by_key.clear();
        self.by_controller.clear();
        for (key, item) in listing {
            self.put(key, item);
        }
        let known = &self.by_key;
        self.normal.retain(|key, _| known.contains_key(key));
    }
}

fn key(object: &DynamicObject) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

fn version(object: &DynamicObject) -> Option<u64> {
    object.resource_version()?.parse().ok()
}

/// Returns the uid of the owner that controls an object.
fn controller(object: &DynamicObject) -> Option<&str> {
    let references = object.metadata.owner_references.as_deref()?;
    let controller = references
        .iter()
        .find(|reference| reference.controller == Some(true))?;
    Some(&controller.uid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str, uid: &str, version: u64, owner: &str) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "namespace": "dev",
                "name": name,
                "uid": uid,
                "resourceVersion": version.to_string(),
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "X", "name": "x", "uid": owner, "controller": true},
                ],
            },
        }))
        .expect("the test wrote a valid object")
    }

    fn version(seen: &Seen, name: &str) -> Option<String> {
        seen.get("dev", name)
            .and_then(|object| object.resource_version())
    }

    #[test]
    fn a_watch_that_is_behind_does_not_undo_our_write() {
        let seen = Seen::default();
        seen.observe(Event::Apply(object("a", "1", 5, "o")));
        seen.wrote(object("a", "1", 7, "o"));
        seen.observe(Event::Apply(object("a", "1", 6, "o")));
        assert_eq!(version(&seen, "a").as_deref(), Some("7"));
        seen.observe(Event::Apply(object("a", "1", 8, "o")));
        assert_eq!(version(&seen, "a").as_deref(), Some("8"));
    }

    #[test]
    fn the_end_of_an_object_does_not_end_the_next_of_its_name() {
        let seen = Seen::default();
        seen.wrote(object("a", "2", 9, "o"));
        seen.observe(Event::Delete(object("a", "1", 8, "o")));
        assert_eq!(version(&seen, "a").as_deref(), Some("9"));
        seen.observe(Event::Delete(object("a", "2", 10, "o")));
        assert_eq!(version(&seen, "a"), None);
        seen.wrote(object("a", "2", 9, "o"));
        assert_eq!(
            version(&seen, "a"),
            None,
            "an answer that is late says nothing"
        );
        assert!(seen.controlled_by("o").is_empty());
    }

    #[test]
    fn objects_are_found_by_their_controller() {
        let seen = Seen::default();
        seen.observe(Event::Init);
        seen.observe(Event::InitApply(object("a", "1", 1, "o")));
        seen.observe(Event::InitApply(object("b", "2", 2, "o")));
        assert!(
            seen.controlled_by("o").is_empty(),
            "half a listing says nothing"
        );
        seen.observe(Event::InitDone);
        assert_eq!(seen.controlled_by("o").len(), 2);
        seen.observe(Event::Apply(object("b", "2", 3, "p")));
        assert_eq!(seen.controlled_by("o").len(), 1);
        assert_eq!(seen.controlled_by("p").len(), 1);
        seen.observe(Event::Init);
        seen.observe(Event::InitDone);
        assert!(seen.controlled_by("o").is_empty());
    }
}
