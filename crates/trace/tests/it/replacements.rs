//! Values that are written into files.

use pathline_trace::replacement::{FieldPath, NotReplaced, Pattern, Place};

fn yaml(path: &str) -> Option<Place> {
    path.parse().ok().map(Place::Yaml)
}

/// Returns the text after a replacement, `same` where the value is there, or `err`.
fn replaced(place: Option<Place>, text: &str, value: &str) -> String {
    let Some(place) = place else {
        return "err".to_owned();
    };
    match place.replace(text, value) {
        Ok(Some(text)) => text,
        Ok(None) => "same".to_owned(),
        Err(_) => "err".to_owned(),
    }
}

/// 6.1 of the reference. No line is added at the end and none is dropped before the beginning; Y16 cannot come
/// this far, since events are not empty.
#[test]
fn fields_of_yaml_are_replaced() {
    for (id, text, path, value, expected) in [
        ("Y02", "::", "$.foo", "x", "err"),
        ("Y03", "foo: bar", "", "x", "err"),
        ("Y04", "foo: bar", "wrong", "x", "err"),
        ("Y05", "foo: bar", "foo", "x", "err"),
        ("Y06", "foo: bar", "$.foo", "bar", "same"),
        ("Y07", "foo: true", "$.foo", "true", "same"),
        ("Y08", "foo: 1", "$.foo", "1", "same"),
        ("Y09", "foo: -1", "$.foo", "-1", "same"),
        ("Y10", "foo: 1.5", "$.foo", "1.5", "same"),
        ("Y11", "\nfoo:\n- bar: 1", "$.foo[0].bar", "1", "same"),
        (
            "Y12, S07",
            "\nfoo:\n- bar: 1\n- baz: 2",
            "$.foo",
            "x",
            "err",
        ),
        ("Y13", "", "$.foo", "new-text", "err"),
        ("Y17", "foo: bar\n", "$.foo", "new-text", "foo: new-text\n"),
        (
            "Y18",
            "# comments\nfoo: bar\n",
            "$.foo",
            "new-text",
            "# comments\nfoo: new-text\n",
        ),
        (
            "Y19",
            "foo: bar # comments\n",
            "$.foo",
            "new-text",
            "foo: new-text # comments\n",
        ),
        (
            "Y20",
            "foo:\n  - bar\n  - baz\n",
            "$.foo[0]",
            "new-text",
            "foo:\n  - new-text\n  - baz\n",
        ),
        (
            "Y21",
            "foo: [bar, baz]\n",
            "$.foo[0]",
            "new-text",
            "foo: [new-text, baz]\n",
        ),
        (
            "Y22",
            "\nfoo:\n  - bar\n  - baz",
            "$.foo[0]",
            "new-text",
            "\nfoo:\n  - new-text\n  - baz",
        ),
        ("Y23", "foo: 1", "$.foo", "2", "foo: 2"),
        ("Y24", "foo: 1", "$.foo", "1", "same"),
    ] {
        assert_eq!(replaced(yaml(path), text, value), expected, "{id}");
    }
}

#[test]
fn texts_stay_texts_and_numbers_numbers() {
    for (text, value, expected) in [
        ("tag: v1", "1.10", "tag: \"1.10\""),
        ("tag: '1.9'", "1.10", "tag: '1.10'"),
        ("tag: \"1.9\"", "yes", "tag: \"yes\""),
        ("tag: v1", "null", "tag: \"null\""),
        ("tag: v1", "0123", "tag: \"0123\""),
        ("tag: 1", "v2", "tag: v2"),
        ("tag: 1", "2.5", "tag: 2.5"),
        ("tag: true", "false", "tag: false"),
        ("tag: true", "yes", "tag: yes"),
        ("tag: v1", "a: b #c", "tag: \"a: b #c\""),
        ("tag:", "v1", "tag: v1"),
    ] {
        let replaced = replaced(yaml("$.tag"), text, value);
        let read = pathline_document::Format::Yaml
            .read(&replaced)
            .expect("it is YAML");
        let expected_read = pathline_document::Format::Yaml
            .read(expected)
            .expect("it is YAML");
        assert_eq!(read, expected_read, "{text} -> {replaced}, not {expected}");
    }
}

#[test]
fn path_in_several_documents_changes_each() {
    let text = "a: {v: 1}\n---\nb: 1\n---\na: {v: 3} # c\n";
    assert_eq!(
        replaced(yaml("$.a.v"), text, "3"),
        "a: {v: 3}\n---\nb: 1\n---\na: {v: 3} # c\n"
    );
    let text = "a: v1\n---\na: v2\n";
    assert_eq!(replaced(yaml("$.a"), text, "v3"), "a: v3\n---\na: v3\n");
}

#[test]
fn paths_lead_to_every_item_and_to_any_depth() {
    let text = "a:\n- {n: x, v: 1}\n- {n: y, v: 1}\nb: {v: 1}\n";
    let every = "a:\n- {n: x, v: 2}\n- {n: y, v: 2}\nb: {v: 1}\n";
    assert_eq!(replaced(yaml("$.a[*].v"), text, "2"), every);
    let anywhere = "a:\n- {n: x, v: 2}\n- {n: y, v: 2}\nb: {v: 2}\n";
    assert_eq!(replaced(yaml("$..v"), text, "2"), anywhere);
    assert_eq!(replaced(yaml("$.'a.b'"), "a.b: x", "z"), "a.b: z");
    assert_eq!(
        replaced(yaml("$['a.b'].c"), "a.b: {c: x}", "z"),
        "a.b: {c: z}"
    );
    for bad in [
        "$", "$.", "$..", "$.a[", "$.a[x]", "$.a[-1]", "$.a]", "$a", "$.a.*", "$.''",
    ] {
        assert!(bad.parse::<FieldPath>().is_err(), "{bad}");
    }
}

#[test]
fn json_and_toml_keep_every_other_byte() {
    let place = Place::Json("$.image.tag".parse().expect("a path"));
    let text = "{\n\t\"image\": { \"tag\" : \"v1\" } ,\"n\":1}";
    assert_eq!(replaced(Some(place), text, "v2"), text.replace("v1", "v2"));
    let place = Place::Toml("$.image.tag".parse().expect("a path"));
    let text = "[image] # pinned\ntag = 'v1'\n\n[other]\ntag = 'v1'\n";
    assert_eq!(
        replaced(Some(place), text, "v2"),
        text.replacen("v1", "v2", 1)
    );
}

#[test]
fn value_that_an_alias_repeats_is_not_changed_and_the_alias_is() {
    let text = "a: &x v1\nb: *x\n";
    let place = yaml("$.a").expect("a path");
    let refused = place.replace(text, "v2");
    assert!(
        matches!(refused, Err(NotReplaced::Refused(_))),
        "{refused:?}"
    );
    assert_eq!(replaced(yaml("$.b"), text, "v2"), "a: &x v1\nb: v2\n");
}

const TEMPLATE: &str = "image: gcr.io/pipecd/foo:v0.1.0\nenv: {{ .encryptedSecrets.foo }}\nimage: gcr.io/pipecd/bar:v0.1.0\n";

/// 6.2 of the reference.
#[test]
fn groups_of_regular_expressions_are_replaced() {
    let foo = "image: gcr.io/pipecd/foo:(v[0-9].[0-9].[0-9])";
    for (id, text, regex, value, expected) in [
        ("R01", TEMPLATE, "[", "v0.2.0", "err".to_owned()),
        (
            "R02",
            TEMPLATE,
            "image: gcr.io/pipecd/foo:v[0-9].[0-9].[0-9]",
            "v0.2.0",
            "err".to_owned(),
        ),
        (
            "R03",
            TEMPLATE,
            "image: gcr.io/pipecd/foo:([)",
            "v0.2.0",
            "err".to_owned(),
        ),
        ("R04", TEMPLATE, "abcdefg", "v0.1.0", "err".to_owned()),
        (
            "R04 with a group",
            TEMPLATE,
            "(abcdefg)",
            "v0.1.0",
            "err".to_owned(),
        ),
        ("R05", TEMPLATE, foo, "v0.1.0", "same".to_owned()),
        (
            "R06",
            TEMPLATE,
            foo,
            "v0.2.0",
            TEMPLATE.replacen("v0.1.0", "v0.2.0", 1),
        ),
        (
            "R07",
            "newTag: v0.1.0",
            "newTag: (v[0-9].[0-9].[0-9])",
            "v0.2.0",
            "newTag: v0.2.0".to_owned(),
        ),
        (
            "R08",
            "newTag: abc1234",
            "newTag: ([0-9a-z]+)",
            "cba4321",
            "newTag: cba4321".to_owned(),
        ),
        (
            "R09",
            "newTag: sha256:abc1234",
            "newTag: sha256:([0-9a-z]+)",
            "cba4321",
            "newTag: sha256:cba4321".to_owned(),
        ),
        ("R10", "v1.0 v1.1", "(v[0-9.]+)", "v2", "v2 v2".to_owned()),
        ("R11", "aXbX", "(?:[a-z](X))+", "Y", "aXbY".to_owned()),
        (
            "R12",
            "x: 1\ny: 1\n",
            "^y: (.*)$",
            "2",
            "x: 1\ny: 2\n".to_owned(),
        ),
        (
            "R13",
            "a=1 a=2 a=1",
            "a=([0-9])",
            "3",
            "a=3 a=3 a=3".to_owned(),
        ),
        ("R14", "a=1", "a=([0-9])", "$1", "a=$1".to_owned()),
    ] {
        let place = Pattern::read(regex).ok().map(Place::Regex);
        assert_eq!(replaced(place, text, value), expected, "{id}");
    }
}

#[test]
fn large_files_and_expressions_are_refused() {
    let place = yaml("$.a").expect("a path");
    let text = format!("a: {}", "x".repeat(10 << 20));
    assert!(matches!(
        place.replace(&text, "y"),
        Err(NotReplaced::TooLarge(_))
    ));
    assert!(Pattern::read(&format!("({})", "a".repeat(5_000))).is_err());
    assert!(Pattern::read("((((a{1000}){1000}){1000}))").is_err());
}
