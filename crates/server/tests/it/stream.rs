mod topics;

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{Request, Response, StatusCode};
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use pathline_client::api::Change;
use pathline_ledger::Permissions;
use pathline_server::{AppState, app};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::story;
use crate::world::World;

const LIMIT: Duration = Duration::from_secs(60);

/// Reads events one at a time.
struct Events {
    body: BodyDataStream,
    text: String,
}

/// One event, by its fields.
#[derive(Debug, Default)]
struct Event {
    name: String,
    id: String,
    data: String,
}

impl Events {
    async fn open(world: &World, token: &str, last: Option<&str>) -> Self {
        let mut request = Request::get("/stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        Self::of(world.open(request, Some(token), Body::empty()).await)
    }

    fn of(response: Response<Body>) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        Self {
            body: response.into_body().into_data_stream(),
            text: String::new(),
        }
    }

    /// Returns the next event, or nothing at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = parse(event);
                self.text = rest.to_owned();
                if !event.name.is_empty() {
                    return Some(event);
                }
                continue;
            }
            let chunk = timeout(LIMIT, self.body.next())
                .await
                .expect("something comes");
            let chunk = chunk?.expect("a whole chunk");
            self.text
                .push_str(std::str::from_utf8(&chunk).expect("text"));
        }
    }

    async fn change(&mut self) -> Change {
        let event = self.next().await.expect("an event");
        assert_eq!(event.name, "change");
        let change: Change = serde_json::from_str(&event.data).expect("a change");
        assert_eq!(event.id, change.sequence.to_string());
        change
    }
}

fn parse(text: &str) -> Event {
    let mut event = Event::default();
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("event", value)) => event.name = value.to_owned(),
            Some(("id", value)) => event.id = value.to_owned(),
            Some(("data", value)) => event.data = value.to_owned(),
            _ => {}
        }
    }
    event
}

#[tokio::test]
async fn stream_begins_and_then_tells_every_change() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    let mut events = Events::open(&world, &token, None).await;
    let begin = events.next().await.unwrap();
    assert_eq!(begin.name, "begin");

    story::record(&world.ledger, "uid-1").await;
    let first = events.change().await;
    let gone = story::owner("uid-1");
    world
        .ledger
        .lineage()
        .gone(&gone, Timestamp::now())
        .await
        .unwrap();
    let second = events.change().await;

    assert_eq!(first.owner.uid, "uid-1");
    let made: Vec<_> = first.made.iter().map(|it| it.resource.as_str()).collect();
    assert_eq!(made, ["source-cloner", "image-builder"]);
    assert_eq!(first.arrived[0].input, "param:debug");
    assert!(second.gone && second.sequence > first.sequence);
}

#[tokio::test]
async fn client_that_comes_back_misses_nothing_and_hears_nothing_twice() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    let mut events = Events::open(&world, &token, None).await;
    let begin = events.next().await.unwrap();
    story::record(&world.ledger, "uid-1").await;
    let first = events.change().await;
    drop(events);
    for number in 2..200 {
        story::record(&world.ledger, &format!("uid-{number}")).await;
    }

    let mut events = Events::open(&world, &token, Some(&first.sequence.to_string())).await;

    assert_eq!(events.next().await.unwrap().id, first.sequence.to_string());
    for number in 2..200 {
        assert_eq!(events.change().await.owner.uid, format!("uid-{number}"));
    }
    let path = format!("/stream?after={}", begin.id);
    let answer = world
        .open(Request::get(path), Some(&token), Body::empty())
        .await;
    let mut events = Events::of(answer);
    events.next().await;
    assert_eq!(events.change().await, first, "`after` does the same");
}

#[tokio::test]
async fn stream_ends_at_once_when_its_token_is_revoked() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    world.token("other", Permissions::READ).await;
    let mut events = Events::open(&world, &token, None).await;
    events.next().await.unwrap();

    world
        .ledger
        .access()
        .revoke_token("other", Timestamp::now())
        .await
        .unwrap();
    story::record(&world.ledger, "uid-1").await;
    events.change().await;
    world
        .ledger
        .access()
        .revoke_token("reader", Timestamp::now())
        .await
        .unwrap();
    story::record(&world.ledger, "uid-2").await;

    // What was on its way before the token was revoked may still come.
    let end = async { while events.next().await.is_some() {} };
    timeout(LIMIT, end).await.expect("it ends");
}

#[tokio::test]
async fn stream_ends_when_its_token_does() {
    let world = World::without_cluster().await;
    let soon = Timestamp::now() + SignedDuration::from_secs(5);
    let token = world
        .token_until("brief", Permissions::READ, Some(soon))
        .await;
    let mut events = Events::open(&world, &token, None).await;
    events.next().await.unwrap();
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn stream_ends_when_the_doors_close() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    let closing = CancellationToken::new();
    let state = AppState::new("1.2.3").with_ledger(world.ledger.clone());
    let router = app(state.closing_with(closing.clone()));
    let world = World { router, ..world };
    let mut events = Events::open(&world, &token, None).await;
    events.next().await.unwrap();

    closing.cancel();

    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn there_is_room_for_so_many_only() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    let mut all = Vec::new();
    for _ in 0..256 {
        all.push(Events::open(&world, &token, None).await);
    }

    let refused = world.get("/stream", &token).await;

    assert_eq!(
        (refused.status, refused.code()),
        (StatusCode::TOO_MANY_REQUESTS, "too-many")
    );
    drop(all);
    let request = Request::get("/stream");
    let answer = world.open(request, Some(&token), Body::empty()).await;
    assert_eq!(answer.status(), StatusCode::OK, "there is room again");
}
