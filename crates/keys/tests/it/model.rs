//! A naive model of key sets and diffs, to compare the real ones with.

use std::collections::BTreeMap;

use pathline_keys::{ChangeSet, Key, KeySet, Name, Namespace};
use proptest::prelude::*;

/// A key set as a map, compared key by key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model(pub(crate) BTreeMap<Name, Key>);

impl Model {
    /// Compares every key with every other one.
    pub(crate) fn diff(&self, new: &Self, below: Option<&Name>) -> ChangeSet {
        let inside = |name: &Name| {
            name.namespace() != Namespace::Cascading
                && below.is_none_or(|below| name.is_same_or_below(below))
        };
        let only = |a: &Self, b: &Self| -> Vec<Key> {
            let missing = a.0.values().filter(|key| !b.0.contains_key(key.name()));
            missing.filter(|key| inside(key.name())).cloned().collect()
        };
        let modified = self
            .0
            .values()
            .filter(|key| inside(key.name()))
            .filter_map(|old| {
                let new = new.0.get(old.name())?;
                let same_value = old.value().as_ref().same_content(new.value().as_ref());
                let same = same_value && old.metadata() == new.metadata();
                (!same).then(|| (old.clone(), new.clone()))
            });
        ChangeSet::from_parts(only(new, self), only(self, new), modified)
    }

    pub(crate) fn matches(&self, set: &KeySet) -> bool {
        set.len() == self.0.len()
            && set
                .iter()
                .zip(self.0.values())
                .all(|(key, own)| key == *own)
    }
}

/// One write, or a snapshot of one of the two sets over the other.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Insert(bool, Key),
    Remove(bool, usize),
    Snapshot(bool),
    Cut(bool, Name),
}

/// Names with few parts and few letters, so that they meet; some are long.
pub(crate) fn any_name() -> impl Strategy<Value = Name> {
    let part = prop_oneof![
        8 => "[a-c]{1,2}",
        3 => "#(0|1|_10|10)",
        1 => Just("%".to_owned()),
        1 => "[ -~]{1,4}",
        1 => "x{20,40}[ab]",
    ];
    let namespace =
        prop_oneof![4 => Just(Namespace::User), 1 => proptest::sample::select(&Namespace::ALL[..])];
    (namespace, proptest::collection::vec(part, 0..4)).prop_filter_map(
        "a valid name",
        |(ns, parts)| {
            parts
                .iter()
                .try_fold(Name::root(ns), |name, part| name.with_part(part))
                .ok()
        },
    )
}

/// A key with any kind of value.
pub(crate) fn any_key() -> impl Strategy<Value = Key> {
    let value = prop_oneof![
        1 => Just(pathline_keys::Value::Absent),
        6 => "[ab]{0,2}".prop_map(Into::into),
        1 => proptest::collection::vec(0..3u8, 0..3).prop_map(Into::into),
        1 => "[ab]{128,130}".prop_map(Into::into),
    ];
    let metadata = proptest::collection::vec(("[xy]", "[12]"), 0..2);
    (any_name(), value, metadata).prop_map(|(name, value, metadata)| {
        metadata
            .into_iter()
            .fold(Key::new(name).with_value(value), |key, (name, text)| {
                key.with_meta(&name, text).expect("a valid metadata name")
            })
    })
}

/// A numbered key among many, so that trees get several levels.
fn numbered_key() -> impl Strategy<Value = Key> {
    (0..3000u32, 0..3u8).prop_map(|(number, value)| {
        let name = format!("user:/dir{}/key{number:05}", number % 7);
        Key::new(name.parse().expect("a valid name")).with_value(value.to_string())
    })
}

pub(crate) fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<bool>(), any_key()).prop_map(|(which, key)| Step::Insert(which, key)),
        8 => (any::<bool>(), numbered_key()).prop_map(|(which, key)| Step::Insert(which, key)),
        6 => (any::<bool>(), any::<usize>()).prop_map(|(which, at)| Step::Remove(which, at)),
        1 => any::<bool>().prop_map(Step::Snapshot),
        1 => (any::<bool>(), any_name()).prop_map(|(which, name)| Step::Cut(which, name)),
    ]
}

/// Two sets that share nodes in some way, and their models.
#[derive(Debug, Clone, Default)]
pub(crate) struct Two {
    pub(crate) sets: [KeySet; 2],
    pub(crate) models: [Model; 2],
}

impl Two {
    /// Starts from the same numbered keys on both sides.
    pub(crate) fn new(count: u32) -> Self {
        let keys = (0..count).map(|number| {
            let name = format!("user:/dir{}/key{number:05}", number % 7);
            Key::new(name.parse().expect("a valid name")).with_value("0")
        });
        let set: KeySet = keys.clone().collect();
        let model = Model(keys.map(|key| (key.name().clone(), key)).collect());
        Self {
            sets: [set.clone(), set],
            models: [model.clone(), model],
        }
    }

    pub(crate) fn take(&mut self, step: Step) {
        match step {
            Step::Insert(which, key) => {
                let which = usize::from(which);
                let is_new = self.sets[which].insert(key.clone());
                let before = self.models[which].0.insert(key.name().clone(), key);
                assert_eq!(is_new, before.is_none());
            }
            Step::Remove(which, at) => {
                let which = usize::from(which);
                let count = self.models[which].0.len().max(1);
                let Some(name) = self.models[which].0.keys().nth(at % count).cloned() else {
                    return;
                };
                let key = self.models[which].0.remove(&name);
                assert_eq!(self.sets[which].remove(&name), key);
            }
            Step::Snapshot(from) => {
                let from = usize::from(from);
                self.sets[1 - from] = self.sets[from].clone();
                self.models[1 - from] = self.models[from].clone();
            }
            Step::Cut(which, name) => {
                let which = usize::from(which);
                let cut = self.sets[which].cut(&name);
                let model = &mut self.models[which].0;
                let before = model.len();
                let cascades = |known: &Name| {
                    known.namespace() == Namespace::Cascading
                        && known.namespace() != name.namespace()
                };
                model.retain(|known, _| cascades(known) || !known.is_same_or_below(&name));
                assert_eq!(before - model.len(), cut.len());
            }
        }
    }
}
