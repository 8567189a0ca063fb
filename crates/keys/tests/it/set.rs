//! Key sets as collections, and changes that do not fit them.

use pathline_keys::change::{ApplyError, ComposeError};
use pathline_keys::document::{self, Format, ReadErrorKind, WriteError};
use pathline_keys::{ChangeKind, ChangeSet, Key, KeySet, Name};

fn key(name: &str, value: &str) -> Key {
    Key::new(name.parse().expect("a name")).with_value(value)
}

fn name(name: &str) -> Name {
    name.parse().expect("a name")
}

#[test]
fn of_two_keys_of_one_name_the_last_counts() {
    let keys = [
        key("user:/b", "1"),
        key("user:/a", "1"),
        key("user:/b", "2"),
    ];
    let collected = KeySet::from_iter(keys.clone());
    assert_eq!(collected.len(), 2);
    let mut extended = KeySet::from_iter([key("user:/b", "0")]);
    extended.extend(keys.clone());
    assert_eq!(extended, collected);
    let mut empty = KeySet::new();
    empty.extend(keys);
    assert_eq!(empty, collected);
    let b = collected.get(&name("user:/b")).expect("collected");
    assert_eq!(b.value().text(), Some("2"));
}

#[test]
fn a_change_is_applied_only_where_it_fits() {
    let set = KeySet::from_iter([key("user:/there", "1")]);
    let refused = |changes: ChangeSet| changes.apply(&set).expect_err("it does not fit");
    let present = refused(ChangeSet::from_parts([key("user:/there", "1")], [], []));
    assert_eq!(
        present,
        ApplyError::Present {
            name: name("user:/there")
        }
    );

    let missing = |kind| ApplyError::Missing {
        name: name("user:/none"),
        kind,
    };
    let removed = ChangeSet::from_parts([], [key("user:/none", "1")], []);
    assert_eq!(refused(removed), missing(ChangeKind::Removed));
    let pair = (key("user:/none", "1"), key("user:/none", "2"));
    let modified = ChangeSet::from_parts([], [], [pair]);
    assert_eq!(refused(modified), missing(ChangeKind::Modified));
    assert_eq!(set.len(), 1);
}

#[test]
fn a_change_set_that_contradicts_itself_is_neither_applied_nor_composed() {
    let twice = ChangeSet::from_parts([key("user:/a", "1")], [key("user:/a", "1")], []);
    assert_eq!(twice.len(), 2);
    let name = name("user:/a");
    let applied = twice.apply(&KeySet::new());
    assert_eq!(
        applied,
        Err(ApplyError::Contradiction { name: name.clone() })
    );
    let nothing = ChangeSet::default();
    let refused = Err(ComposeError::Contradiction { name });
    assert_eq!(nothing.compose(&twice), refused);
    assert_eq!(twice.compose(&nothing), refused);
}

#[test]
fn a_modification_keeps_the_name_of_its_old_side() {
    let pair = (key("user:/a", "1"), key("user:/b", "2"));
    let changes = ChangeSet::from_parts([], [], [pair]);
    let change = changes.get(&name("user:/a")).expect("the old name");
    assert_eq!(
        change.current().map(|key| key.name()),
        Some(name("user:/a"))
    );
    assert!(changes.get(&name("user:/b")).is_none());
}

#[test]
fn formats_are_known_by_the_end_of_a_path() {
    for (path, format) in [
        ("a/b.YAML", Some(Format::Yaml)),
        ("b.yml", Some(Format::Yaml)),
        ("b.tar.json", Some(Format::Json)),
        (".toml", Some(Format::Toml)),
        ("yaml", None),
        ("b.yaml.bak", None),
    ] {
        assert_eq!(Format::of_path(path), format, "{path}");
    }
}

#[test]
fn what_is_not_base64_or_not_a_text_is_refused() {
    let error = document::read(Format::Yaml, "a: !!binary '?'\n").expect_err("not base64");
    assert!(matches!(error.kind, ReadErrorKind::NotBase64(_)), "{error}");
    let keys = KeySet::from_iter([Key::new(Name::parse(b"user:/\xff").expect("a name"))]);
    for format in [Format::Yaml, Format::Json, Format::Toml] {
        let refused = document::write(format, &keys);
        assert!(
            matches!(refused, Err(WriteError::NotText { .. })),
            "{refused:?}"
        );
    }
}
