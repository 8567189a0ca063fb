//! Trackers and releases on the stream, between the owners.

use axum::http::Method;
use pathline_client::api::{HoldEvent, MoveEvent, ReleaseEvent, TrackerEvent};
use pathline_ledger::Permissions;
use pathline_ledger::releases::By;
use pathline_release::queue::Hold;
use serde_json::json;

use super::{Event, Events};
use crate::story;
use crate::tracked::{Seen, Tracked, with};

async fn next(events: &mut Events) -> Event {
    let event = events.next().await.expect("an event");
    assert!(!event.data.contains("SENTINEL"), "{event:?}");
    event
}

async fn tracker(events: &mut Events) -> TrackerEvent {
    let event = next(events).await;
    assert_eq!(event.name, "tracker");
    let data: TrackerEvent = serde_json::from_str(&event.data).expect("a change of a tracker");
    assert_eq!(event.id, data.sequence.to_string());
    data
}

#[tokio::test]
async fn stream_tells_what_happens_to_trackers_and_who_did_it() {
    let tracked = Tracked::new().await;
    let reader = tracked.world.token("ide", Permissions::READ).await;
    let mut events = Events::open(&tracked.world, &reader, None).await;
    events.next().await.unwrap();

    tracked.make(json!({})).await;
    tracked.put("a.b", &with(json!({"branch": "dev"}))).await;
    tracked.ask(Method::POST, "/trackers/a.b/poll").await;
    let uid = tracked.stored("a.b").await.uid;
    let trackers = tracked.world.ledger.trackers();
    let now = jiff::Timestamp::now();
    trackers.hint(&uid, "github", now).await.unwrap();
    tracked.ask(Method::DELETE, "/trackers/a.b").await;

    let mut last = 0;
    for (what, by) in [
        ("created", "ci"),
        ("replaced", "ci"),
        ("wanted", "ci"),
        ("hinted", "github"),
        ("deleted", "ci"),
    ] {
        let event = tracker(&mut events).await;
        assert_eq!((event.what.as_str(), event.by.as_deref()), (what, Some(by)));
        assert_eq!((event.tracker.as_str(), &event.uid), ("a.b", &uid));
        assert!(event.sequence > last);
        last = event.sequence;
    }
}

#[tokio::test]
async fn stream_tells_of_releases() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let mut events = Events::open(&tracked.world, &tracked.writer, None).await;
    events.next().await.unwrap();
    let seen = Seen {
        secret: Some(crate::tracked::SECRET),
        ..Seen::new("one", "sha256:1")
    };
    let formed = tracked.see("a.b", &seen).await.unwrap();

    let event = next(&mut events).await;
    assert_eq!(event.name, "release");
    assert!(!event.data.contains(crate::tracked::SECRET));
    let release: ReleaseEvent = serde_json::from_str(&event.data).unwrap();
    assert_eq!(event.id, release.sequence.to_string());
    assert_eq!((&release.id, release.number), (&formed.id, 1));
    assert_eq!(
        (release.tracker.as_str(), release.cause.as_str()),
        ("a.b", "initial")
    );
    let image = formed.release.image;
    let image = format!("{}@{}", image.repository, image.digest);
    assert_eq!(release.image, image);
    assert_eq!(release.by, None);
    let event = next(&mut events).await;
    assert_eq!(event.name, "move");
    let queued: MoveEvent = serde_json::from_str(&event.data).unwrap();
    assert_eq!(event.id, queued.sequence.to_string());
    assert_eq!((&queued.id, queued.number), (&formed.id, 1));
    let states = (queued.from.as_deref(), queued.to.as_str());
    assert_eq!(
        (queued.environment.as_str(), states),
        ("dev", (None, "queued"))
    );
    assert_eq!((queued.by, queued.reason), (None, None));
    let observed = tracker(&mut events).await;
    assert_eq!((observed.what.as_str(), observed.by), ("observed", None));
}

#[tokio::test]
async fn stream_tells_who_holds_what_and_why() {
    let tracked = Tracked::new().await;
    let mut events = Events::open(&tracked.world, &tracked.writer, None).await;
    events.next().await.unwrap();
    let releases = tracked.world.ledger.releases();
    let now = jiff::Timestamp::now();
    let hold = Hold {
        reason: "orders are late".to_owned(),
        by: "ann".to_owned(),
        since: now,
    };
    releases.hold_environment("prod", hold).await.unwrap();
    let bob = By::new("bob", None);
    let resumed = releases.resume_environment("prod", &bob, now).await;
    assert!(resumed.unwrap().is_some());
    for (what, by, reason) in [
        ("held", "ann", Some("orders are late")),
        ("resumed", "bob", None),
    ] {
        let event = next(&mut events).await;
        assert_eq!(event.name, "hold");
        let told: HoldEvent = serde_json::from_str(&event.data).unwrap();
        assert_eq!((told.what.as_str(), told.by.as_str()), (what, by));
        assert_eq!(told.reason.as_deref(), reason);
        assert_eq!((told.environment.as_str(), told.tracker), ("prod", None));
    }
}

/// Writes of both topics come at the same time; the one who comes back after each event hears every one of them once,
/// in their order.
#[tokio::test]
async fn topics_are_told_in_one_order_with_nothing_missed_and_nothing_twice() {
    const EACH: usize = 150;
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let uid = tracked.stored("a.b").await.uid;
    let ledger = tracked.world.ledger.clone();
    let start = ledger.trackers().newest_change().await.unwrap();
    let mut live = Events::open(&tracked.world, &tracked.writer, None).await;
    live.next().await.unwrap();

    let owners = async {
        for number in 0..EACH {
            story::record(&ledger, &format!("uid-{number}")).await;
        }
    };
    let hints = async {
        for _ in 0..EACH {
            let now = jiff::Timestamp::now();
            ledger.trackers().hint(&uid, "github", now).await.unwrap();
        }
    };
    let followed = async {
        let mut told = Vec::new();
        for _ in 0..2 * EACH {
            let event = next(&mut live).await;
            told.push((event.id.parse::<i64>().unwrap(), event.name));
        }
        told
    };
    let ((), (), told) = tokio::join!(owners, hints, followed);

    assert!(told.is_sorted_by(|a, b| a.0 < b.0), "{told:?}");
    for name in ["change", "tracker"] {
        let count = told.iter().filter(|it| it.1 == name).count();
        assert_eq!(count, EACH, "{name}");
    }
    let last = start.to_string();
    let mut back = Events::open(&tracked.world, &tracked.writer, Some(&last)).await;
    assert_eq!(next(&mut back).await.id, last);
    for (id, name) in &told {
        let event = next(&mut back).await;
        assert_eq!((event.id, &event.name), (id.to_string(), name));
    }
    for (id, _) in told.iter().step_by(40) {
        let mut back = Events::open(&tracked.world, &tracked.writer, Some(&id.to_string())).await;
        next(&mut back).await;
        let expected = told.iter().find(|it| it.0 > *id).unwrap();
        assert_eq!(next(&mut back).await.id, expected.0.to_string());
    }
}

#[tokio::test]
async fn stream_begins_after_whatever_was_recorded_last() {
    let tracked = Tracked::new().await;
    story::record(&tracked.world.ledger, "uid-1").await;
    tracked.make(json!({})).await;
    let mut events = Events::open(&tracked.world, &tracked.writer, None).await;
    let begin = next(&mut events).await;
    let newest = tracked.world.ledger.trackers().newest_change().await;
    assert_eq!(begin.id, newest.unwrap().to_string());
    story::record(&tracked.world.ledger, "uid-2").await;
    assert_eq!(
        events.change().await.owner.uid,
        "uid-2",
        "nothing older is told"
    );
    let ahead = tracked.get("/stream?after=1000").await;
    assert_eq!((ahead.status.as_u16(), ahead.code()), (410, "gone"));
}
