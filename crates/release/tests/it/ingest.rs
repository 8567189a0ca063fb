//! Messages of forges and registries, and whom they concern.

use pathline_release::ingest::{Hint, Sender};
use pathline_release::request::{Body, Host, Hosts, Scheme, SourceLocation};
use serde_json::{Value, json};

fn mk_source(fields: &Value) -> SourceLocation {
    let mut body = json!({"id": "a.b", "token": "", "repo": "Shop/Web", "sourcePath": ""});
    for (field, value) in fields.as_object().expect("fields") {
        body[field] = value.clone();
    }
    let body = Body::read(body.to_string().as_bytes()).expect("an object");
    let hosts = Hosts(vec![Host {
        name: "github.com".to_owned(),
        schemes: vec![Scheme::Https, Scheme::Ssh],
        has_nested_groups: false,
    }]);
    body.create(&hosts).expect("a tracker").source
}

/// Tells whether a message concerns a tracker of `Shop/Web` with an image.
fn concerns(sender: Sender, event: &str, message: &Value, source: &Value) -> bool {
    let source = mk_source(source);
    let hints = sender.hints(event, message);
    hints
        .iter()
        .any(|hint| hint.concerns(&source, ["ghcr.io/shop/web"]))
}

fn push(reference: &str) -> Value {
    json!({"ref": reference, "repository": {"html_url": "https://github.com/shop/web"}})
}

#[test]
fn push_concerns_who_follows_that_branch_or_tag() {
    let cases = [
        ("refs/heads/main", json!({}), true),
        ("refs/heads/main", json!({"branch": "main"}), true),
        ("refs/heads/main", json!({"branch": "dev"}), false),
        ("refs/tags/v1", json!({"tag": "v1"}), true),
        ("refs/tags/v1", json!({"branch": "v1"}), false),
        ("refs/tags/v1", json!({}), false),
        ("refs/heads/main", json!({"repo": "shop/other"}), false),
        ("refs/heads/main", json!({"commit": "a".repeat(40)}), false),
        (
            "refs/heads/main",
            json!({"repo": "ssh://git@github.com/shop/web.git"}),
            true,
        ),
    ];
    for (reference, source, expected) in cases {
        let found = concerns(Sender::GitHub, "push", &push(reference), &source);
        assert_eq!(found, expected, "{reference} {source}");
    }
}

#[test]
fn push_is_known_by_either_url_of_the_repository() {
    for url in [
        "https://github.com/shop/web.git",
        "https://github.com/SHOP/WEB/",
    ] {
        let message = json!({"ref": "refs/heads/main", "repository": {"clone_url": url}});
        assert!(
            concerns(Sender::GitHub, "push", &message, &json!({})),
            "{url}"
        );
    }
}

#[test]
fn package_of_github_concerns_who_wants_the_image() {
    for event in ["package", "registry_package"] {
        let package =
            |kind: &str| json!({event: {"package_type": kind, "namespace": "Shop", "name": "web"}});
        let found = |kind| concerns(Sender::GitHub, event, &package(kind), &json!({}));
        assert!(found("CONTAINER"), "{event}");
        assert!(!found("npm"), "{event}");
    }
}

#[test]
fn notification_of_a_registry_concerns_who_wants_the_image() {
    let message = |action: &str, repository: &str| json!({"events": [{"action": action, "target": {"repository": repository}}]});
    let found = |message: &Value| concerns(Sender::Distribution, "", message, &json!({}));
    assert!(found(&message("push", "shop/web")));
    assert!(found(&message("delete", "shop/web")));
    assert!(!found(&message("pull", "shop/web")));
    assert!(!found(&message("push", "shop/web2")));
}

#[test]
fn anybody_names_a_repository_an_image_or_both() {
    let found = |message: Value| concerns(Sender::Generic, "", &message, &json!({}));
    assert!(found(json!({"repo": "https://github.com/shop/web"})));
    assert!(found(json!({"repo": "shop/web", "ref": "refs/heads/main"})));
    assert!(found(json!({"image": "ghcr.io/shop/web"})));
    assert!(found(json!({"image": "ghcr.io/shop/web:1.2"})));
    assert!(found(json!({"image": "ghcr.io/shop/web@sha256:aa"})));
    assert!(!found(json!({"image": "quay.io/shop/web"})));
    assert!(!found(json!({"repo": "git.example/shop/web"})));
}

#[test]
fn message_that_makes_no_sense_has_no_hints() {
    let senders = crate::ingest_senders::ALL;
    let messages = [
        json!(null),
        json!([1]),
        json!({"repository": 5, "ref": {}, "events": {}, "repo": [], "image": "web"}),
        json!({"events": [1, {"target": {"repository": 5}}], "repo": "https://", "image": ""}),
        json!({"package": {"package_type": "container"}}),
        json!({"package": {"type": "container", "name": ["web"], "owner": {"login": "shop"}}}),
        json!({"object_kind": "push", "project": {"git_http_url": {}}, "ref": 7}),
        json!({"object_kind": ["push"], "project": {"git_http_url": "https://git.example/a/b"}}),
        json!({"push_data": 1, "repository": {"repo_name": null}}),
        json!({"push_data": null, "repository": "web", "updated_tags": 0, "docker_url": "web"}),
        json!({"type": "PUSH_ARTIFACT", "event_data": []}),
        json!({"type": "harbor.artifact.pushed", "data": {"repository": {"repo_full_name": 3}}}),
    ];
    for sender in senders {
        for message in &messages {
            for event in ["push", "package", "ping", ""] {
                assert_eq!(
                    sender.hints(event, message),
                    Vec::<Hint>::new(),
                    "{message}"
                );
            }
        }
    }
}

#[test]
fn one_message_has_a_limited_number_of_hints() {
    let event = |index| json!({"action": "push", "target": {"repository": format!("r{index}")}});
    let events: Vec<_> = (0..5000).map(event).collect();
    let hints = Sender::Distribution.hints("", &json!({"events": events}));
    assert_eq!(hints.len(), 1000);
}
