//! Ranges against an oracle that knows nothing of comparators: each of them as a list of the versions it has.

use pathline_release::Version;
use pathline_release::label::{Label, Range};
use pathline_testkit::cases;
use proptest::prelude::*;

fn has(range: &str, version: &str) -> bool {
    let range = Range::parse(range).unwrap_or_else(|error| panic!("`{range}`: {error}"));
    range.matches(&Version::parse(version).expect("a version"))
}

/// Ranges with versions that they have, and versions that they do not have, as Masterminds/semver 3.4 tells them.
const EXAMPLES: [(&str, &str, &str); 40] = [
    ("=2.0.0", "2.0.0 v2.0.0", "1.2.3 2.0.1 2.0.0-a"),
    ("=2.0", "2.0.0 2.0.9", "2.1.0"),
    ("1.2, <2", "1.2.0 1.2.9", "1.3.0"),
    ("4.1 || *-0", "4.1.0 9.0.0-a", ""),
    ("!=4.1.0", "4.1.1 4.2.0", "4.1.0 4.2.0-a"),
    ("!=4.1", "4.2.0 5.1.0", "4.1.0 4.1.9"),
    ("!=4.x", "5.1.0 3.0.0", "4.1.0 4.0.0"),
    ("!=4.1-alpha", "4.1.0 4.1.1-beta", "4.1.0-alpha 4.1.1-alpha"),
    ("!=1.2.3-0", "1.2.3 1.2.4-a", "1.2.3-0"),
    (">1.1", "1.2.0 4.1.0", "1.1.0 1.1.9 0.9.0"),
    (">1.1.0", "1.1.1", "1.1.0 1.1.1-a"),
    (">11", "12.0.0", "11.1.0 11.0.0"),
    (">11.1", "11.2.0", "11.1.1 11.1.0"),
    (">0-0", "1.0.0-a", "0.0.1-alpha 0.0.0-alpha 0.9.0"),
    (">0.0.0-0", "0.0.0-alpha 0.0.1", "0.0.0-0"),
    (">*", "0.0.1 1.0.0", "0.0.0"),
    ("<0-z", "0.0.0-alpha", "0.0.0 0.0.1"),
    ("<1.1", "1.0.9 0.1.0", "1.1.0 1.1.1"),
    ("<1.1-z", "1.1.0-a 1.0.0", "1.1.0"),
    (">=1.1", "1.1.0 4.1.0", "0.0.9 1.1.0-a"),
    (">=11.1.3-0", "11.1.3-a 11.2.0", "11.1.2"),
    (">=0-0", "0.0.1-alpha 0.0.0-alpha", ""),
    ("<=1.1", "0.1.0 1.1.0 1.1.9", "1.2.0 2.1.0"),
    ("<=11", "11.2.0 1.2.3", "12.2.0"),
    ("<=1.1-a", "0.1.0-alpha 1.1.9", "1.2.0"),
    ("<=1.1.0", "1.1.0 0.9.0", "1.1.1"),
    (">1.1, <2", "1.2.1", "1.1.1 2.0.0"),
    (
        ">=1.1 <2 !=1.2.3 || > 3",
        "1.2.2 4.1.2",
        "1.2.3 3.0.0 2.5.0",
    ),
    ("~1.2.3", "1.2.4 1.2.3", "1.3.0 1.2.2"),
    ("~1.2", "1.2.0 1.2.4", "1.3.0 1.1.9"),
    ("~1", "1.2.4 1.0.0", "2.0.0 0.9.0"),
    ("~*", "2.1.1 0.0.0", "2.1.1-a"),
    ("~0.0.0", "0.0.0 0.0.5", "0.1.0 1.2.3"),
    ("~1.1-alpha", "1.1.1-beta 1.1.0", "1.2.0"),
    ("^1.2.3", "1.8.9 1.2.3", "2.0.0 1.2.2"),
    (
        "^1.2.0-alpha.0",
        "1.2.1-alpha.1 1.2.0-alpha.1",
        "1.2.0-0 2.0.0",
    ),
    ("^0.2.3", "0.2.5", "0.3.0 1.2.3"),
    ("^0.0.3", "0.0.3", "0.0.4 0.1.3 1.0.3"),
    ("^0.0", "0.0.3 0.0.0", "0.1.0 1.0.4"),
    ("^0", "0.2.3 0.0.0", "1.1.4"),
];

#[test]
fn ranges_have_the_versions_that_masterminds_gives_them() {
    for (range, inside, outside) in EXAMPLES {
        for version in inside.split_whitespace() {
            assert!(has(range, version), "`{range}` has {version}");
        }
        for version in outside.split_whitespace() {
            assert!(!has(range, version), "`{range}` has not {version}");
        }
    }
}

#[test]
fn pre_release_is_in_a_group_that_names_one_and_in_no_other() {
    assert!(has(">=1.0.0 <2.0.0-0", "1.5.0-rc.1"));
    assert!(!has(">=1.0.0 || <2.0.0-0 >1.9.0", "1.5.0-rc.1"));
    assert!(has("1.x-0", "1.5.0-rc.1"));
}

#[test]
fn wrong_ranges_are_refused_with_the_part_that_is_wrong() {
    for (range, expected) in [
        (">=", "`` is there where a version is expected"),
        (">=1.0.0,", "`` is there where a version is expected"),
        ("1.x,,2.x", "`` is there where a version is expected"),
        ("|| 1.x", "`` is there where a version is expected"),
        ("1.x ||", "`` is there where a version is expected"),
        ("=>1.0.0", "`>1.0.0` is not a version"),
        ("=<1.0.0", "`<1.0.0` is not a version"),
        ("~>1.0.0", "`>1.0.0` is not a version"),
        (">=1.0.0<2.0.0", "`1.0.0<2.0.0` is not a version"),
        (
            "1.0.0 - 2.0.0",
            "`-` is no sign of ranges; write `>=1.0 <=2.0` for `1.0 - 2.0`",
        ),
        (">=1.0.0 | <2", "`|` is not a version"),
        ("^1.2.3.4", "`1.2.3.4` has more than three parts"),
        ("^01.2", "`01.2` has a part with a leading zero"),
        (">=1.x.3", "`1.x.3` has a wildcard before a number"),
        (
            "1.x-alpha || 2.x",
            "`1.x-alpha` has a wildcard, which takes no pre-release but `-0`",
        ),
        ("^1.2.3-", "`1.2.3-` has an empty pre-release"),
        ("^1.2.3-beta.01", "`1.2.3-beta.01` has no valid pre-release"),
        ("^1.2.3+build", "`1.2.3+build` is not a version"),
        (
            "^99999999999999999999",
            "`99999999999999999999` has a part that is too large",
        ),
        ("^vv1", "`vv1` is not a version"),
        ("^", "`` is there where a version is expected"),
    ] {
        let refused = Range::parse(range).expect_err(range);
        assert_eq!(refused.to_string(), expected, "`{range}`");
        assert!(Label::parse(range).is_err(), "`{range}`");
    }
}

/// Numbers of parts, small enough that all versions can be listed.
const PARTS: u64 = 4;

/// A comparator of whole versions: its operator, and how many parts are given.
type Drawn = (&'static str, [u64; 3], usize);

fn comparator() -> impl Strategy<Value = Drawn> {
    let operators = ["", "=", "!=", ">", ">=", "<", "<=", "~", "^"];
    let operator = proptest::sample::select(operators.to_vec());
    let parts = [0..PARTS, 0..PARTS, 0..PARTS];
    (operator, parts, 1..=3_usize)
}

/// Writes a comparator down; parts that are not given are left out, or wildcards.
fn written((operator, parts, given): &Drawn, with_wildcards: bool) -> String {
    let mut parts: Vec<String> = parts.iter().take(*given).map(u64::to_string).collect();
    if with_wildcards {
        parts.resize(3, "x".to_owned());
    }
    format!("{operator}{}", parts.join("."))
}

/// Lists the versions that a comparator has: between two bounds, or outside of them. A version is a number here.
fn expanded((operator, parts, given): &Drawn) -> Vec<[u64; 3]> {
    let bound = |parts: [u64; 3]| parts[0] * 10_000 + parts[1] * 100 + parts[2];
    let mut low = [0; 3];
    low[..*given].copy_from_slice(&parts[..*given]);
    let mut high = [99; 3];
    high[..*given].copy_from_slice(&parts[..*given]);
    let kept = match *operator {
        "~" => (*given).min(2),
        "^" => {
            let first = low.iter().take(*given).position(|it| *it > 0);
            first.map_or(*given, |it| it + 1)
        }
        _ => *given,
    };
    let mut top = [99; 3];
    top[..kept].copy_from_slice(&parts[..kept]);
    let all = (0..=PARTS).flat_map(|major| {
        (0..=PARTS).flat_map(move |minor| (0..=PARTS).map(move |patch| [major, minor, patch]))
    });
    let is_in = |version: &[u64; 3]| {
        let version = bound(*version);
        match *operator {
            "" | "=" => (bound(low)..=bound(high)).contains(&version),
            "!=" => !(bound(low)..=bound(high)).contains(&version),
            ">" => version > bound(high),
            ">=" => version >= bound(low),
            "<" => version < bound(low),
            "<=" => version <= bound(high),
            _ => (bound(low)..=bound(top)).contains(&version),
        }
    };
    all.filter(is_in).collect()
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn range_has_what_its_comparators_list(
        groups in proptest::collection::vec(proptest::collection::vec(comparator(), 1..4), 1..3),
        with_wildcards: bool,
        separator in prop_oneof![Just(" "), Just(","), Just(" , "), Just(", ")],
    ) {
        let texts = groups.iter().map(|group| {
            let group: Vec<_> = group.iter().map(|it| written(it, with_wildcards)).collect();
            group.join(separator)
        });
        let text = texts.collect::<Vec<_>>().join(" || ");
        let range = Range::parse(&text).expect("a range");
        let lists: Vec<Vec<_>> = groups.iter().map(|group| group.iter().map(expanded).collect()).collect();
        for [major, minor, patch] in expanded(&(">=", [0; 3], 3)) {
            let version = [major, minor, patch];
            let listed = lists.iter().any(|group| group.iter().all(|list| list.contains(&version)));
            let spelled = format!("{major}.{minor}.{patch}");
            let matches = range.matches(&Version::parse(&spelled).expect("a version"));
            prop_assert_eq!(matches, listed, "`{}` and {}", text, spelled);
            let before = format!("{spelled}-rc.1");
            prop_assert!(!range.matches(&Version::parse(&before).expect("a version")));
        }
    }

    #[test]
    fn any_text_is_a_label_or_refused(text in "[\\PC ]{0,40}", tag in "[0-9v.x*^~<>=!|, -]{0,20}") {
        for text in [text, tag] {
            if let Ok(label) = Label::parse(&text) {
                label.choose(["1.0.0", "latest", &text], None);
                prop_assert_eq!(label.as_str(), &text);
            }
        }
    }
}
