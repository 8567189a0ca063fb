//! The table of REST requests, as far as it is about names and bodies.

use pathline_release::request::{
    Body, Host, Hosts, InvalidBody, MAX_BODY, Problem, Reference, Scheme,
};
use pathline_release::{InvalidName, Token, TrackerName};
use serde_json::{Value, json};

/// Returns the body that the rows begin with, with fields added or replaced; null removes one.
fn body_with(changes: &Value) -> Body {
    let mut body = json!({"id": "a.b", "token": "tok-SENTINEL", "repo": "https://github.com/o/r", "sourcePath": ""});
    for (name, value) in changes.as_object().expect("changes") {
        let fields = body.as_object_mut().expect("a body");
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
    Body::read(body.to_string().as_bytes()).expect("an object")
}

/// Returns the problems of a POST, as `field code`.
fn problems(changes: &Value) -> Vec<String> {
    let refused = body_with(changes)
        .create(&Hosts::default())
        .expect_err("it is refused");
    for problem in &refused {
        let told = serde_json::to_string(problem).expect("a problem");
        for secret in ["SENTINEL", "tok@", "abc\\n"] {
            assert!(!told.contains(secret), "{told}");
        }
    }
    listed(&refused)
}

fn listed(problems: &[Problem]) -> Vec<String> {
    problems
        .iter()
        .map(|it| format!("{} {}", it.field, it.code))
        .collect()
}

#[test]
fn h02_body_becomes_a_tracker_and_its_token_is_shown_nowhere() {
    let tracker = body_with(&json!({}))
        .create(&Hosts::default())
        .expect("a tracker");
    assert_eq!((tracker.name.group(), tracker.name.name()), ("a", "b"));
    assert_eq!(
        tracker.source.repository.to_string(),
        "https://github.com/o/r"
    );
    assert_eq!(tracker.source.path.file(), "fathomable.yaml");
    assert_eq!(tracker.source.reference, Reference::Head);
    assert!(!format!("{tracker:?}").contains("SENTINEL"));
    assert_eq!(tracker.token.expose(), "tok-SENTINEL");
}

#[test]
fn h04_names_are_the_same_whatever_their_case() {
    let (lower, upper): (TrackerName, TrackerName) =
        ("a.b".parse().unwrap(), "A.B".parse().unwrap());
    assert_eq!(lower.key(), upper.key());
    assert_eq!(upper.as_str(), "A.B", "the case is kept");
}

#[test]
fn h09_to_h12_a_segment_of_the_path_is_decoded_once_and_then_a_name() {
    let read = TrackerName::from_path_segment;
    assert_eq!(read("ab"), Err(InvalidName::Malformed), "H09");
    assert_eq!(read("a.b.c"), Err(InvalidName::Malformed), "H10");
    assert_eq!(
        read("a%2Eb").map(|it| it.key()),
        Ok("a.b".to_owned()),
        "H11"
    );
    assert_eq!(read("a%252Eb"), Err(InvalidName::Malformed), "H12");
    let long = "a".repeat(64);
    for bad in [
        "",
        ".",
        "a.",
        ".b",
        "-a.b",
        "a.b-",
        "a_.b",
        "a.%00",
        "..",
        "a.%",
        "a.%zz",
        "a.%ff",
        "a b.c",
        "a.\u{202e}b",
    ] {
        assert_eq!(read(bad), Err(InvalidName::Malformed), "{bad}");
    }
    assert_eq!(read(&format!("a.{long}")), Err(InvalidName::Malformed));
    assert!(
        read(&format!("a.{}", &long[1..])).is_ok(),
        "63 characters are allowed"
    );
    assert!(read(&"a.b".repeat(10_000)).is_err());
}

#[test]
fn h17_to_h19_bodies_that_are_no_objects_are_refused() {
    for bad in [
        &b"[1]"[..],
        b"{",
        b"\xff",
        b"",
        b"null",
        b"{\"id\": \"a.b\", \"id\": \"a.b\"}",
    ] {
        assert!(Body::read(bad).is_err(), "{}", String::from_utf8_lossy(bad));
    }
    let long = format!("{{\"id\": \"{}\"}}", "a".repeat(MAX_BODY - 9));
    assert_eq!(long.len(), 65_537, "H18");
    assert!(matches!(
        Body::read(long.as_bytes()),
        Err(InvalidBody::TooLarge)
    ));
    assert!(Body::read(&long.as_bytes()[..0]).is_err());
    let deep = format!(
        "{{\"status\": {}1{}}}",
        "[".repeat(1_000),
        "]".repeat(1_000)
    );
    assert!(matches!(
        Body::read(deep.as_bytes()),
        Err(InvalidBody::NotJson(_))
    ));
}

#[test]
fn h20_to_h34_problems_are_told_together_and_in_the_order_of_the_fields() {
    for (id, changes, expected) in [
        (
            "H20",
            json!({"token": null, "repo": null}),
            vec!["token required", "repo required"],
        ),
        ("H21", json!({"token": 5}), vec!["token wrong-type"]),
        ("H23", json!({"token": "abc\n"}), vec!["token malformed"]),
        (
            "H23",
            json!({"token": "a".repeat(513)}),
            vec!["token malformed"],
        ),
        (
            "H24",
            json!({"repo": "https://tok@github.com/o/r"}),
            vec!["repo credentials-in-url"],
        ),
        (
            "H25",
            json!({"repo": "http://github.com/o/r"}),
            vec!["repo insecure-scheme"],
        ),
        (
            "H26",
            json!({"repo": "https://evil.example/o/r"}),
            vec!["repo unsupported-host"],
        ),
        (
            "H26",
            json!({"repo": "https://github.com:444/o/r"}),
            vec!["repo unsupported-host"],
        ),
        (
            "H28",
            json!({"repo": "https://github.com/o"}),
            vec!["repo malformed"],
        ),
        (
            "H28",
            json!({"repo": "https://github.com/o/r/x"}),
            vec!["repo malformed"],
        ),
        (
            "H28",
            json!({"repo": "https://github.com/o/.."}),
            vec!["repo malformed"],
        ),
        (
            "H28",
            json!({"repo": "https://github.com/o/r?x"}),
            vec!["repo malformed"],
        ),
        (
            "H28",
            json!({"repo": "ftp://github.com/o/r"}),
            vec!["repo malformed"],
        ),
        (
            "H29",
            json!({"sourcePath": "../x"}),
            vec!["sourcePath malformed"],
        ),
        (
            "H29",
            json!({"sourcePath": "/x"}),
            vec!["sourcePath malformed"],
        ),
        (
            "H29",
            json!({"sourcePath": "a//b"}),
            vec!["sourcePath malformed"],
        ),
        (
            "H29",
            json!({"sourcePath": "a\u{0}b"}),
            vec!["sourcePath malformed"],
        ),
        (
            "H29",
            json!({"sourcePath": "a\\b"}),
            vec!["sourcePath malformed"],
        ),
        (
            "H30",
            json!({"branch": "main", "tag": "v1"}),
            vec!["tag ref-conflict", "branch ref-conflict"],
        ),
        ("H31", json!({"commit": "abc123"}), vec!["commit malformed"]),
        (
            "H31",
            json!({"commit": "a".repeat(64)}),
            vec!["commit malformed"],
        ),
        ("H32", json!({"branch": "a..b"}), vec!["branch malformed"]),
        ("H32", json!({"branch": "-x"}), vec!["branch malformed"]),
        ("H32", json!({"branch": "x.lock"}), vec!["branch malformed"]),
        (
            "H32",
            json!({"branch": "x.lock/y"}),
            vec!["branch malformed"],
        ),
        ("H32", json!({"tag": "a@{b"}), vec!["tag malformed"]),
        ("H32", json!({"tag": ""}), vec!["tag malformed"]),
        ("H32", json!({"tag": 1}), vec!["tag wrong-type"]),
        (
            "H33",
            json!({"sourcepath": ""}),
            vec!["sourcepath unknown-field"],
        ),
        ("H34", json!({"id": "a.group"}), vec!["id reserved"]),
        ("H34", json!({"id": "mandatory.b"}), vec!["id reserved"]),
        (
            "all",
            json!({"id": "a", "token": " ", "repo": "o", "sourcePath": "..", "commit": "", "colour": 1}),
            vec![
                "id malformed",
                "token malformed",
                "repo malformed",
                "sourcePath malformed",
                "commit malformed",
                "colour unknown-field",
            ],
        ),
    ] {
        assert_eq!(problems(&changes), expected, "{id}: {changes}");
    }
}

#[test]
fn h22_and_h27_to_h28_what_is_right_is_taken_in_its_one_spelling() {
    let create = |changes| {
        body_with(&changes)
            .create(&Hosts::default())
            .expect("a tracker")
    };
    assert!(create(json!({"token": ""})).token.is_anonymous(), "H22");
    let repository = |repo: &str| create(json!({"repo": repo})).source.repository.to_string();
    assert_eq!(repository("o/r"), "https://github.com/o/r", "H27");
    assert_eq!(
        repository("https://github.com/o/r.git/"),
        "https://github.com/o/r",
        "H28"
    );
    assert_eq!(
        repository("https://GitHub.com/O/R.git"),
        "https://github.com/O/R",
        "H28"
    );
    for (path, file) in [
        (".", "fathomable.yaml"),
        ("deploy", "deploy/fathomable.yaml"),
        ("deploy/web.yml", "deploy/web.yml"),
    ] {
        assert_eq!(create(json!({"sourcePath": path})).source.path.file(), file);
    }
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let reference = create(json!({"commit": commit})).source.reference;
    assert_eq!(reference, Reference::Commit(commit.to_owned()));
    let view =
        json!({"hasToken": true, "generation": 1, "status": {"phase": "tracking"}, "name": "b"});
    create(view);
}

#[test]
fn hosts_that_are_configured_take_other_schemes_and_nested_groups() {
    let host = |name: &str, schemes: &[Scheme]| Host {
        name: name.to_owned(),
        schemes: schemes.to_vec(),
        has_nested_groups: true,
    };
    let hosts = Hosts(vec![
        host("git.example:8080", &[Scheme::Http]),
        host("git.example", &[Scheme::Https, Scheme::Ssh]),
        host("", &[Scheme::File]),
    ]);
    let read = |repo: &str| {
        let created = body_with(&json!({"repo": repo})).create(&hosts);
        created
            .map(|it| it.source.repository.to_string())
            .map_err(|it| listed(&it))
    };
    for same in [
        "http://git.example:8080/o/r",
        "https://git.example/a/b/c",
        "ssh://git@git.example/o/r",
        "ssh://git@git.example/o/r.git",
        "file:///srv/git/r",
        "file:///srv/git/r.git",
    ] {
        assert_eq!(read(same), Ok(same.to_owned()));
    }
    assert_eq!(
        read("https://git.example/o/r.git"),
        Ok("https://git.example/o/r".to_owned())
    );
    assert_eq!(
        read("http://git.example/o/r"),
        Err(vec!["repo insecure-scheme".to_owned()])
    );
    assert_eq!(
        read("ssh://root@git.example/o/r"),
        Err(vec!["repo credentials-in-url".to_owned()])
    );
    assert_eq!(
        read("file:///srv/../etc"),
        Err(vec!["repo malformed".to_owned()])
    );
    assert_eq!(read("o/r"), Err(vec!["repo unsupported-host".to_owned()]));
    assert_eq!(
        read("http://other.example/o/r"),
        Err(vec!["repo unsupported-host".to_owned()])
    );
    let message = |repo: &str| {
        let refused = body_with(&json!({"repo": repo})).create(&hosts);
        refused.expect_err(repo).remove(0).message
    };
    for unknown in ["https://other.example/o/r", "http://other.example/o/r"] {
        assert_eq!(
            message(unknown),
            "the host is not configured; there is git.example:8080, git.example, file. \
             `hosts` in the file of `--config` adds others"
        );
    }
    assert_eq!(
        message("http://git.example/o/r"),
        "the host is spoken to over https, ssh only; `schemes` of it in the file of `--config` adds others"
    );
}

#[test]
fn missing_field_that_may_be_empty_says_so() {
    let refused = body_with(&json!({"token": null, "sourcePath": null, "repo": null}));
    let refused = refused
        .create(&Hosts::default())
        .expect_err("it is refused");
    let messages: Vec<_> = refused.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the field is missing; `\"\"` means that there is none",
            "the field is missing",
            "the field is missing; `\"\"` means the root of the repository",
        ]
    );
}

#[test]
fn h36_to_h40_a_replacement_changes_what_is_other_and_sends_no_token_elsewhere() {
    let hosts = Hosts::default();
    let stored = body_with(&json!({})).create(&hosts).expect("a tracker");
    let replace = |changes: &Value| {
        body_with(changes).replace(&stored.name, (&stored.source, &stored.token), &hosts)
    };
    let same = replace(&json!({})).expect("H36");
    assert!(!same.has_new_source && same.token.is_none(), "H36");
    let other = replace(&json!({"id": "x.y"})).expect_err("H37");
    assert_eq!(listed(&other), ["id id-mismatch"]);
    assert!(
        replace(&json!({"id": "A.B"})).is_ok(),
        "the case does not matter"
    );
    let kept = replace(&json!({"token": null, "id": null})).expect("H38");
    assert!(!kept.has_new_source && kept.token.is_none(), "H38");
    let elsewhere = replace(&json!({"token": null, "repo": "o/other"})).expect_err("H39");
    assert_eq!(listed(&elsewhere), ["token token-required"]);
    let elsewhere =
        replace(&json!({"token": null, "repo": "o/other", "branch": "-"})).expect_err("H39");
    assert_eq!(
        listed(&elsewhere),
        ["token token-required", "branch malformed"]
    );
    assert!(replace(&json!({"token": "new", "repo": "o/other"})).is_ok());
    let branch = replace(&json!({"branch": "dev"})).expect("H40");
    assert!(branch.has_new_source, "H40");
    let token = replace(&json!({"token": "new"})).expect("a token alone");
    assert!(!token.has_new_source);
    assert_eq!(token.token, Token::new("new".to_owned()));
}
