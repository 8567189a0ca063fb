//! Watchers that wait, and watchers that do not read.

use std::sync::Weak;

use super::*;
use crate::store::Shared;
use crate::store::state::State;

#[tokio::test]
async fn a_waiting_watcher_is_woken_by_the_next_event_of_its_collection() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    let mut watch = store.watch(&widgets(), Some("left"), 0).unwrap();
    let waiting = tokio::spawn(async move { watch.next().await.unwrap().current.key.clone() });
    let elsewhere = Key::new(&Collection::new("", "gadgets"), "left", "a");
    for key in [&elsewhere, &mk_key("right", "a"), &mk_key("left", "a")] {
        store.write(put(key, Expect::Absent, 1)).await.unwrap();
    }
    assert_eq!(waiting.await.unwrap(), mk_key("left", "a"));
    store.close().await;
}

#[tokio::test]
async fn a_quiet_watch_keeps_up_with_the_revision_and_never_expires() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(
        directory.path(),
        Limits {
            events: 8,
            bytes: 1 << 20,
        },
    )
    .await;
    let mut quiet = store
        .watch(&Collection::new("", "gadgets"), None, 0)
        .unwrap();
    let key = mk_key("", "busy");
    for content in 0..40 {
        let expect = store
            .get(&key)
            .map_or(Expect::Absent, |it| Expect::Revision(it.revision));
        store.write(put(&key, expect, content)).await.unwrap();
    }
    assert!(quiet.try_next().unwrap().is_none());
    assert_eq!(quiet.position(), 40, "a bookmark may say so");
    store.close().await;
}

/// Makes the event that replaces `previous` with a text of 1 KiB.
fn mk_event(revision: u64, previous: Option<Arc<Stored>>) -> Event {
    let key = mk_key("", "busy");
    let object = mk_widget(&key, "x".repeat(1024));
    let kind = if previous.is_none() {
        EventKind::Added
    } else {
        EventKind::Modified
    };
    Event {
        kind,
        current: Arc::new(Stored::new(key, revision, object)),
        previous,
    }
}

#[test]
fn a_watcher_that_never_reads_holds_nothing_while_100_000_events_pass() {
    let limits = Limits {
        events: 100,
        bytes: 10 << 20,
    };
    let mut state = State::at(0);
    state.ensure(&widgets());
    let shared = Arc::new(Shared::new(state));
    let mut silent = Watch::new(Arc::clone(&shared), Some(widgets()), None, 0);
    let mut everything: Vec<Weak<Stored>> = Vec::new();
    let mut previous = None;
    for revision in 1..=100_000 {
        let event = mk_event(revision, previous.take());
        previous = Some(Arc::clone(&event.current));
        everything.push(Arc::downgrade(&event.current));
        let mut state = shared.state.write();
        state.apply(event);
        if let Some(floor) = state.excess(&limits) {
            state.forget(floor);
        }
    }
    drop(previous);
    let alive = everything
        .iter()
        .filter(|stored| stored.strong_count() > 0)
        .count();
    // The events of the window, and the state that the oldest of them replaced.
    assert!(
        alive <= limits.events + 1,
        "{alive} states are still in memory"
    );
    assert!(
        silent.try_next().is_err(),
        "the watcher learns that it is too late"
    );
}

#[test]
fn history_keeps_texts_and_parses_only_what_is_new_or_asked_for() {
    let mut state = State::at(0);
    let mut made: Vec<Weak<Stored>> = Vec::new();
    let mut previous = None;
    for revision in 1..=1_000 {
        let event = mk_event(revision, previous.take());
        previous = Some(Arc::clone(&event.current));
        made.push(Arc::downgrade(&event.current));
        state.apply(event);
    }
    drop(previous);
    let parsed = made.iter().filter(|stored| stored.strong_count() > 0);
    let (events, parsed) = (state.kept().0, parsed.count());
    assert_eq!(events, 1_000, "nothing was forgotten");
    assert!(parsed < 200, "{parsed} of {events} events are still parsed");

    let shared = Arc::new(Shared::new(state));
    let mut late = Watch::new(shared, Some(widgets()), None, 0);
    let mut known = Contents::new();
    for event in drain(&mut late).unwrap() {
        follow(&mut known, &event);
        let body: Value = serde_json::from_slice(&event.current.body).unwrap();
        assert_eq!(*event.current.object(), body);
    }
    assert_eq!(late.position(), 1_000, "who comes late gets all of it");
}
