//! The composition table of the reference (section 5.3), kept here so that it runs without shared
//! cases.

use pathline_keys::{ChangeSet, Key};

/// A change of one key: the value before and after, `-` for none.
fn change(sides: &str) -> ChangeSet {
    let key = |value: &str| {
        let name = "user:/t/k".parse().expect("a valid name");
        (value != "-").then(|| Key::new(name).with_value(value))
    };
    match sides.split_once('>').map(|(old, new)| (key(old), key(new))) {
        Some((None, Some(new))) => ChangeSet::from_parts([new], [], []),
        Some((Some(old), None)) => ChangeSet::from_parts([], [old], []),
        Some((Some(old), Some(new))) => ChangeSet::from_parts([], [], [(old, new)]),
        _ => ChangeSet::default(),
    }
}

#[test]
fn changes_follow_each_other_by_kind() {
    let table = [
        ("", "->1", "->1"),
        ("", "1>2", "1>2"),
        ("", "1>-", "1>-"),
        ("->1", "1>2", "->2"),
        ("->1", "1>-", ""),
        ("1>2", "2>3", "1>3"),
        ("1>2", "2>1", ""),
        ("1>2", "9>3", "1>3"),
        ("1>2", "2>-", "1>-"),
        ("1>-", "->1", ""),
        ("1>-", "->2", "1>2"),
    ];
    for (first, second, both) in table {
        assert_eq!(
            change(first).compose(&change(second)),
            Ok(change(both)),
            "{first}, {second}"
        );
    }
    for (first, second) in [
        ("->1", "->2"),
        ("1>2", "->3"),
        ("1>-", "1>2"),
        ("1>-", "1>-"),
    ] {
        let refused = change(first).compose(&change(second)).expect_err(first);
        assert_eq!(refused.name().to_string(), "user:/t/k");
    }
}
