//! What the watches of last miles have seen, and who wants to know.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::core::GroupVersionKind;
use pathline_lineage::rollout::{Below, Object};
use tokio_util::sync::CancellationToken;

use crate::queue::Key;
use crate::wakeups::{Reconciled, Wakeups};

/// How far up the controllers of an object are followed.
const HIGHEST: usize = 8;

/// A kind that is watched in one namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Watched {
    pub(super) namespace: String,
    pub(super) gvk: GroupVersionKind,
}

/// Who follows something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Follower {
    pub(super) kind: Reconciled,
    pub(super) key: Key,
}

/// By what an object is followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// By its uid.
    Uid(String),
    /// By its name.
    Name(Watched, String),
    /// By one of its labels.
    Label(Watched, String, String),
}

/// What one follower needs to know.
#[derive(Debug, Clone, Default)]
pub(super) struct Needs {
    pub(super) watches: HashSet<Watched>,
    pub(super) marks: HashSet<Mark>,
    /// The labels by which pods must be told apart, by namespace.
    pub(super) pod_labels: HashMap<String, BTreeSet<String>>,
    /// The stamped objects, with their versions, after which all that they do not control was read.
    pub(super) confirmed: HashMap<String, String>,
}

impl Needs {
    pub(super) fn extend(&mut self, other: &Self) {
        self.watches.extend(other.watches.iter().cloned());
        self.marks.extend(other.marks.iter().cloned());
        for (namespace, labels) in &other.pod_labels {
            let known = self.pod_labels.entry(namespace.clone()).or_default();
            known.extend(labels.iter().cloned());
        }
    }
}

/// How far a watch is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Progress {
    /// Not everything has been listed yet.
    Listing,
    /// What is known is current. Pods are told apart by these labels.
    Listed(BTreeSet<String>),
    /// The server does not let us.
    Refused(String),
}

/// A watch that runs.
struct Running {
    progress: Progress,
    stop: CancellationToken,
    /// The labels by which it tells pods apart.
    labels: BTreeSet<String>,
    users: HashSet<Follower>,
}

/// A watch that is to be started.
pub(super) struct Start {
    pub(super) watched: Watched,
    pub(super) labels: BTreeSet<String>,
    pub(super) stop: CancellationToken,
}

/// What the watches of last miles have seen, and who wants to know.
#[derive(Default)]
pub(super) struct Seen {
    /// By namespace.
    places: HashMap<String, Below>,
    running: HashMap<Watched, Running>,
    marks: HashMap<Mark, HashSet<Follower>>,
    followers: HashMap<Follower, Needs>,
}

impl Seen {
    /// Returns what is known of a namespace.
    pub(super) fn place(&self, namespace: &str) -> Option<&Below> {
        self.places.get(namespace)
    }

    /// Takes note of what a follower needs, beside what it needed so far. Returns the watches that are
    /// to be started for that.
    pub(super) fn need(
        &mut self,
        follower: &Follower,
        needs: &Needs,
        stop: &CancellationToken,
    ) -> Vec<Start> {
        let known = self.followers.entry(follower.clone()).or_default();
        known.extend(needs);
        for mark in &needs.marks {
            let followers = self.marks.entry(mark.clone()).or_default();
            followers.insert(follower.clone());
        }
        let mut starts = Vec::new();
        for watched in &needs.watches {
            let wanted = needs.labels(watched);
            let running = self.running.get_mut(watched);
            let is_enough = running.is_some_and(|running| {
                running.users.insert(follower.clone());
                running.labels.is_superset(&wanted)
            });
            if !is_enough {
                starts.push(self.start(follower, watched, wanted, stop.child_token()));
            }
        }
        starts
    }

    /// Starts a watch, or starts it anew with more labels; meanwhile what was known counts.
    fn start(
        &mut self,
        follower: &Follower,
        watched: &Watched,
        wanted: BTreeSet<String>,
        stop: CancellationToken,
    ) -> Start {
        let running = self.running.entry(watched.clone());
        let running = running.or_insert_with(|| Running {
            progress: Progress::Listing,
            stop: CancellationToken::new(),
            labels: BTreeSet::new(),
            users: HashSet::from([follower.clone()]),
        });
        running.stop.cancel();
        running.stop = stop.clone();
        running.labels.extend(wanted);
        Start {
            watched: watched.clone(),
            labels: running.labels.clone(),
            stop,
        }
    }

    /// Returns why something that is needed is not known: nothing as long as it is being listed.
    pub(super) fn missing(&self, needs: &Needs) -> Option<Option<String>> {
        let mut is_listing = false;
        for watched in &needs.watches {
            match self.running.get(watched).map(|it| &it.progress) {
                Some(Progress::Listed(labels)) if labels.is_superset(&needs.labels(watched)) => {}
                Some(Progress::Refused(why)) => return Some(Some(why.clone())),
                Some(Progress::Listing | Progress::Listed(_)) | None => is_listing = true,
            }
        }
        is_listing.then_some(None)
    }

    /// Takes note that a follower needs this and nothing else any more. Watches that nobody needs end.
    pub(super) fn settle(&mut self, follower: &Follower, needs: Needs) {
        let Some(before) = self.followers.remove(follower) else {
            return;
        };
        for mark in before.marks.difference(&needs.marks) {
            let followers = self.marks.get_mut(mark);
            let is_unused = followers.is_some_and(|followers| {
                followers.remove(follower);
                followers.is_empty()
            });
            if is_unused {
                self.marks.remove(mark);
            }
        }
        for watched in before.watches.difference(&needs.watches) {
            self.leave(follower, watched);
        }
        if !needs.watches.is_empty() || !needs.marks.is_empty() {
            self.followers.insert(follower.clone(), needs);
        }
    }

    fn leave(&mut self, follower: &Follower, watched: &Watched) {
        let Some(running) = self.running.get_mut(watched) else {
            return;
        };
        running.users.remove(follower);
        if !running.users.is_empty() {
            return;
        }
        running.stop.cancel();
        self.running.remove(watched);
        let namespace = &watched.namespace;
        if let Some(below) = self.places.get_mut(namespace) {
            below.replace(&watched.gvk.group, &watched.gvk.kind, Below::default());
        }
        if !self.running.keys().any(|it| it.namespace == *namespace) {
            self.places.remove(namespace);
        }
    }

    /// Tells whether all that an object does not control was read after this version of it.
    pub(super) fn is_confirmed(&self, follower: &Follower, object: &Object) -> bool {
        let confirmed = self.followers.get(follower).map(|it| &it.confirmed);
        confirmed.is_some_and(|it| it.get(&object.uid) == Some(&object.version))
    }

    /// Puts what a listing found in the place of what was known, and wakes those who need it.
    pub(super) fn listed(&mut self, watched: &Watched, fresh: Below, wakeups: &Wakeups) {
        let Some(running) = self.running.get_mut(watched) else {
            return;
        };
        running.progress = Progress::Listed(running.labels.clone());
        let below = self.places.entry(watched.namespace.clone()).or_default();
        below.replace(&watched.gvk.group, &watched.gvk.kind, fresh);
        wake(wakeups, running.users.iter());
    }

    /// Takes note that a kind may not be watched, and tells those who need it.
    pub(super) fn refused(&mut self, watched: &Watched, why: String, wakeups: &Wakeups) {
        let Some(running) = self.running.get_mut(watched) else {
            return;
        };
        let refused = Progress::Refused(why);
        if running.progress != refused {
            running.progress = refused;
            wake(wakeups, running.users.iter());
        }
    }

    /// Changes what is known of a namespace.
    pub(super) fn change(&mut self, namespace: &str, change: impl FnOnce(&mut Below)) {
        change(self.places.entry(namespace.to_owned()).or_default());
    }

    /// Wakes those who follow an object, or what it belongs to.
    pub(super) fn wake(&self, watched: &Watched, object: &DynamicObject, wakeups: &Wakeups) {
        let uid = object.uid().unwrap_or_default();
        self.wake_marked(watched, &uid, &object.name_any(), object.labels(), wakeups);
        let mut controllers = object.owner_references().iter();
        let controller = controllers.find(|it| it.controller == Some(true));
        let mut above = controller.map(|it| it.uid.clone());
        for _ in 0..HIGHEST {
            let Some(uid) = above else {
                return;
            };
            let place = self.places.get(&watched.namespace);
            let Some(known) = place.and_then(|place| place.get(&uid)) else {
                self.wake_mark(&Mark::Uid(uid), wakeups);
                return;
            };
            let of_kind = Watched {
                namespace: watched.namespace.clone(),
                gvk: GroupVersionKind::gvk(&known.group, "", &known.kind),
            };
            self.wake_marked(&of_kind, &uid, &known.name, &known.labels, wakeups);
            above = known.controller.clone();
        }
    }

    fn wake_marked(
        &self,
        watched: &Watched,
        uid: &str,
        name: &str,
        labels: &BTreeMap<String, String>,
        wakeups: &Wakeups,
    ) {
        self.wake_mark(&Mark::Uid(uid.to_owned()), wakeups);
        self.wake_mark(&watched.named(name), wakeups);
        for (label, value) in labels {
            self.wake_mark(&watched.labelled(label, value), wakeups);
        }
    }

    fn wake_mark(&self, mark: &Mark, wakeups: &Wakeups) {
        wake(wakeups, self.marks.get(mark).into_iter().flatten());
    }
}

impl Watched {
    /// Returns the mark of an object with this name.
    pub(super) fn named(&self, name: &str) -> Mark {
        Mark::Name(self.of_any_version(), name.to_owned())
    }

    /// Returns the mark of objects with this label.
    pub(super) fn labelled(&self, label: &str, value: &str) -> Mark {
        Mark::Label(self.of_any_version(), label.to_owned(), value.to_owned())
    }

    /// An object is the same one in every version of its API.
    fn of_any_version(&self) -> Self {
        let GroupVersionKind { group, kind, .. } = &self.gvk;
        Self {
            namespace: self.namespace.clone(),
            gvk: GroupVersionKind::gvk(group, "", kind),
        }
    }

    pub(super) fn is_pod(&self) -> bool {
        self.gvk.group.is_empty() && self.gvk.kind == "Pod"
    }
}

impl Needs {
    /// Returns the labels by which a watch must tell objects apart.
    fn labels(&self, watched: &Watched) -> BTreeSet<String> {
        let labels = self.pod_labels.get(&watched.namespace);
        let labels = labels.filter(|_| watched.is_pod());
        labels.cloned().unwrap_or_default()
    }
}

fn wake<'f>(wakeups: &Wakeups, followers: impl Iterator<Item = &'f Follower>) {
    for Follower { kind, key } in followers {
        wakeups.wake(*kind, &key.namespace, &key.name);
    }
}
