//! An index of what the rollout watches have seen, and of the owners that follow it.
//!
//! One lock guards all of it: a watch that was replaced changes nothing any more, and whoever judges sees
//! all kinds of a namespace as of one moment. A follower is noted before it judges, so that whatever
//! changes after the judgement wakes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::core::GroupVersionKind;
use pathline_lineage::rollout::{Below, Object};
use tokio_util::sync::CancellationToken;

use crate::runtime::queue::Key;
use crate::runtime::queues::{OwnedKind, Queues};

/// The number of controllers that are followed upwards from an object. Real chains are
/// short; but owner references may form a cycle, since nothing in Kubernetes forbids it.
const MAX_DEPTH: usize = 8;

/// A kind that is watched in one namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Watched {
    pub(super) namespace: String,
    pub(super) gvk: GroupVersionKind,
}

/// An owner that follows objects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Follower {
    pub(super) kind: OwnedKind,
    pub(super) key: Key,
}

/// The property by which an object is followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum FollowedBy {
    /// The uid of one object.
    Uid(String),
    /// The name of an object, which need not exist yet.
    Name(Watched, String),
    /// A label of any number of objects.
    Label(Watched, String, String),
}

/// The watches and objects that one follower needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Needs {
    pub(super) watches: HashSet<Watched>,
    pub(super) followed: HashSet<FollowedBy>,
    /// The labels by which pods must be told apart, by namespace.
    pub(super) pod_labels: HashMap<String, BTreeSet<String>>,
    /// The stamped objects, with their versions, after which all that they do not control was read.
    pub(super) confirmed: HashMap<String, String>,
}

impl Needs {
    /// Adds the needs of another.
    pub(super) fn extend(&mut self, other: &Self) {
        // Not `confirmed`: each check vouches anew, while it reads what the last one confirmed.
        self.watches.extend(other.watches.iter().cloned());
        self.followed.extend(other.followed.iter().cloned());
        for (namespace, labels) in &other.pod_labels {
            let known = self.pod_labels.entry(namespace.clone()).or_default();
            known.extend(labels.iter().cloned());
        }
    }
}

/// The state of a watch.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WatchState {
    /// Not everything has been listed yet.
    Listing,
    /// Everything is listed. Pods are told apart by these labels.
    Listed(BTreeSet<String>),
    /// The server refuses to list or watch it.
    Refused(String),
}

/// A watch that runs.
struct RunningWatch {
    state: WatchState,
    stop: CancellationToken,
    /// The labels by which it tells pods apart.
    labels: BTreeSet<String>,
    users: HashSet<Follower>,
}

/// A watch that is to be started.
pub(super) struct NewWatch {
    pub(super) watched: Watched,
    pub(super) labels: BTreeSet<String>,
    pub(super) stop: CancellationToken,
}

/// The objects that rollout watches have seen, and the owners that follow them.
#[derive(Default)]
pub(super) struct RolloutIndex {
    /// The objects, by namespace.
    namespaces: HashMap<String, Below>,
    running: HashMap<Watched, RunningWatch>,
    followed: HashMap<FollowedBy, HashSet<Follower>>,
    followers: HashMap<Follower, Needs>,
}

impl RolloutIndex {
    /// Returns what is known of a namespace.
    pub(super) fn below(&self, namespace: &str) -> Option<&Below> {
        self.namespaces.get(namespace)
    }

    /// Takes note of what a follower needs, beside what it needed so far. Returns the watches that are
    /// to be started for that.
    ///
    /// Nothing is given up before [`Self::settle`]: within one check what one target does not need, the
    /// next one may, and a watch that ends in between would have to list everything again.
    pub(super) fn need(
        &mut self,
        follower: &Follower,
        needs: &Needs,
        stop: &CancellationToken,
    ) -> Vec<NewWatch> {
        let known = self.followers.entry(follower.clone()).or_default();
        known.extend(needs);
        for followed_by in &needs.followed {
            let followers = self.followed.entry(followed_by.clone()).or_default();
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
    ) -> NewWatch {
        let running = self.running.entry(watched.clone());
        let running = running.or_insert_with(|| RunningWatch {
            state: WatchState::Listing,
            stop: CancellationToken::new(),
            labels: BTreeSet::new(),
            users: HashSet::from([follower.clone()]),
        });
        // Cancelled under the lock: the old watch asks `is_over` under it, so that its listing cannot
        // overwrite that of the new one.
        running.stop.cancel();
        running.stop = stop.clone();
        // Only more labels, never fewer: others still tell pods apart by theirs. And `state` stays, for
        // whoever does with the old labels can be judged on what is known.
        running.labels.extend(wanted);
        NewWatch {
            watched: watched.clone(),
            labels: running.labels.clone(),
            stop,
        }
    }

    /// Returns why something that is needed is not known: nothing as long as it is being listed.
    pub(super) fn missing(&self, needs: &Needs) -> Option<Option<String>> {
        let mut is_listing = false;
        for watched in &needs.watches {
            match self.running.get(watched).map(|it| &it.state) {
                Some(WatchState::Listed(labels)) if labels.is_superset(&needs.labels(watched)) => {}
                // A listing ends by itself; a refusal lasts until somebody grants the right.
                Some(WatchState::Refused(why)) => return Some(Some(why.clone())),
                Some(WatchState::Listing | WatchState::Listed(_)) | None => is_listing = true,
            }
        }
        is_listing.then_some(None)
    }

    /// Takes note that a follower needs this and nothing else any more. Watches that nobody needs end.
    pub(super) fn settle(&mut self, follower: &Follower, needs: Needs) {
        // Without `need` before, there is nothing to give up, nor to keep.
        let Some(before) = self.followers.remove(follower) else {
            return;
        };
        for followed_by in before.followed.difference(&needs.followed) {
            let followers = self.followed.get_mut(followed_by);
            let is_unused = followers.is_some_and(|followers| {
                followers.remove(follower);
                followers.is_empty()
            });
            if is_unused {
                self.followed.remove(followed_by);
            }
        }
        for watched in before.watches.difference(&needs.watches) {
            self.leave(follower, watched);
        }
        if !needs.watches.is_empty() || !needs.followed.is_empty() {
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
        if let Some(below) = self.namespaces.get_mut(namespace) {
            below.replace(&watched.gvk.group, &watched.gvk.kind, Below::default());
        }
        // Namespaces come and go; what nobody watches must not be kept for ever.
        if !self.running.keys().any(|it| it.namespace == *namespace) {
            self.namespaces.remove(namespace);
        }
    }

    /// Tells whether all that an object does not control was read after this version of it.
    pub(super) fn is_confirmed(&self, follower: &Follower, object: &Object) -> bool {
        let confirmed = self.followers.get(follower).map(|it| &it.confirmed);
        confirmed.is_some_and(|it| it.get(&object.uid) == Some(&object.version))
    }

    /// Puts what a listing found in the place of what was known, and wakes those who need it.
    pub(super) fn listed(&mut self, watched: &Watched, fresh: Below, queues: &Queues) {
        let Some(running) = self.running.get_mut(watched) else {
            return;
        };
        // The labels of the entry are those of this very watch: one with fewer has been cancelled.
        running.state = WatchState::Listed(running.labels.clone());
        let below = self
            .namespaces
            .entry(watched.namespace.clone())
            .or_default();
        below.replace(&watched.gvk.group, &watched.gvk.kind, fresh);
        wake(queues, running.users.iter());
    }

    /// Takes note that a kind may not be watched, and wakes those who need it.
    pub(super) fn refused(&mut self, watched: &Watched, why: String, queues: &Queues) {
        let Some(running) = self.running.get_mut(watched) else {
            return;
        };
        let refused = WatchState::Refused(why);
        // The watch fails again and again, and each time for the same reason.
        if running.state != refused {
            running.state = refused;
            wake(queues, running.users.iter());
        }
    }

    /// Changes what is known of a namespace.
    pub(super) fn change(&mut self, namespace: &str, change: impl FnOnce(&mut Below)) {
        change(self.namespaces.entry(namespace.to_owned()).or_default());
    }

    /// Wakes those who follow an object, or what controls it.
    ///
    /// To be called *before* [`Self::change`]: with an object its controllers may be forgotten, and the way
    /// up to whoever follows them is lost.
    pub(super) fn wake(&self, watched: &Watched, object: &DynamicObject, queues: &Queues) {
        let uid = object.uid().unwrap_or_default();
        self.wake_followers(watched, &uid, &object.name_any(), object.labels(), queues);
        let mut controllers = object.owner_references().iter();
        let controller = controllers.find(|it| it.controller == Some(true));
        let mut above = controller.map(|it| it.uid.clone());
        for _ in 0..MAX_DEPTH {
            let Some(uid) = above else {
                return;
            };
            let below = self.namespaces.get(&watched.namespace);
            let Some(known) = below.and_then(|below| below.get(&uid)) else {
                // The stamped object itself is not watched here: only its uid is known.
                self.wake_followers_by(&FollowedBy::Uid(uid), queues);
                return;
            };
            let of_kind = Watched {
                namespace: watched.namespace.clone(),
                gvk: GroupVersionKind::gvk(&known.group, "", &known.kind),
            };
            self.wake_followers(&of_kind, &uid, &known.name, &known.labels, queues);
            above = known.controller.clone();
        }
    }

    fn wake_followers(
        &self,
        watched: &Watched,
        uid: &str,
        name: &str,
        labels: &BTreeMap<String, String>,
        queues: &Queues,
    ) {
        self.wake_followers_by(&FollowedBy::Uid(uid.to_owned()), queues);
        self.wake_followers_by(&watched.named(name), queues);
        for (label, value) in labels {
            self.wake_followers_by(&watched.labelled(label, value), queues);
        }
    }

    fn wake_followers_by(&self, followed_by: &FollowedBy, queues: &Queues) {
        wake(queues, self.followed.get(followed_by).into_iter().flatten());
    }
}

impl Watched {
    /// Returns how an object of this name is followed.
    pub(super) fn named(&self, name: &str) -> FollowedBy {
        FollowedBy::Name(self.of_any_version(), name.to_owned())
    }

    /// Returns how objects with this label are followed.
    pub(super) fn labelled(&self, label: &str, value: &str) -> FollowedBy {
        FollowedBy::Label(self.of_any_version(), label.to_owned(), value.to_owned())
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

fn wake<'f>(queues: &Queues, followers: impl Iterator<Item = &'f Follower>) {
    for Follower { kind, key } in followers {
        queues.wake(*kind, &key.namespace, &key.name);
    }
}
