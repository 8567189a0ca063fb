//! Any history of two sets that share nodes: the diff is the naive one, and it applies both ways.
//!
//! Three bytes are a step: what to do to which set, which key, which value.

use std::collections::BTreeMap;

use pathline_keys::{ChangeSet, Key, KeySet, Name};

type Model = BTreeMap<Name, Key>;

/// Enough to split and join nodes; longer histories only take longer.
const MAX_STEPS: usize = 64;

pub(crate) fn check(bytes: &[u8]) {
    let mut sets = [KeySet::new(), KeySet::new()];
    let mut models = [Model::new(), Model::new()];
    for step in bytes.chunks_exact(3).take(MAX_STEPS) {
        let which = usize::from(step[0] & 1);
        match step[0] >> 1 & 7 {
            0 => {
                sets[1 - which] = sets[which].clone();
                models[1 - which] = models[which].clone();
            }
            1 | 2 => {
                let name = name(step[1]);
                assert_eq!(sets[which].remove(&name), models[which].remove(&name));
            }
            3 => {
                for number in 0..=step[1] {
                    insert(&mut sets[which], &mut models[which], number, step[2]);
                }
            }
            _ => insert(&mut sets[which], &mut models[which], step[1], step[2]),
        }
    }
    let [old, new] = &sets;
    let changes = KeySet::diff(old, new, None);
    assert_eq!(changes, naive(&models[0], &models[1]));
    assert_eq!(changes.apply(old).as_ref(), Ok(new));
    assert_eq!(changes.reverse().apply(new).as_ref(), Ok(old));
    let back = KeySet::diff(new, old, None);
    assert_eq!(changes.reverse(), back);
    assert!(changes.compose(&back).expect("there and back").is_empty());
}

fn name(number: u8) -> Name {
    Name::parse(format!("user:/{}/{number}", number % 5)).expect("a valid name")
}

fn insert(set: &mut KeySet, model: &mut Model, number: u8, value: u8) {
    let key = Key::new(name(number));
    let key = match value % 4 {
        0 => key,
        1 => key.with_value(format!("{}", value / 4)),
        2 => key.with_value(vec![value]),
        _ => key
            .with_meta("m", format!("{value}"))
            .expect("a valid metadata name"),
    };
    set.insert(key.clone());
    model.insert(key.name().clone(), key);
}

fn naive(old: &Model, new: &Model) -> ChangeSet {
    let only = |a: &Model, b: &Model| -> Vec<Key> {
        a.values()
            .filter(|key| !b.contains_key(key.name()))
            .cloned()
            .collect()
    };
    let pairs = old
        .values()
        .filter_map(|key| Some((key.clone(), new.get(key.name())?.clone())));
    ChangeSet::from_parts(
        only(new, old),
        only(old, new),
        pairs.filter(|(a, b)| a != b),
    )
}
