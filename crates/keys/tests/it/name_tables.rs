//! The name tables of the reference (section 8), kept here so that they run without shared cases.

use pathline_keys::name::{Error, escape_part};
use pathline_keys::{Key, KeySet, Name};

fn name(escaped: &str) -> Name {
    Name::parse(escaped).unwrap_or_else(|error| panic!("{escaped}: {error}"))
}

#[test]
fn valid_names_have_their_canonical_form() {
    let table = [
        ("/", "/"),
        (
            "user:////////////////////////////////////hidden",
            "user:/hidden",
        ),
        ("user:/./.valid/.", "user:/.valid"),
        ("user:/hidden/../..", "user:/"),
        ("system:/../../../something", "system:/something"),
        ("user:///sw/../sw//././MyApp", "user:/sw/MyApp"),
        ("/abc/.../ghi", "/abc/.../ghi"),
        ("/abc/#10/ghi", "/abc/#_10/ghi"),
        (
            "/#9223372036854775807",
            "/#__________________9223372036854775807",
        ),
        ("/#9223372036854775808", "/#9223372036854775808"),
        ("/abc/#01/#__10/#_100/#", "/abc/#01/#__10/#_100/#"),
        ("/#5x", "/#5x"),
        ("/%/a", "/%/a"),
        ("/%/%", "/%/%"),
        ("user:/a b/c", "user:/a b/c"),
        ("/a:/b", "/a:/b"),
        (r"/abc/\%/\./\../\#10", r"/abc/\%/\./\../\#10"),
        (r"/\//", r"/\/"),
        (r"/a\/../b", r"/a\/../b"),
        (r"/a/b\\/../c", "/a/c"),
        ("system:/%/../a", "system:/a"),
        ("default:/x/../../y", "default:/y"),
    ];
    for (written, canonical) in table {
        assert_eq!(name(written).to_string(), canonical, "{written}");
    }
}

#[test]
fn invalid_names_are_refused() {
    let table = [
        "",
        "user",
        "user:",
        "user/",
        "user:abc:/",
        "abc",
        "abc:/",
        "systemx:/hello",
        "USER:/a",
        "user:a",
        ":/a",
        "system spaces",
        "nonhere:y/valid/there",
        r"/\",
        r"/\\\",
        r"user:/valid\a",
        r"/abc/d\.ef/ghi",
        r"/abc/\.def/ghi",
        r"/abc/d\#ef/ghi",
        r"/abc/\#def/ghi",
        r"/abc/\#0/ghi",
        r"/abc/\#01/ghi",
        r"/abc/\#_10/ghi",
        r"/abc/d\%ef/ghi",
        r"/abc/\%def/ghi",
        r"/\\\%",
        r"/abc/\@/def",
        r"/\#0/\#1",
        "/a\0b",
    ];
    for written in table {
        assert!(Name::parse(written).is_err(), "{written}");
    }
}

#[test]
fn whatever_canonicalises_to_an_empty_part_below_a_root_is_refused() {
    for written in [
        "/%",
        "user:/%",
        "//%",
        "/./%",
        "/../%",
        "/a/../%",
        "user:///./%/",
        "/%/.",
    ] {
        assert_eq!(
            Name::parse(written),
            Err(Error::EmptyBelowRoot),
            "{written}"
        );
    }
    assert_eq!(name("/").join("%"), Err(Error::EmptyBelowRoot));
    assert_eq!(name("/a").join("../%"), Err(Error::EmptyBelowRoot));
    assert_eq!(name("system:/").with_part(""), Err(Error::EmptyBelowRoot));
    assert_eq!(
        name("system:/valid").with_base_name(""),
        Err(Error::EmptyBelowRoot),
        "N231"
    );
    assert_eq!(
        name("/%/..").to_string(),
        "/",
        "only the canonical form counts"
    );
}

#[test]
fn suffixes_climb_but_never_out_of_the_namespace() {
    let table = [
        ("/abc", "/", "/abc"),
        ("/abc", "%", "/abc/%"),
        ("/abc", "/./../../..", "/"),
        (r"/a\/b", "../..", "/"),
        ("user:/", "../user", "user:/user"),
        (
            "/much/more/level/1/2/3",
            "../../....///../../..////../../../..//user",
            "/user",
        ),
        ("/", "user:", "/user:"),
        ("/abc", r"/\\\\\\/..", "/abc"),
        ("/abc", "%/../..", "/"),
    ];
    for (base, suffix, result) in table {
        assert_eq!(
            name(base).join(suffix),
            Ok(name(result)),
            "{base} + {suffix}"
        );
    }
    assert_eq!(name("/").join(r"invalid\"), Err(Error::Dangling));
}

#[test]
fn raw_parts_are_escaped_only_where_needed() {
    let table = [
        ("", "%"),
        ("%", r"\%"),
        (".", r"\."),
        ("..", r"\.."),
        ("...", "..."),
        ("#0", "#0"),
        ("#_10", "#_10"),
        ("#123", r"\#123"),
        ("#01", "#01"),
        ("#9223372036854775808", "#9223372036854775808"),
        ("d/f", r"d\/f"),
        (r"de\f", r"de\\f"),
        ("user:", "user:"),
    ];
    for (raw, escaped) in table {
        assert_eq!(escape_part(raw.as_bytes()), escaped.as_bytes(), "{raw}");
        let back = name("user:/x")
            .join(escaped)
            .expect("escaped parts are valid");
        assert_eq!(back.base_name(), Some(raw.as_bytes()));
    }
    assert_eq!(name("/foo").parent(), Some(name("/")));
    assert_eq!(name("/").parent(), None);
    assert_eq!(name("system:/").with_base_name("valid"), Err(Error::Root));
}

#[test]
fn a_name_below_an_empty_part_keeps_it_when_its_last_part_changes() {
    let below = name("/%/a");
    assert_eq!(below.with_base_name("b"), Ok(name("/%/b")));
    assert_eq!(below.parent(), Some(name("/")), "`/%` is not a name");
}

#[test]
fn order_is_that_of_unescaped_names() {
    let order = [
        "/a",
        "meta:/a",
        "spec:/a",
        "proc:/a",
        "dir:/a",
        "user:/",
        "user:/#9",
        "user:/#_10",
        "user:/A",
        "user:/a",
        "user:/a/%",
        "user:/a/b",
        "user:/a/b/c",
        "user:/a-b",
        r"user:/a\/x",
        "user:/ab",
        "user:/é",
        "system:/a",
        "default:/a",
    ];
    let set: KeySet = order
        .iter()
        .rev()
        .map(|escaped| Key::new(name(escaped)))
        .collect();
    let sorted: Vec<_> = set.iter().map(|key| key.name().to_string()).collect();
    assert_eq!(sorted, order);
}

#[test]
fn relations_ignore_the_namespace_if_one_side_is_cascading() {
    assert!(name("system:/infos/constants").is_below(&name("/")));
    assert!(name("/infos/constants").is_directly_below(&name("system:/infos")));
    assert!(name("user:/a").is_same_or_below(&name("/a")));
    assert!(
        !name("dir:/").is_same_or_below(&name("/")),
        "roots are unrelated"
    );
    assert!(!name("system:/valid/a").is_same_or_below(&name("user:/valid")));
    assert!(!name("user:/export-backup-2/x").is_same_or_below(&name("user:/export")));
}
