//! The memory of a million keys, counted and never timed.
//!
//! A program of its own, since it replaces the allocator; and one test, since nothing else may
//! allocate meanwhile.

#[path = "../benches/support/data.rs"]
mod data;

use std::alloc::System;

use pathline_keys::{Key, KeySet, Metadata, Name};
use pathline_testkit::Dice;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const KEYS: usize = 1_000_000;

#[test]
fn a_million_keys_stay_within_their_budget_and_snapshots_are_free() {
    let (regular, bytes) = measured(|| data::regular_set(KEYS));
    within("regular names", bytes, 75);
    snapshots_allocate_nothing(&regular);
    let (edited, bytes) = measured(|| data::edited(&regular, 1, 1));
    eprintln!("one write after a snapshot: {bytes} bytes");
    assert!(
        bytes <= 16 * 1024,
        "one write copies one path, not {bytes} bytes"
    );
    assert_eq!(KeySet::diff(&regular, &edited, None).len(), 1);
    drop((regular, edited));

    let mut shared = Metadata::new();
    shared
        .insert("type", "string")
        .expect("a valid metadata name");
    let (described, bytes) = measured(|| {
        (0..KEYS)
            .map(|i| data::regular_key(i).with_metadata(shared.clone()))
            .collect()
    });
    within("regular names with shared metadata", bytes, 75 + 8);
    drop::<KeySet>(described);

    let (random, bytes) = measured(random_set);
    assert_eq!(random.len(), KEYS);
    within("random names, inserted in random order", bytes, 100);
    drop(random);

    let (described, bytes) = measured(|| {
        random_keys()
            .map(|key| key.with_metadata(shared.clone()))
            .collect::<KeySet>()
    });
    within("random names with shared metadata", bytes, 100 + 8);
    drop(described);
}

fn measured<T>(build: impl FnOnce() -> T) -> (T, usize) {
    let region = Region::new(ALLOCATOR);
    let result = build();
    let change = region.change();
    (result, change.bytes_allocated - change.bytes_deallocated)
}

fn within(what: &str, bytes: usize, most: usize) {
    eprintln!("{what}: {:.1} bytes a key", bytes as f64 / KEYS as f64);
    assert!(
        bytes <= most * KEYS,
        "{what}: {bytes} bytes, more than {most} a key"
    );
}

fn snapshots_allocate_nothing(set: &KeySet) {
    let region = Region::new(ALLOCATOR);
    let snapshots = [const { None }; 16].map(|_: Option<KeySet>| Some(set.clone()));
    assert_eq!(
        region.change().allocations,
        0,
        "a snapshot allocates nothing"
    );
    assert!(
        snapshots
            .iter()
            .flatten()
            .all(|snapshot| snapshot.len() == KEYS)
    );
}

fn random_keys() -> impl Iterator<Item = Key> {
    let mut dice = Dice::new(1);
    (0..KEYS).map(move |index| {
        let name = format!(
            "user:/sw/org/app/{:016x}/{:015x}",
            dice.roll(),
            dice.roll() >> 4
        );
        Key::new(Name::parse(name).expect("a valid name")).with_value(format!("value-{index}"))
    })
}

fn random_set() -> KeySet {
    let mut set = KeySet::new();
    for key in random_keys() {
        set.insert(key);
    }
    set
}
