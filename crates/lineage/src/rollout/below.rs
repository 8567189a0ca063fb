//! What lies below a stamped object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::object::Object;
use super::pods::{Group, Pods};

/// What lies below a stamped object: the object itself, what it controls, and so on down to pods.
///
/// Feed it with objects in any order; of each object the newest state counts. Of pods only counts
/// are kept.
#[derive(Clone, Debug, Default)]
pub struct Below {
    objects: BTreeMap<String, Object>,
    pods: Pods,
}

impl Below {
    /// Takes an object into account as it is now; one that is not there any more is [`Below::gone`].
    pub fn seen(&mut self, object: &Value) {
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        let Some(uid) = uid else {
            return;
        };
        if object["kind"] == "Pod" {
            self.pods.seen(uid, object);
        } else {
            self.objects.insert(uid.to_owned(), Object::read(object));
        }
    }

    /// Takes note that an object is gone.
    pub fn gone(&mut self, uid: &str) {
        self.objects.remove(uid);
        self.pods.gone(uid);
    }

    /// Puts what a new listing of a kind found in the place of what was known of that kind.
    pub fn replace(&mut self, kind: &str, fresh: Self) {
        if kind == "Pod" {
            self.pods = fresh.pods;
            return;
        }
        self.objects.retain(|_, object| object.kind != kind);
        self.objects.extend(fresh.objects);
    }

    /// Returns about how many bytes are kept for pods.
    pub fn kept_bytes(&self) -> usize {
        self.pods.kept_bytes()
    }

    /// Returns an object that is not a pod.
    pub fn get(&self, uid: &str) -> Option<&Object> {
        self.objects.get(uid)
    }

    /// Returns the objects that an object controls; pods are not among them.
    pub(super) fn controlled_by(&self, uid: &str) -> impl Iterator<Item = &Object> {
        let objects = self.objects.values();
        objects.filter(move |it| it.controller.as_deref() == Some(uid))
    }

    /// Returns an object by what an inventory calls it.
    pub(super) fn find(
        &self,
        group: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Option<&Object> {
        self.objects.values().find(|it| {
            it.group == group && it.kind == kind && it.namespace == namespace && it.name == name
        })
    }

    /// Returns the pods of one controller.
    pub(super) fn pods_of(&self, controller: &str) -> Vec<&Group> {
        let groups = self.pods.groups();
        groups.filter(|it| it.controller == controller).collect()
    }

    pub(super) fn pods(&self) -> &Pods {
        &self.pods
    }

    /// Returns the pods of everything that an object controls, however far below.
    pub(super) fn pods_below(&self, uid: &str) -> Vec<&Group> {
        let mut below = BTreeSet::from([uid]);
        let mut next = vec![uid];
        while let Some(uid) = next.pop() {
            for object in self.controlled_by(uid) {
                // Owner references may lead in a circle.
                if below.insert(&object.uid) {
                    next.push(&object.uid);
                }
            }
        }
        let groups = self.pods.groups();
        groups
            .filter(|it| below.contains(it.controller.as_str()))
            .collect()
    }
}
