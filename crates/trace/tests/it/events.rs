//! Events that can be registered, and those that cannot.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_trace::event::{Event, EventKey, SentEvent, validate};

const HASH: &str = "8f1c2e7a90b5c1d2e3f405162738495a6b7c8d9e";

fn mk_labels(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    let labels = labels.iter();
    labels
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn mk_sent() -> SentEvent {
    SentEvent {
        name: "app-image".to_owned(),
        data: "app:1".to_owned(),
        commit_hash: Some(HASH.to_owned()),
        repository: Some("git@git.example:app.git".to_owned()),
        ..SentEvent::default()
    }
}

fn now() -> Timestamp {
    Timestamp::from_second(1_000_000).expect("a time")
}

fn problems(sent: SentEvent) -> Vec<String> {
    let problems = validate(sent, now()).err().unwrap_or_default();
    problems.iter().map(|it| it.field.clone()).collect()
}

fn valid(sent: SentEvent) -> Event {
    validate(sent, now()).expect("it is valid")
}

/// 6.4 of the reference, with its vectors.
#[test]
fn keys_are_those_of_pipecd() {
    let key =
        |name: &str, labels: &[(&str, &str)]| EventKey::of(name, &mk_labels(labels)).to_string();
    assert_eq!(
        key("name", &[]),
        "82a3537ff0dbce7eec35d69edc3a189ee6f17d82f353a553f9aa96cb0be3ce89"
    );
    assert_eq!(
        key("helloworld-image-update", &[]),
        "ce3a7a0b8783ac89d1226dbbdbdca31d85d6b571558dbe18bd7b3c68bce1e47f"
    );
    let labels = [("env", "dev"), ("appName", "helloworld")];
    assert_eq!(
        key("image-update", &labels),
        "d360830a73490c812d07986bb45ce10483aab503813112819eb27bb8ef323561"
    );
    assert_eq!(
        key("", &labels),
        key("", &[labels[1], labels[0]]),
        "K03, K04"
    );
    assert_ne!(key("a", &labels), key("a", &labels[..1]), "K05");
}

#[test]
fn k06_names_and_labels_never_collide() {
    let key = |name: &str, labels: &[(&str, &str)]| EventKey::of(name, &mk_labels(labels));
    let all = [
        key("a/b:c", &[]),
        key("a", &[("b", "c")]),
        key("a\\", &[("b", "c")]),
        key("a", &[("b:c", "")]),
        key("a", &[("b", ":c")]),
        key("a", &[("b", "c/d:e")]),
        key("a", &[("b", "c"), ("d", "e")]),
    ];
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn commit_has_the_repository_of_its_page_or_of_its_address() {
    let page = format!("https://git.example/app/-/commit/{HASH}");
    let by_page = SentEvent {
        commit_url: Some(page),
        repository: None,
        ..mk_sent()
    };
    let by_both = SentEvent {
        repository: Some("https://git.example/app".to_owned()),
        ..by_page.clone()
    };
    let without_hash = SentEvent {
        commit_hash: None,
        ..by_page.clone()
    };
    let commits =
        [mk_sent(), by_page, by_both, without_hash].map(|it| valid(it).commit.expect("one").commit);
    assert!(commits.iter().all(|it| *it == commits[0]), "{commits:?}");
    assert_eq!(
        commits[0].to_string(),
        format!("git.example/app@sha1:{HASH}")
    );
    let without = SentEvent {
        name: "a".to_owned(),
        data: "b".to_owned(),
        ..SentEvent::default()
    };
    assert_eq!(valid(without).commit, None);
}

#[test]
fn values_are_found_by_their_names() {
    let event = valid(SentEvent {
        values: mk_labels(&[("tag", "v2")]),
        ..mk_sent()
    });
    assert_eq!(event.value(None), Some("app:1"));
    assert_eq!(event.value(Some("tag")), Some("v2"));
    assert_eq!(event.value(Some("other")), None);
}

#[test]
fn what_is_wrong_is_told_with_its_field() {
    let with = |change: fn(&mut SentEvent)| {
        let mut sent = mk_sent();
        change(&mut sent);
        problems(sent)
    };
    assert_eq!(with(|_| {}), [""; 0]);
    assert_eq!(with(|it| it.name.clear()), ["name"]);
    assert_eq!(with(|it| it.data.clear()), ["data"], "Y16");
    assert_eq!(with(|it| it.data.push('\n')), ["data"]);
    assert_eq!(with(|it| it.data.push('\0')), ["data"]);
    assert_eq!(with(|it| it.name = "n".repeat(300)), ["name"]);
    assert_eq!(
        with(|it| it.commit_hash = Some("main".to_owned())),
        ["commitHash"]
    );
    assert_eq!(with(|it| it.repository = None), ["commitHash"]);
    assert_eq!(
        with(|it| it.repository = Some("javascript:alert(1)".to_owned())),
        ["repository"]
    );
    assert_eq!(
        with(|it| it.repository = Some("nonsense".to_owned())),
        ["repository"]
    );
    assert_eq!(
        with(|it| it.commit_url = Some("javascript:alert(1)".to_owned())),
        ["commitUrl"]
    );
    assert_eq!(
        with(|it| it.commit_title = Some("a\rb".to_owned())),
        ["commitTitle"]
    );
    assert_eq!(
        with(|it| it.commit_message = Some("a\n\nb\tc".to_owned())),
        [""; 0]
    );
    assert_eq!(
        with(|it| it.commit_message = Some("a\0".to_owned())),
        ["commitMessage"]
    );
    assert_eq!(
        with(|it| it.commit_timestamp = Some(-1)),
        ["commitTimestamp"]
    );
    assert_eq!(
        with(|it| it.commit_timestamp = Some(1_000_000 + 86_400)),
        [""; 0]
    );
    assert_eq!(
        with(|it| it.commit_timestamp = Some(1_000_000 + 86_401)),
        ["commitTimestamp"]
    );
    assert_eq!(
        with(|it| it.commit_timestamp = Some(i64::MAX)),
        ["commitTimestamp"]
    );
    let other_page = |it: &mut SentEvent| {
        it.commit_url = Some(format!("https://git.example/app/commit/{}", "1".repeat(40)));
    };
    assert_eq!(with(other_page), ["commitUrl"]);
}

#[test]
fn contexts_become_trailers_and_bring_none_of_ours() {
    let with = |key: &str, value: &str| {
        problems(SentEvent {
            contexts: mk_labels(&[(key, value)]),
            ..mk_sent()
        })
    };
    assert!(with("Ticket-Id", "SHOP-1").is_empty());
    for (key, value) in [
        ("two words", "x"),
        ("a--b", "x"),
        ("-a", "x"),
        ("a", ""),
        ("Pathline-Event", "x"),
        ("pipecd-dev-trace-trigger-commit-hash", "x"),
        ("a", "foo\nPathline-Source: evil"),
    ] {
        assert!(!with(key, value).is_empty(), "{key:?} {value:?}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let sent = SentEvent {
        commit_hash: Some("x".to_owned()),
        ..SentEvent::default()
    };
    assert_eq!(problems(sent), ["name", "data", "commitHash"]);
}
