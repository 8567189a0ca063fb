//! The contents of the store: keys, objects and the events that changed them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::Value;

/// Names a kind of object independently of the version it is served in, such as
/// `apps/deployments`. The core group is the empty string.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Collection {
    /// The API group, empty for the core group.
    pub(crate) group: Arc<str>,
    /// The plural, lower-case resource name.
    pub(crate) resource: Arc<str>,
}

impl Collection {
    /// Names the collection `resource` of `group`.
    pub(crate) fn new(group: &str, resource: &str) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.resource)
        } else {
            write!(f, "{}.{}", self.resource, self.group)
        }
    }
}

/// Names one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The collection the object is in.
    pub(crate) collection: Collection,
    /// The namespace, empty for a cluster-scoped object.
    pub(crate) namespace: Arc<str>,
    /// The object's name.
    pub(crate) name: Arc<str>,
}

impl Key {
    /// Names `name` of `collection`, in `namespace` or, if that is empty, in the whole cluster.
    pub(crate) fn new(collection: &Collection, namespace: &str, name: &str) -> Self {
        Self {
            collection: collection.clone(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{} {}", self.collection, self.name)
        } else {
            write!(f, "{} {}/{}", self.collection, self.namespace, self.name)
        }
    }
}

/// One state of one object, shared by readers, history and watchers.
pub(crate) struct Stored {
    /// The object's name.
    pub(crate) key: Key,
    /// The revision that made this state; also in `metadata.resourceVersion`.
    pub(crate) revision: u64,
    /// The object as it is served, as JSON text.
    pub(crate) body: Bytes,
    /// The same, parsed. That takes about ten times the memory, so it is only there if somebody asked
    /// or the state is new.
    object: OnceLock<Value>,
}

impl Stored {
    /// Stamps `object` with `revision` and encodes it.
    pub(crate) fn new(key: Key, revision: u64, mut object: Value) -> Self {
        object["metadata"]["resourceVersion"] = Value::String(revision.to_string());
        let body = serde_json::to_vec(&object)
            .expect("a JSON value has only string keys")
            // The room that is left at the end would be kept as long as the text.
            .into_boxed_slice()
            .into();
        Self {
            key,
            revision,
            body,
            object: OnceLock::from(object),
        }
    }

    /// Takes a state from its text, or refuses one that is not JSON.
    pub(super) fn read(key: Key, revision: u64, body: Bytes) -> serde_json::Result<Self> {
        serde_json::from_slice::<Value>(&body)?;
        Ok(Self {
            key,
            revision,
            body,
            object: OnceLock::new(),
        })
    }

    /// Returns the object as it is served.
    pub(crate) fn object(&self) -> &Value {
        let parse = || serde_json::from_slice(&self.body).expect("it was printed from an object");
        self.object.get_or_init(parse)
    }

    /// Returns the same state with nothing but the text.
    pub(super) fn as_text(&self) -> Arc<Self> {
        Arc::new(Self {
            key: self.key.clone(),
            revision: self.revision,
            body: self.body.clone(),
            object: OnceLock::new(),
        })
    }

    /// Hands this state out. One that is kept as text is copied: it stays text, whoever asks the copy for
    /// its object.
    pub(super) fn lend(self: &Arc<Self>) -> Arc<Self> {
        if self.object.get().is_some() {
            Arc::clone(self)
        } else {
            self.as_text()
        }
    }

    /// Returns `metadata.uid`, or an empty string.
    pub(crate) fn uid(&self) -> &str {
        self.object()["metadata"]["uid"]
            .as_str()
            .unwrap_or_default()
    }
}

impl fmt::Debug for Stored {
    /// Leaves the content out: it may be a Secret's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at revision {}", self.key, self.revision)
    }
}

/// The effect of an event on its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// The object did not exist before.
    Added,
    /// The object existed before and still does.
    Modified,
    /// The object is gone; `current` is its last state.
    Deleted,
}

/// One revision: the change of one object.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The effect.
    pub(crate) kind: EventKind,
    /// The state after the change; for a deletion the last state, stamped with this revision.
    pub(crate) current: Arc<Stored>,
    /// The state before the change; absent only for `Added`.
    pub(crate) previous: Option<Arc<Stored>>,
}

impl Event {
    /// Returns the revision of this change.
    pub(crate) fn revision(&self) -> u64 {
        self.current.revision
    }

    /// Returns the event for somebody who may parse its states.
    pub(super) fn lend(&self) -> Self {
        Self {
            kind: self.kind,
            current: self.current.lend(),
            previous: self.previous.as_ref().map(Stored::lend),
        }
    }

    /// Returns how much text this event keeps in memory.
    pub(super) fn bytes(&self) -> usize {
        self.current.body.len() + self.previous.as_ref().map_or(0, |stored| stored.body.len())
    }
}
