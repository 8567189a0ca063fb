//! The 648 name cases that were run through the C library.

use std::cmp::Ordering;

use pathline_keys::Name;
use pathline_keys::name::{Error, escape_part};

use crate::cases;

/// Names that the C library accepts and the written rules do not: whatever canonicalises to `/%` or
/// `ns:/%`.
fn is_intended_difference(canonical: &str) -> bool {
    canonical
        .split_once('/')
        .is_some_and(|(_, path)| path == "%")
}

fn check(case: &str, result: Result<Name, Error>, expected: &[&str]) {
    let canonical = expected[0];
    if canonical.starts_with("INVALID") {
        assert!(result.is_err(), "{case}: {result:?} instead of an error");
        return;
    }
    if is_intended_difference(canonical) {
        assert_eq!(result, Err(Error::EmptyBelowRoot), "{case}");
        return;
    }
    let name = result.unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(name.to_string(), canonical, "{case}");
    assert_eq!(describe(&name), expected[1], "{case}");
    let base = name
        .base_name()
        .map(String::from_utf8_lossy)
        .unwrap_or_default();
    assert_eq!(format!("base={base}"), expected[2], "{case}");
    assert_eq!(
        Name::parse(name.escaped()),
        Ok(name),
        "{case}: canonical names are stable"
    );
}

fn describe(name: &Name) -> String {
    let parts: Vec<_> = name
        .parts()
        .map(|part| match part {
            b"" => "(empty)".to_owned(),
            part => String::from_utf8_lossy(part).into_owned(),
        })
        .collect();
    let namespace = format!("{:?}", name.namespace()).to_uppercase();
    format!(
        "{namespace} [{}] usize={}",
        parts.join(" | "),
        name.unescaped().len()
    )
}

fn relation(a: &str, b: &str, expected: &[&str]) {
    let case = format!("{a} vs {b}");
    let (Ok(a), Ok(b)) = (Name::parse(a), Name::parse(b)) else {
        assert_eq!(expected[0], "below=-1", "{case}");
        return;
    };
    assert_eq!(
        format!("below={}", u8::from(b.is_below(&a))),
        expected[0],
        "{case}"
    );
    let (same, directly) = (b.is_same_or_below(&a), b.is_directly_below(&a));
    let both = format!(
        "sameOrBelow={} directlyBelow={}",
        u8::from(same),
        u8::from(directly)
    );
    assert_eq!(both, expected[1], "{case}");
    let order = match a.cmp(&b) {
        Ordering::Less => "<",
        Ordering::Equal => "=",
        Ordering::Greater => ">",
    };
    assert_eq!(format!("cmp={order}"), expected[2], "{case}");
}

#[test]
fn names_canonicalise_as_in_the_shared_cases() {
    let Some(table) = cases::read("keys names", "elektra-names.tsv") else {
        return;
    };
    let mut count = 0;
    for line in table.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let (operation, input, expected) = (fields[0], fields[1], &fields[2..]);
        let case = format!("{operation} {input}");
        let pair = |separator| input.split_once(separator).expect("two operands");
        let base = |name: &str| Name::parse(name).expect("the base is valid");
        match operation {
            "new" => check(&case, Name::parse(input), expected),
            "add" => check(&case, base(pair(" + ").0).join(pair(" + ").1), expected),
            "addbase" => check(
                &case,
                base(pair(" + ").0).with_part(pair(" + ").1),
                expected,
            ),
            "setbase" => {
                let (name, part) = pair(" -> ");
                let result = match part {
                    "NULL" => base(name).parent().ok_or(Error::Root),
                    part => base(name).with_base_name(part),
                };
                check(&case, result, expected);
            }
            "esc" => {
                let raw = if input == "(empty)" { "" } else { input };
                assert_eq!(
                    escape_part(raw.as_bytes()),
                    expected[0].as_bytes(),
                    "{case}"
                );
            }
            "below" => relation(pair(" vs ").0, pair(" vs ").1, expected),
            other => panic!("unknown operation {other}"),
        }
        count += 1;
    }
    assert!(count >= 648, "only {count} cases");
}
