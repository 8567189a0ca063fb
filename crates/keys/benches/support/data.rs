//! The keys that all measurements are made with: those of the baseline report.

use pathline_keys::{Key, KeySet, Name};

/// Returns the name of key `index`: regular, 48 characters, in order.
pub(crate) fn regular_name(index: usize) -> Name {
    let (section, group) = (index / 1000, index / 100 % 10);
    Name::parse(format!(
        "user:/sw/org/myapp/#0/current/s{section:04}/g{group:02}/k{index:07}"
    ))
    .expect("a valid name")
}

/// Returns key `index` with a value of 7 to 12 bytes.
pub(crate) fn regular_key(index: usize) -> Key {
    Key::new(regular_name(index)).with_value(format!("value-{index}"))
}

/// Returns that many keys.
pub(crate) fn regular_set(count: usize) -> KeySet {
    (0..count).map(regular_key).collect()
}

/// Returns the set with `count` values changed, spread evenly.
pub(crate) fn edited(set: &KeySet, count: usize, round: usize) -> KeySet {
    let mut edited = set.clone();
    let stride = set.len() / count;
    for change in 0..count {
        let index = (change * stride + round * 7919 % stride) % set.len();
        edited.insert(Key::new(regular_name(index)).with_value(format!("changed-{round}")));
    }
    edited
}
