//! Messages of forges and registries: P24 of the contract of the tracker.

use axum::body::Body;
use axum::http::Request;
use axum::http::request::Builder;
use hmac::{Hmac, KeyInit, Mac};
use pathline_ledger::trackers::WhatHappened;
use pathline_release::ingest::Sender;
use pathline_remote::Secret;
use pathline_server::{IngestAuth, IngestHook, app};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::tracked::{Seen, Tracked, checked};
use crate::world::Answer;

const KEY: &str = "SENTINEL-of-the-sender";

/// Starts a server with a sender of each kind, and a tracker whose image is known.
async fn with_senders() -> Tracked {
    let mut tracked = Tracked::new().await;
    let hook = |name: &str, sender, auth| IngestHook {
        name: name.to_owned(),
        sender,
        auth,
        secret: Secret::new(KEY),
    };
    let hooks = vec![
        hook("github", Sender::GitHub, IngestAuth::Hmac),
        hook("registry", Sender::Distribution, IngestAuth::Header),
        hook("ci", Sender::Generic, IngestAuth::Key),
        hook("lab", Sender::GitLab, IngestAuth::Header),
        hook("gitea", Sender::Gitea, IngestAuth::Hmac),
        hook("hub", Sender::DockerHub, IngestAuth::Key),
        hook("harbor", Sender::Harbor, IngestAuth::Header),
        hook("quay", Sender::Quay, IngestAuth::Key),
    ];
    let state = tracked.world.state.clone().with_ingest(hooks);
    tracked.world.router = app(state.clone());
    tracked.world.state = state;
    tracked.make(json!({})).await;
    tracked.see("a.b", &Seen::new("one", "sha256:1")).await;
    tracked.told().await;
    tracked
}

async fn send(tracked: &Tracked, request: Builder, body: impl Into<Body>) -> Answer {
    checked(tracked.world.send(request, None, body.into()).await)
}

/// Returns a message of GitHub, signed with a key.
fn github(event: &str, delivery: &str, body: &str, key: &str) -> Builder {
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("it is there");
    let mac = mac.chain_update(body).finalize().into_bytes();
    let digits: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    Request::post("/ingest/github")
        .header("x-github-event", event)
        .header("x-github-delivery", delivery)
        .header("x-hub-signature-256", format!("sha256={digits}"))
}

async fn send_github(tracked: &Tracked, event: &str, delivery: &str, body: &Value) -> Answer {
    let body = body.to_string();
    send(tracked, github(event, delivery, &body, KEY), body).await
}

fn push(repository: &str, reference: &str) -> Value {
    let url = format!("https://github.com/{repository}");
    json!({"ref": reference, "repository": {"html_url": url}})
}

/// Returns the senders whose hints are recorded.
async fn hints(tracked: &Tracked) -> Vec<String> {
    let changes = tracked.world.ledger.trackers().changes(0, 1000).await;
    let hint = |what| match what {
        WhatHappened::Hinted { by } => Some(by),
        _ => None,
    };
    let changes = changes.expect("it is there").into_iter();
    changes.filter_map(|it| hint(it.what)).collect()
}

/// Returns the image that the tracker wants: its registry and its repository.
async fn image(tracked: &Tracked) -> (String, String) {
    let shown = tracked.get("/trackers/a.b").await.body;
    let image = shown["status"]["image"]["repository"]
        .as_str()
        .expect("it is there");
    let (registry, repository) = image.split_once('/').expect("it is there");
    (registry.to_owned(), repository.to_owned())
}

#[tokio::test]
async fn p24_good_message_is_taken_and_leaves_one_hint() {
    let tracked = with_senders().await;
    let body = push("O/R", "refs/heads/main");
    let answer = send_github(&tracked, "push", "1", &body).await;
    assert_eq!((answer.status.as_u16(), answer.body), (202, json!("")));
    assert_eq!(hints(&tracked).await, ["github"]);
}

#[tokio::test]
async fn messages_are_counted_by_what_became_of_them() {
    let tracked = with_senders().await;
    let body = push("o/r", "refs/heads/main");
    send_github(&tracked, "push", "1", &body).await;
    send_github(&tracked, "push", "1", &body).await;
    send_github(&tracked, "push", "2", &push("o/other", "refs/heads/main")).await;
    send_github(&tracked, "ping", "3", &json!({})).await;
    let unsigned = Request::post("/ingest/github").header("x-github-event", "push");
    send(&tracked, unsigned, body.to_string()).await;
    let key = Request::post(format!("/ingest/ci?key={KEY}"));
    send(&tracked, key, "{").await;
    let metrics = tracked.world.state.metrics().render();
    for (sender, outcome) in [
        ("github", "concerned"),
        ("github", "repeated"),
        ("github", "nobody"),
        ("github", "unknown"),
        ("github", "refused"),
        ("ci", "malformed"),
    ] {
        let line =
            format!(r#"pathline_ingest_messages_total{{sender="{sender}",outcome="{outcome}"}} 1"#);
        assert!(metrics.contains(&line), "{line} is not in\n{metrics}");
    }
}

#[tokio::test]
async fn p24_bad_signature_is_refused() {
    let tracked = with_senders().await;
    let body = push("o/r", "refs/heads/main").to_string();
    let changed = body.replace("main", "maim");
    let unsigned = Request::post("/ingest/github").header("x-github-event", "push");
    let bearer = Request::post("/ingest/github").header("authorization", format!("Bearer {KEY}"));
    let token = format!("Bearer {}", tracked.writer);
    let token = Request::post("/ingest/github").header("authorization", token);
    let key = Request::post(format!("/ingest/github?key={KEY}"));
    for (request, body) in [
        (github("push", "1", &body, "other"), &body),
        (github("push", "1", &body, KEY), &changed),
        (unsigned, &body),
        (bearer, &body),
        (token, &body),
        (key, &body),
        (Request::post("/ingest/registry"), &body),
        (Request::post("/ingest/ci?key=other"), &body),
        (Request::post("/ingest/ci"), &body),
    ] {
        let answer = send(&tracked, request, body.clone()).await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (401, "signature-wrong"), "{answer:?}");
    }
    assert_eq!(hints(&tracked).await, [""; 0]);
    let right = push("o/r", "refs/heads/main");
    let right = send_github(&tracked, "push", "1", &right).await;
    assert_eq!(right.status, 202);
    assert_eq!(
        hints(&tracked).await,
        ["github"],
        "its name was not used up"
    );
}

#[tokio::test]
async fn p24_repeated_delivery_leaves_no_second_hint() {
    let tracked = with_senders().await;
    let body = push("o/r", "refs/heads/main");
    for _ in 0..3 {
        let answer = send_github(&tracked, "push", "1", &body).await;
        assert_eq!(answer.status, 202);
    }
    assert_eq!(hints(&tracked).await, ["github"]);
    send_github(&tracked, "push", "2", &body).await;
    assert_eq!(hints(&tracked).await, ["github", "github"]);
}

#[tokio::test]
async fn p24_message_that_concerns_nobody_leaves_no_hint() {
    let tracked = with_senders().await;
    let messages = [
        ("push", push("o/unknown", "refs/heads/main")),
        ("push", push("o/r", "refs/tags/v1")),
        ("push", json!({})),
        ("push", json!([1])),
        ("ping", push("o/r", "refs/heads/main")),
        ("", push("o/r", "refs/heads/main")),
        ("package", json!({"package": {"package_type": "npm"}})),
    ];
    for (index, (event, body)) in messages.iter().enumerate() {
        let answer = send_github(&tracked, event, &index.to_string(), body).await;
        assert_eq!(answer.status, 202, "{event} {body}");
    }
    assert_eq!(hints(&tracked).await, [""; 0]);
}

#[tokio::test]
async fn package_of_github_is_a_hint_to_whoever_wants_the_image() {
    let tracked = with_senders().await;
    let (registry, repository) = image(&tracked).await;
    assert_eq!(registry, "ghcr.io");
    let (owner, name) = repository.split_once('/').unwrap();
    for (index, event) in ["package", "registry_package"].into_iter().enumerate() {
        let body = json!({event: {"package_type": "CONTAINER", "namespace": owner, "name": name}});
        let answer = send_github(&tracked, event, event, &body).await;
        assert_eq!(answer.status, 202, "{event}");
        assert_eq!(hints(&tracked).await.len(), index + 1, "{event}");
    }
    let other = json!({"package": {"package_type": "CONTAINER", "namespace": "x", "name": name}});
    assert_eq!(
        send_github(&tracked, "package", "3", &other).await.status,
        202
    );
    assert_eq!(hints(&tracked).await.len(), 2);
}

#[tokio::test]
async fn notification_of_a_registry_is_taken_with_its_header() {
    let tracked = with_senders().await;
    let (_, repository) = image(&tracked).await;
    let event = |action: &str| json!({"action": action, "target": {"repository": repository}});
    let post = |scheme: &str| {
        let secret = format!("{scheme} {KEY}");
        Request::post("/ingest/registry").header("authorization", secret)
    };
    let pull = json!({"events": [event("pull")]}).to_string();
    assert_eq!(send(&tracked, post("Bearer"), pull).await.status, 202);
    assert_eq!(hints(&tracked).await, [""; 0]);
    let pushed = json!({"events": [event("push"), event("push"), event("pull")]});
    for scheme in ["Bearer", "bearer"] {
        let answer = send(&tracked, post(scheme), pushed.to_string()).await;
        assert_eq!(answer.status, 202, "{scheme}");
    }
    assert_eq!(hints(&tracked).await, ["registry", "registry"]);
}

#[tokio::test]
async fn anybody_may_send_with_the_key() {
    let tracked = with_senders().await;
    let (registry, repository) = image(&tracked).await;
    let post = || Request::post(format!("/ingest/ci?key={KEY}"));
    let messages = [
        json!({"repo": "https://github.com/o/r.git"}),
        json!({"repo": "o/r", "ref": "refs/heads/x"}),
        json!({"image": format!("{registry}/{repository}:main")}),
        json!({"repo": "o/r", "image": format!("{registry}/{repository}")}),
    ];
    for body in messages {
        let before = hints(&tracked).await.len();
        let answer = send(&tracked, post(), body.to_string()).await;
        assert_eq!(answer.status, 202, "{body}");
        let after = hints(&tracked).await.len();
        assert_eq!(after, before + 1, "one hint of {body}");
    }
    let unknown = json!({"image": format!("other.example/{repository}")});
    let before = hints(&tracked).await.len();
    let answer = send(&tracked, post(), unknown.to_string()).await;
    assert_eq!(
        (answer.status.as_u16(), hints(&tracked).await.len()),
        (202, before)
    );
}

/// Returns the signature of a message.
fn digits(body: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(KEY.as_bytes()).expect("it is there");
    let mac = mac.chain_update(body).finalize().into_bytes();
    mac.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn each_sender_is_let_in_by_its_own_habit_and_counts_once() {
    let tracked = with_senders().await;
    let (registry, repository) = image(&tracked).await;
    let (owner, name) = repository.split_once('/').unwrap();
    let push = json!({"object_kind": "push", "ref": "refs/heads/main",
                      "project": {"git_http_url": "https://github.com/o/r.git"}});
    let package = json!({"action": "created", "package": {
        "type": "container", "name": name, "owner": {"login": owner},
        "html_url": format!("https://{registry}/{owner}/-/packages/container/{name}/1")}});
    let artifact = json!({"specversion": "1.0", "id": "1", "type": "harbor.artifact.pushed",
                          "data": {"repository": {"repo_full_name": repository}}});
    let tags = json!({"docker_url": format!("{registry}/{repository}"), "updated_tags": ["1"]});
    let lab = |token: &str| {
        Request::post("/ingest/lab")
            .header("x-gitlab-token", token)
            .header("x-gitlab-event", "Push Hook")
            .header("x-gitlab-event-uuid", "1")
    };
    let gitea = |digits: String| {
        Request::post("/ingest/gitea")
            .header("x-gitea-signature", digits)
            .header("x-gitea-event", "package")
            .header("x-gitea-delivery", "1")
    };
    let harbor = |value: &str| Request::post("/ingest/harbor").header("authorization", value);
    let quay = |key: &str| Request::post(format!("/ingest/quay?key={key}"));
    let signed = digits(&package.to_string());
    let forged = signed.chars().rev().collect();
    for (sender, good, bad, body, has_names) in [
        ("lab", [lab(KEY), lab(KEY)], lab("x"), push, true),
        (
            "gitea",
            [gitea(signed.clone()), gitea(signed)],
            gitea(forged),
            package,
            true,
        ),
        (
            "harbor",
            [harbor(KEY), harbor(KEY)],
            harbor("Basic x"),
            artifact,
            true,
        ),
        ("quay", [quay(KEY), quay(KEY)], quay("x"), tags, false),
    ] {
        let before = hints(&tracked).await.len();
        let body = body.to_string();
        let refused = send(&tracked, bad, body.clone()).await;
        assert_eq!(refused.status, 401, "{sender}");
        for request in good {
            let answer = send(&tracked, request, body.clone()).await;
            assert_eq!(answer.status, 202, "{sender}");
        }
        let found = hints(&tracked).await.split_off(before);
        let times = if has_names { 1 } else { 2 };
        assert_eq!(
            found,
            vec![sender; times],
            "who names messages is heard once"
        );
    }
}

#[tokio::test]
async fn message_of_docker_hub_is_taken_with_its_key_alone() {
    let tracked = with_senders().await;
    let body = json!({"push_data": {"tag": "1"}, "repository": {"repo_name": "o/r"}}).to_string();
    let right = Request::post(format!("/ingest/hub?key={KEY}"));
    assert_eq!(send(&tracked, right, body.clone()).await.status, 202);
    let bearer = Request::post("/ingest/hub").header("authorization", format!("Bearer {KEY}"));
    assert_eq!(send(&tracked, bearer, body).await.status, 401);
    assert_eq!(hints(&tracked).await, [""; 0], "the image is elsewhere");
}

#[tokio::test]
async fn hostile_messages_are_refused_or_mean_nothing() {
    let tracked = with_senders().await;
    let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let nested = format!(
        "{}1{}",
        r#"{"repository":"#.repeat(100_000),
        "}".repeat(100_000)
    );
    let wide = json!({"object_kind": "push", "project": {"git_http_url": "https://x/".repeat(100_000)},
                      "docker_url": "a/".repeat(100_000), "updated_tags": {}, "repo": "\u{0}\u{202e}/.."});
    let twice =
        r#"{"object_kind": "ping", "object_kind": {"push": 1}, "project": 5, "type": 1e999}"#;
    for sender in ["ci", "hub", "quay"] {
        let post = || Request::post(format!("/ingest/{sender}?key={KEY}"));
        for (body, statuses) in [
            (deep.clone(), &[400][..]),
            (nested.clone(), &[400]),
            (wide.to_string(), &[202]),
            (twice.to_owned(), &[202, 400]),
        ] {
            let status = send(&tracked, post(), body).await.status.as_u16();
            assert!(statuses.contains(&status), "{sender}: {status}");
        }
    }
    assert_eq!(hints(&tracked).await, [""; 0]);
}

#[tokio::test]
async fn message_has_at_most_two_mebibytes() {
    let tracked = with_senders().await;
    let post = || Request::post(format!("/ingest/ci?key={KEY}"));
    let text = json!({"repo": "o/r"}).to_string();
    let padded = |length: usize| format!("{text}{}", " ".repeat(length - text.len()));
    let large = send(&tracked, post(), padded((2 << 20) + 1)).await;
    assert_eq!((large.status.as_u16(), large.code()), (413, "too-large"));
    assert_eq!(hints(&tracked).await, [""; 0]);
    assert_eq!(send(&tracked, post(), padded(2 << 20)).await.status, 202);
    let announced = post().header("content-length", "2097153");
    let never = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let answer = send(&tracked, announced, Body::from_stream(never)).await;
    assert_eq!(answer.status, 413, "it is not read");
}

#[tokio::test]
async fn message_that_is_no_json_is_refused() {
    let tracked = with_senders().await;
    for body in ["", "{", "payload=%7B%7D", "\u{0}"] {
        let answer = send(&tracked, github("push", "1", body, KEY), body).await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (400, "bad-request"), "{body}");
    }
    let body = push("o/r", "refs/heads/main");
    send_github(&tracked, "push", "1", &body).await;
    assert_eq!(
        hints(&tracked).await,
        ["github"],
        "its name was not used up"
    );
}

#[tokio::test]
async fn unknown_sender_is_not_found() {
    let tracked = with_senders().await;
    for path in ["/ingest/gitlab", "/ingest/GITHUB", "/ingest/%00"] {
        let answer = send(&tracked, Request::post(path), "{}").await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (404, "not-found"), "{path}");
    }
    let twice = Request::post(format!("/ingest/ci?key={KEY}&key=other"));
    assert_eq!(send(&tracked, twice, "{}").await.status, 400);
}

#[tokio::test]
async fn delivery_counts_again_if_it_could_not_be_recorded() {
    let tracked = with_senders().await;
    let body = push("o/r", "refs/heads/main");
    let ledger = tracked.world.ledger.clone();
    let down = Tracked {
        writer: tracked.writer.clone(),
        ..with_senders().await
    };
    down.world.ledger.close().await;
    let answer = send_github(&down, "push", "1", &body).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code()),
        (503, "unavailable")
    );
    // The same server, with a ledger that answers again.
    let state = down.world.state.clone().with_ledger(ledger);
    let up = Tracked {
        world: crate::world::World {
            router: app(state),
            ..tracked.world
        },
        writer: tracked.writer,
    };
    assert_eq!(send_github(&up, "push", "1", &body).await.status, 202);
    assert_eq!(hints(&up).await, ["github"]);
}
