//! Keys and their metadata, outside of any set.

use pathline_keys::name::{self, array_part};
use pathline_keys::{Key, KeySet, Metadata, Name, Namespace, Value};

fn key() -> Key {
    Key::new("user:/k".parse().expect("a name"))
}

#[test]
fn a_key_is_binary_exactly_when_its_metadata_says_so() {
    let mut key = key().with_value("ab");
    key.insert_meta("binary", "any text").expect("a name");
    assert_eq!(*key.value(), Value::Binary(b"ab"[..].into()));
    assert_eq!(key.metadata().get("binary"), Some(""));
    assert_eq!(key.remove_meta("meta:/binary"), None);
    key.set_metadata(Metadata::new());
    assert_eq!(key.metadata().get("binary"), Some(""));
    key.set_value("text");
    assert!(key.metadata().is_empty());

    let empty = self::key().with_meta("binary", "").expect("a name");
    assert_eq!(*empty.value(), Value::Binary([].into()));
}

#[test]
fn only_the_name_binary_itself_follows_the_value() {
    let mut key = key()
        .with_value(vec![1])
        .with_meta("check/binary", "1")
        .expect("a name");
    assert_eq!(key.remove_meta("check/binary").as_deref(), Some("1"));
    assert_eq!(key.remove_meta("check/binary"), None);
    assert!(matches!(key.value(), Value::Binary(_)));
}

#[test]
fn a_key_taken_out_of_a_set_shares_its_metadata() {
    let mut metadata = Metadata::new();
    metadata.insert("binary", "").expect("a name");
    metadata.insert("unit", "s").expect("a name");
    let binary = key().with_value(vec![1]).with_metadata(metadata.clone());
    assert_eq!(*binary.metadata(), metadata);
    let set = KeySet::from_iter([binary.clone()]);
    assert_eq!(set.iter().next().map(|key| key.to_key()), Some(binary));
}

#[test]
fn metadata_is_found_by_both_of_its_names() {
    let mut metadata = Metadata::new();
    assert_eq!(metadata.insert("meta:/check//range", "1"), Ok(None));
    assert_eq!(metadata.insert("check/range", "2"), Ok(Some("1".into())));
    assert_eq!(metadata.get("check/range/"), Some("2"));
    assert_eq!(metadata.len(), 1);
    assert_eq!(metadata.remove("meta:/check/range").as_deref(), Some("2"));
    assert_eq!(metadata.remove("check/range"), None);
    assert_eq!(metadata, Metadata::new());
}

#[test]
fn metadata_has_no_entry_without_a_name() {
    let mut metadata = Metadata::new();
    for nothing in ["", "/", ".", "..", "meta:/", "meta:/."] {
        let refused = metadata.insert(nothing, "x");
        assert_eq!(refused, Err(name::Error::Empty), "{nothing}");
    }
    let mut key = key();
    assert_eq!(key.insert_meta("a\\", "x"), Err(name::Error::Dangling));
    assert!(key.metadata().is_empty());
}

#[test]
fn a_name_has_the_same_parts_in_every_namespace() {
    let name: Name = "user:/a/%/b".parse().expect("a name");
    for namespace in Namespace::ALL {
        let other = name.with_namespace(namespace);
        assert_eq!(other.namespace(), namespace);
        assert!(other.parts().eq(name.parts()));
        assert_eq!(other.with_namespace(Namespace::User), name);
    }
}

#[test]
fn names_end_where_their_arithmetic_does() {
    let root = Name::root(Namespace::User);
    // A namespace, its NUL, and the NUL behind the part.
    let longest = "x".repeat(name::MAX_LEN - 3);
    assert_eq!(
        root.with_part(&longest).map(|name| name.unescaped().len()),
        Ok(name::MAX_LEN)
    );
    assert_eq!(root.with_part(longest + "x"), Err(name::Error::TooLong));
}

#[test]
fn indices_sort_as_their_numbers() {
    let indices = [0, 9, 10, 99, 100, 1 << 40, i64::MAX as u64];
    assert!(indices.map(array_part).is_sorted());
    let base = Name::root(Namespace::User);
    for index in indices {
        let written = base.join(format!("#{index}")).expect("an index");
        assert_eq!(written.base_name(), Some(array_part(index).as_bytes()));
    }
}
