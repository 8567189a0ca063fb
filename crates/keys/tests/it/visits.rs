//! The cost of a diff, counted in nodes.

use pathline_keys::{Key, KeySet, Name};
use pathline_testkit::cases;
use proptest::prelude::*;

use crate::model::{Two, any_step};

fn name(number: usize) -> Name {
    Name::parse(format!("user:/app/dir{}/key{number:07}", number / 500)).expect("a valid name")
}

fn set(count: usize) -> KeySet {
    (0..count)
        .map(|number| Key::new(name(number * 2)).with_value("0"))
        .collect()
}

fn assert_bounded(old: &KeySet, new: &KeySet, writes: usize) {
    let (changes, visits) = KeySet::diff_with_visits(old, new, None);
    let bound = 4 * (writes + 1) * old.height().max(new.height());
    assert!(
        visits <= bound,
        "{visits} nodes for {} changes, not {bound}",
        changes.len()
    );
    let (back, back_visits) = KeySet::diff_with_visits(new, old, None);
    assert_eq!(back, changes.reverse());
    assert!(back_visits <= bound);
}

#[test]
fn a_diff_visits_few_nodes_for_few_changes() {
    let old = set(200_000);
    assert!(old.height() >= 4);
    for writes in [0, 1, 2, 10, 100, 1000] {
        for stride in [1, 7, 190] {
            let numbers = (0..writes).map(|write| 1000 + write * stride);
            let mut modified = old.clone();
            let mut added = old.clone();
            let mut removed = old.clone();
            for number in numbers {
                modified.insert(Key::new(name(number * 2)).with_value("1"));
                added.insert(Key::new(name(number * 2 + 1)));
                removed.remove(&name(number * 2));
            }
            assert_bounded(&old, &modified, writes);
            assert_bounded(&old, &added, writes);
            assert_bounded(&old, &removed, writes);
            assert_bounded(&added, &removed, writes * 2);
        }
    }
}

#[test]
fn an_unchanged_snapshot_is_not_even_opened() {
    let old = set(10_000);
    assert_eq!(KeySet::diff_with_visits(&old, &old.clone(), None).1, 0);
}

#[test]
fn writing_what_is_there_keeps_the_set_one_with_its_snapshot() {
    let old = set(10_000);
    let mut new = old.clone();
    assert!(!new.insert(Key::new(name(2000)).with_value("0")));
    assert_eq!(KeySet::diff_with_visits(&old, &new, None).1, 0);
}

#[test]
fn a_diff_below_a_parent_visits_only_that_range() {
    let old = set(100_000);
    let mut new = old.clone();
    for number in (0..100_000).step_by(10) {
        new.insert(Key::new(name(number * 2)).with_value("1"));
    }
    let parent = Name::parse("user:/app/dir7").expect("a valid name");
    let (changes, visits) = KeySet::diff_with_visits(&old, &new, Some(&parent));
    assert_eq!(changes.len(), 25);
    let leaves = 250 / 24 + 2;
    assert!(visits <= 2 * (leaves + old.height() * 2), "{visits}");
    assert!(visits * 20 < KeySet::diff_with_visits(&old, &new, None).1);
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn any_writes_since_a_snapshot_stay_within_the_bound(
        steps in proptest::collection::vec(any_step(), 0..60),
    ) {
        let mut two = Two::new(3000);
        let old = two.sets[0].clone();
        let mut writes = 0;
        for step in steps {
            let before = two.sets[0].len();
            match step {
                crate::model::Step::Snapshot(_) => continue,
                step => two.take(step),
            }
            writes += before.abs_diff(two.sets[0].len()).max(1);
        }
        assert_bounded(&old, &two.sets[0], writes);
    }
}
