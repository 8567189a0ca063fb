//! The graph of owners and dependents, kept up to date from events.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::store::{Event, EventKind, Key, Stored};

/// The dependents of every owner, by the owner's uid.
#[derive(Default)]
pub(super) struct Graph {
    dependents: HashMap<Arc<str>, BTreeSet<Key>>,
    keys: HashMap<Arc<str>, Key>,
}

impl Graph {
    /// Takes in an object that exists.
    pub(super) fn add(&mut self, stored: &Stored) {
        self.keys.insert(stored.uid().into(), stored.key.clone());
        for owner in owners(stored.object()) {
            let uid = uid(owner).into();
            self.dependents
                .entry(uid)
                .or_default()
                .insert(stored.key.clone());
        }
    }

    /// Takes in an event and returns the objects it may be time to do something about: the object
    /// itself, its dependents if it is gone, and the owners it does not depend on any more or
    /// holds up in another way than before.
    pub(super) fn observe(&mut self, event: &Event) -> Vec<Key> {
        let Event {
            kind,
            current,
            previous,
        } = event;
        if let Some(previous) = previous {
            self.remove(previous);
        }
        if *kind == EventKind::Deleted {
            let dependents = self.dependents.get(current.uid()).into_iter().flatten();
            return dependents
                .cloned()
                .chain(self.owner_keys(current))
                .collect();
        }
        self.add(current);
        let mut affected = vec![current.key.clone()];
        if let Some(previous) = previous
            && !owners(previous.object()).eq(owners(current.object()))
        {
            affected.extend(self.owner_keys(previous));
        }
        affected
    }

    /// Returns the dependents of the object with this uid.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Key> {
        self.dependents.get(uid).into_iter().flatten()
    }

    fn remove(&mut self, stored: &Stored) {
        self.keys.remove(stored.uid());
        for owner in owners(stored.object()) {
            if let Some(dependents) = self.dependents.get_mut(uid(owner)) {
                dependents.remove(&stored.key);
                if dependents.is_empty() {
                    self.dependents.remove(uid(owner));
                }
            }
        }
    }

    fn owner_keys(&self, stored: &Stored) -> Vec<Key> {
        owners(stored.object())
            .filter_map(|owner| self.keys.get(uid(owner)).cloned())
            .collect()
    }
}

/// Returns the owner references of an object.
pub(super) fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"]
        .as_array()
        .into_iter()
        .flatten()
}

/// Returns the uid in an owner reference.
pub(super) fn uid(owner: &Value) -> &str {
    owner["uid"].as_str().unwrap_or_default()
}
