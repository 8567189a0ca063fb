//! Defects of the existing system (section 0 of the reference) that must not happen here.

use pathline_keys::{Key, KeySet, Name, Value};

fn name(escaped: &str) -> Name {
    Name::parse(escaped).expect("a valid name")
}

#[test]
fn x5_an_absent_and_an_empty_value_are_no_change() {
    let absent = KeySet::from_iter([Key::new(name("user:/a"))]);
    let empty = KeySet::from_iter([Key::new(name("user:/a")).with_value("")]);
    assert!(KeySet::diff(&absent, &empty, None).is_empty());
    assert!(KeySet::diff(&empty, &absent, None).is_empty());
    assert_eq!(absent, empty);
}

#[test]
fn x6_an_empty_part_below_a_root_is_neither_accepted_nor_the_root() {
    assert!(Name::parse("/%").is_err());
    assert!(name("/").join("%").is_err());
    assert_eq!(
        name("/%/x").join("../..").expect("climbing is fine"),
        name("/")
    );
}

#[test]
fn x7_a_key_outlives_any_number_of_copies() {
    let key = Key::new(name("user:/shared")).with_value("v".repeat(1000));
    let set = KeySet::from_iter([key.clone()]);
    let copies: Vec<_> = (0..70_000).map(|_| (key.clone(), set.clone())).collect();
    drop(copies);
    assert_eq!(key.name().to_string(), "user:/shared");
    assert_eq!(set.get(key.name()).map(|found| found.to_key()), Some(key));
}

#[test]
fn x9_one_unescaped_name_has_one_escaped_name() {
    for lax in [
        r"/\#5",
        r"/\#",
        r"/a\#",
        r"/\#12345678901234567890",
        r"/abc/d\#12",
    ] {
        assert!(Name::parse(lax).is_err(), "{lax}");
    }
    assert_eq!(name(r"/\#12").to_string(), r"/\#12");
}

#[test]
fn x10_a_suffix_is_judged_by_its_own_bytes() {
    let memory = *b"x\\./\\.";
    let alone = name("/a").join(&memory[4..]).expect("a whole part");
    assert_eq!(
        alone,
        name("/a")
            .join([b'\\', b'.'])
            .expect("the same bytes elsewhere")
    );
    assert_eq!(alone.base_name(), Some(&b"."[..]));
    assert!(
        name("/a").join(&memory[..3]).is_err(),
        "here the part is `x\\.`"
    );
}

#[test]
fn editing_a_copy_is_seen_by_a_diff() {
    let mut set = KeySet::from_iter([Key::new(name("user:/a")).with_value("1")]);
    let baseline = set.clone();
    let mut key = set.get(&name("user:/a")).expect("just inserted").to_key();
    key.set_value(Value::from("2"));
    assert!(
        KeySet::diff(&baseline, &set, None).is_empty(),
        "a copy is not the set"
    );
    set.insert(key);
    assert_eq!(KeySet::diff(&baseline, &set, None).len(), 1);
}

#[test]
fn metadata_of_a_meta_key_is_compared_like_any_other() {
    let with = |text| Key::new(name("meta:/a")).with_meta("x", text);
    let [one, two] = ["1", "2"].map(|text| KeySet::from_iter([with(text).expect("a valid name")]));
    assert_eq!(KeySet::diff(&one, &two, None).len(), 1);
    assert_ne!(one, two);
}
