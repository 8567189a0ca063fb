//! Objects below a stamped one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::flux::Reference;
use super::object::Object;
use super::pod::REVISION_LABEL;
use super::pods::{Group, Pods};

/// A stamped object and all below it: what it controls, and so on down to pods.
///
/// All of it lies in one namespace, as owner references do. Feed it with objects in any order; of
/// each object the newest state counts. Of pods only counts are kept, by controller, by what they run,
/// and by the labels that are asked for.
#[derive(Clone, Debug, Default)]
pub struct Below {
    objects: BTreeMap<String, Object>,
    /// Objects that are gone while something that they controlled is still there: a controller is
    /// deleted first, and its pods run on for a while.
    ghosts: BTreeMap<String, Object>,
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
            self.ghosts.remove(uid);
            self.objects.insert(uid.to_owned(), Object::read(object));
        }
    }

    /// Takes an event of a watch into account, which tells when a pod was made: one that a complete
    /// listing did not have was made in the version in which a watch first shows it.
    pub fn changed(&mut self, object: &Value) {
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        match uid {
            Some(uid) if object["kind"] == "Pod" => self.pods.changed(uid, object),
            _ => self.seen(object),
        }
    }

    /// Takes note that an object is gone.
    pub fn gone(&mut self, uid: &str) {
        self.ghosts.extend(self.objects.remove_entry(uid));
        self.pods.gone(uid);
        self.forget_ghosts();
    }

    /// Makes an empty one that tells pods apart by these labels.
    pub fn by_labels(labels: BTreeSet<String>) -> Self {
        Self {
            pods: Pods::by_labels(labels),
            ..Self::default()
        }
    }

    /// Puts what a new listing of a kind found in the place of what was known of that kind.
    pub fn replace(&mut self, group: &str, kind: &str, mut fresh: Self) {
        if (group, kind) == ("", "Pod") {
            fresh.pods.inherit(&self.pods);
            self.pods = fresh.pods;
        } else {
            let is_known = |_: &String, it: &mut Object| {
                (it.group.as_str(), it.kind.as_str()) == (group, kind)
            };
            self.ghosts.extend(self.objects.extract_if(.., is_known));
            self.ghosts
                .retain(|uid, _| !fresh.objects.contains_key(uid));
            self.objects.extend(fresh.objects);
        }
        self.forget_ghosts();
    }

    /// Forgets objects that are gone and have nothing left below them.
    fn forget_ghosts(&mut self) {
        if self.ghosts.is_empty() {
            return;
        }
        let pods = self.pods.groups().map(|it| it.controller.as_str());
        let objects = self.objects.values();
        let objects = objects.filter_map(|it| it.controller.as_deref());
        let mut needed = BTreeSet::new();
        for controller in pods.chain(objects) {
            let mut above = self.ghosts.get(controller);
            // Owner references may lead in a circle.
            while let Some(ghost) = above.filter(|it| needed.insert(it.uid.clone())) {
                let controller = ghost.controller.as_deref();
                above = controller.and_then(|uid| self.ghosts.get(uid));
            }
        }
        self.ghosts.retain(|uid, _| needed.contains(uid));
    }

    /// Returns about how many bytes are kept for pods.
    pub fn kept_bytes(&self) -> usize {
        self.pods.kept_bytes()
    }

    /// Returns an object that is not a pod, also if only something that it controlled is left.
    pub fn get(&self, uid: &str) -> Option<&Object> {
        self.objects.get(uid).or_else(|| self.ghosts.get(uid))
    }

    /// Returns the objects that an object controls, also those of which only something that they
    /// controlled is left; pods are not among them.
    pub(super) fn controlled_by(&self, uid: &str) -> impl Iterator<Item = &Object> {
        let objects = self.objects.values().chain(self.ghosts.values());
        objects.filter(move |it| it.controller.as_deref() == Some(uid))
    }

    /// Returns the controller revisions of an object.
    pub fn revisions_of(&self, uid: &str) -> impl Iterator<Item = &Object> {
        self.controlled_by(uid)
            .filter(|it| it.group == "apps" && it.kind == "ControllerRevision")
    }

    /// Returns what the pods of the newest revision of an object carry; `None` if nobody knows yet.
    pub(super) fn newest_revision(&self, uid: &str) -> Option<&str> {
        let newest = self.revisions_of(uid).max_by_key(|it| it.number)?;
        newest.labels.get(REVISION_LABEL).map(String::as_str)
    }

    /// Returns an object by what an inventory calls it.
    pub fn find(&self, named: &Reference) -> Option<&Object> {
        self.objects.values().find(|it| named.names(it))
    }

    /// Returns the objects of a kind with these labels; pods are not among them.
    pub fn labelled(
        &self,
        group: &str,
        kind: &str,
        labels: &BTreeMap<String, String>,
    ) -> impl Iterator<Item = &Object> {
        let objects = self.objects.values();
        objects.filter(move |it| it.group == group && it.kind == kind && it.is_labelled(labels))
    }

    /// Returns the pods with these labels, by which pods must be told apart.
    pub(super) fn pods_labelled(&self, labels: &BTreeMap<String, String>) -> Vec<&Group> {
        let groups = self.pods.groups();
        let has_all = |it: &&Group| {
            let mut labels = labels.iter();
            labels.all(|(name, value)| it.labels.get(name) == Some(value))
        };
        groups.filter(has_all).collect()
    }

    /// Returns the pods of one controller.
    pub(super) fn pods_of(&self, controller: &str) -> Vec<&Group> {
        let groups = self.pods.groups();
        groups.filter(|it| it.controller == controller).collect()
    }

    /// Returns the uids of what controls pods below an object, however far.
    pub fn controllers_below(&self, uid: &str) -> BTreeSet<String> {
        let groups = self.pods_below(uid).into_iter();
        groups.map(|it| it.controller.clone()).collect()
    }

    /// Returns how many pods there are of these controllers, also those that are being deleted.
    pub fn count_pods(&self, controllers: &BTreeSet<String>) -> usize {
        let groups = self.pods.groups();
        let groups = groups.filter(|it| controllers.contains(&it.controller));
        groups.map(|it| it.total).sum()
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
