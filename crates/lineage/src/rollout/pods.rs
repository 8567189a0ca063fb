//! Pods, counted: a few bytes for each, however many there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::object::labels_of;
use super::pod::{Container, Pod, Start};
use super::uses::Uses;

/// The most reasons of pods that are kept as texts; of all others only their number is.
const TEXTS: usize = 8;

/// The pods below one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Pods {
    /// By a hash of the uid: the group, and what the pod says of itself.
    known: HashMap<u128, Entry>,
    groups: Vec<Group>,
    /// The labels by which they are told apart.
    told_by: BTreeSet<String>,
    texts: BTreeMap<u128, Texts>,
    /// When those started that read ConfigMaps or Secrets.
    starts: HashMap<u128, Start>,
}

/// Pods that have one controller, one revision, the same labels where these count, and run the same
/// images with the same ConfigMaps and Secrets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) controller: String,
    pub(super) revision: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) containers: Vec<Container>,
    pub(super) uses: Uses,
    /// All that are there, also those that are being deleted.
    pub(super) total: usize,
    pub(super) ready: usize,
    pub(super) crashing: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    group: u32,
    ready: bool,
    crashing: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Texts {
    group: u32,
    crash: Option<String>,
    trouble: Option<String>,
}

impl Pods {
    /// Makes empty ones that are told apart by these labels.
    pub(super) fn by_labels(told_by: BTreeSet<String>) -> Self {
        Self {
            told_by,
            ..Self::default()
        }
    }

    /// Takes an event of a watch into account: if the pod was not known before, it was made just so.
    pub(super) fn changed(&mut self, uid: &str, pod: &Value) {
        let is_new = !self.known.contains_key(&key(uid));
        self.seen(uid, pod);
        let version = pod.pointer("/metadata/resourceVersion");
        let version = version.and_then(Value::as_str);
        if let Some(start) = self.starts.get_mut(&key(uid)).filter(|_| is_new) {
            start.version = version.and_then(|it| it.parse().ok());
        }
    }

    /// Takes over from older ones when pods were made that are still there.
    pub(super) fn inherit(&mut self, older: &Self) {
        for (key, start) in &mut self.starts {
            let before = older.starts.get(key);
            start.version = start.version.or(before.and_then(|it| it.version));
        }
    }

    /// Takes a pod into account as it is now.
    pub(super) fn seen(&mut self, uid: &str, pod: &Value) {
        let before = self.starts.get(&key(uid)).and_then(|it| it.version);
        self.gone(uid);
        let mut labels = labels_of(pod);
        labels.retain(|name, _| self.told_by.contains(name));
        let mut pod = Pod::read(pod);
        let group = self.group(&pod, labels);
        let entry = Entry {
            group,
            ready: pod.ready,
            crashing: pod.crash.is_some(),
        };
        let counted = &mut self.groups[group as usize];
        counted.total += 1;
        counted.ready += usize::from(entry.ready);
        counted.crashing += usize::from(entry.crashing);
        let key = key(uid);
        self.known.insert(key, entry);
        if let Some(start) = pod.start.take() {
            let version = before;
            self.starts.insert(key, Start { version, ..start });
        }
        if (pod.crash.is_some() || pod.trouble.is_some()) && self.texts.len() < TEXTS {
            let (crash, trouble) = (pod.crash, pod.trouble);
            self.texts.insert(
                key,
                Texts {
                    group,
                    crash,
                    trouble,
                },
            );
        }
    }

    /// Takes note that a pod is gone.
    pub(super) fn gone(&mut self, uid: &str) {
        let key = key(uid);
        let Some(entry) = self.known.remove(&key) else {
            return;
        };
        self.texts.remove(&key);
        self.starts.remove(&key);
        let group = &mut self.groups[entry.group as usize];
        group.total -= 1;
        group.ready -= usize::from(entry.ready);
        group.crashing -= usize::from(entry.crashing);
    }

    /// Returns about how many bytes are kept: those of the table, and of the few texts.
    pub(super) fn kept_bytes(&self) -> usize {
        let entry = size_of::<(u128, Entry)>() + 1;
        let start = size_of::<(u128, Start)>() + 1;
        let containers = self.starts.values().map(|it| it.containers.len());
        let containers = containers.sum::<usize>() * size_of::<i64>();
        let starts = self.starts.capacity() * start + containers;
        let texts = self.texts.values().flat_map(|it| [&it.crash, &it.trouble]);
        let texts: usize = texts.flatten().map(String::len).sum();
        let groups = self.groups.capacity() * size_of::<Group>();
        self.known.capacity() * entry + groups + texts + starts
    }

    /// Returns the groups that have pods.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|it| it.total > 0)
    }

    /// Returns when the pods of a group started, with what stands for each of them; only of pods that
    /// read ConfigMaps or Secrets.
    pub(super) fn starts_of(&self, group: &Group) -> impl Iterator<Item = (u64, &Start)> {
        let index = self.groups.iter().position(|it| std::ptr::eq(it, group));
        self.starts.iter().filter_map(move |(key, start)| {
            let entry = self.known.get(key)?;
            let half = (key >> 64) as u64;
            (Some(entry.group as usize) == index).then_some((half, start))
        })
    }

    /// Returns why a group crashes, if it does.
    pub(super) fn crash(&self, group: &Group) -> Option<String> {
        if group.crashing == 0 {
            return None;
        }
        let told = self.texts_of(group).find_map(|it| it.crash.clone());
        Some(told.unwrap_or_else(|| format!("{} pods crash again and again", group.crashing)))
    }

    /// Returns what keeps pods of a group from running.
    pub(super) fn trouble(&self, group: &Group) -> Option<&str> {
        self.texts_of(group).find_map(|it| it.trouble.as_deref())
    }

    fn texts_of(&self, group: &Group) -> impl Iterator<Item = &Texts> {
        let index = self.groups.iter().position(|it| std::ptr::eq(it, group));
        self.texts
            .values()
            .filter(move |it| Some(it.group as usize) == index)
    }

    /// Returns the group of a pod; one that nobody is in any more is used again.
    fn group(&mut self, pod: &Pod, labels: BTreeMap<String, String>) -> u32 {
        let same = |it: &Group| {
            it.controller == pod.controller
                && it.revision == pod.revision
                && it.labels == labels
                && it.containers == pod.containers
                && it.uses == pod.uses
        };
        let known = self.groups.iter().position(|it| it.total > 0 && same(it));
        let group = Group {
            controller: pod.controller.clone(),
            revision: pod.revision.clone(),
            labels,
            containers: pod.containers.clone(),
            uses: pod.uses.clone(),
            total: 0,
            ready: 0,
            crashing: 0,
        };
        let index = if let Some(at) = known {
            at
        } else if let Some(empty) = self.groups.iter().position(|it| it.total == 0) {
            self.groups[empty] = group;
            empty
        } else {
            self.groups.push(group);
            self.groups.len() - 1
        };
        u32::try_from(index).expect("there are fewer groups than pods, and fewer pods than that")
    }
}

/// Returns what stands for a uid, whatever its length.
fn key(uid: &str) -> u128 {
    let digest = Sha256::digest(uid);
    let half: [u8; 16] = digest[..16].try_into().expect("a digest has 32 bytes");
    u128::from_be_bytes(half)
}
