use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{Request, StatusCode};
use futures::StreamExt;
use jiff::Timestamp;
use kube::ResourceExt;
use pathline_ledger::Scope;
use pathline_server::api::{WaitState, Waited};
use pathline_server::{Doors, app};
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::owners::create;
use crate::story;
use crate::world::{Answer, World};

const LIMIT: Duration = Duration::from_secs(60);

/// A world with the workload `dev/web`, of which nothing is recorded yet.
struct Scene {
    world: World,
    token: String,
    uid: String,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let token = world.token("reader", Scope::Read).await;
        let uid = create(&world, "dev", "web").await.uid();
        let uid = uid.expect("the cluster gives one");
        Self { world, token, uid }
    }

    async fn record(&self) {
        story::record(&self.world.ledger, &self.uid).await;
    }

    async fn wait(&self, query: &str) -> Answer {
        let path = format!("/workloads/dev/web/wait?{query}");
        timeout(LIMIT, self.world.get(&path, &self.token))
            .await
            .expect("an answer")
    }

    async fn stream(&self, query: &str) -> States {
        let request = Request::get(format!("/workloads/dev/web/wait?{query}"))
            .header("accept", "text/event-stream");
        let answer = self.world.open(request, Some(&self.token), Body::empty());
        let answer = answer.await;
        assert_eq!(answer.status(), StatusCode::OK);
        States {
            body: answer.into_body().into_data_stream(),
            text: String::new(),
        }
    }
}

/// The states that a stream tells.
struct States {
    body: BodyDataStream,
    text: String,
}

impl States {
    async fn next(&mut self) -> Option<Waited> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let waited = data.map(|data| serde_json::from_str(data).expect("a state"));
                self.text = rest.to_owned();
                if waited.is_some() {
                    return waited;
                }
                continue;
            }
            let chunk = timeout(LIMIT, self.body.next())
                .await
                .expect("something comes");
            self.text += std::str::from_utf8(&chunk?.expect("a whole chunk")).expect("text");
        }
    }
}

fn read(answer: &Answer) -> Waited {
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    serde_json::from_value(answer.body.clone()).expect("what those who wait are told")
}

#[tokio::test]
async fn answer_comes_when_it_becomes_true() {
    let scene = Scene::new().await;
    let query = "for=param:debug=on&for=source=def567&timeout=600";
    let mut states = scene.stream(query).await;
    let first = states.next().await.unwrap();
    assert_eq!(first.state, WaitState::Waiting, "nobody has looked yet");

    let (answer, ()) = tokio::join!(scene.wait(query), scene.record());

    let waited = read(&answer);
    assert_eq!(waited.state, WaitState::Holds, "{waited:?}");
    assert_eq!(waited.positions.len(), 2);
    let mut last = states.next().await.unwrap();
    while !last.is_decided() {
        last = states.next().await.unwrap();
    }
    assert_eq!(last.state, WaitState::Holds);
    assert!(
        states.next().await.is_none(),
        "the last word ends the stream"
    );
}

#[tokio::test]
async fn what_cannot_happen_is_told_at_once_with_the_reason() {
    let scene = Scene::new().await;
    scene.record().await;
    for (query, reason) in [
        ("for=param:colour=red", "unused"),
        ("for=param:debug=off", "superseded"),
    ] {
        let waited = read(&scene.wait(query).await);
        assert_eq!(waited.state, WaitState::Never, "{query}");
        let never = waited.never.unwrap();
        assert_eq!(never.reason, reason, "{}", never.message);
    }
    let gone = story::owner(&scene.uid);
    let mut states = scene.stream("for=source=0123456").await;
    states.next().await.unwrap();
    scene
        .world
        .ledger
        .gone(&gone, Timestamp::now())
        .await
        .unwrap();
    let last = states.next().await.unwrap();
    assert_eq!(last.never.unwrap().reason, "gone");
}

#[tokio::test]
async fn time_out_answers_with_what_is_known() {
    let scene = Scene::new().await;
    scene.record().await;
    let waited = read(&scene.wait("for=source=0123456&timeout=0").await);
    assert_eq!(waited.state, WaitState::Waiting);
    assert_eq!(waited.positions[0].wish, "source=0123456");
    assert!(!waited.positions[0].missing.is_empty());
}

#[tokio::test]
async fn questions_that_cannot_be_understood_are_refused() {
    let scene = Scene::new().await;
    for query in [
        "for=debug=on",
        "colour=red",
        "live=perhaps",
        "timeout=soon",
        "timeout=601",
        &"for=current&".repeat(65),
    ] {
        let answer = scene.wait(query).await;
        let told = (answer.status, answer.code());
        assert_eq!(told, (StatusCode::BAD_REQUEST, "bad-request"), "{query}");
    }
    for path in ["/workloads/dev/nobody/wait", "/deliverables/dev/web/wait"] {
        let answer = scene.world.get(path, &scene.token).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    let answer = scene.world.get("/workloads/dev/web/wait", "wrong").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn those_who_wait_are_let_go_when_the_doors_close_or_their_token_ends() {
    let scene = Scene::new().await;
    let closing = CancellationToken::new();
    let doors: Doors = scene.world.doors.clone().closing_with(closing.clone());
    let world = World {
        router: app(doors),
        ..scene.world
    };
    let path = "/workloads/dev/web/wait?timeout=600";
    let brief = world.token("brief", Scope::Read).await;
    let revoke = async {
        let revoked = world.ledger.revoke_token("brief", Timestamp::now()).await;
        revoked.unwrap();
    };

    let (refused, ()) = tokio::join!(world.get(path, &brief), revoke);
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{refused:?}");

    let (refused, ()) = tokio::join!(world.get(path, &scene.token), async { closing.cancel() });
    assert_eq!(
        refused.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{refused:?}"
    );
    assert_eq!(refused.body["error"]["code"], Value::from("unavailable"));
}
