//! Events (the objects that tell a story) are kept for an hour, as a real cluster keeps them.

use std::time::Duration;

use futures::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use serde_json::Value;

use crate::store::{Change, Collection, Expect, Store, Stored, Write};

/// The time for which an Event is kept after it was last seen to happen.
const KEPT: SignedDuration = SignedDuration::from_hours(1);

/// The interval at which old Events are looked for.
const ROUND: Duration = Duration::from_secs(60);

/// The number of Events that are removed at a time; their writes share commits.
const AT_ONCE: usize = 64;

/// Removes old Events, round after round.
pub(super) async fn run(store: &Store, clock: &Clock) {
    loop {
        remove_old(store, clock.now()).await;
        tokio::time::sleep(ROUND).await;
    }
}

async fn remove_old(store: &Store, now: Timestamp) {
    let events = store.list(&Collection::new("", "events"), None).items;
    let old = events
        .into_iter()
        .filter(|event| is_old(event.object(), now));
    stream::iter(old)
        .for_each_concurrent(AT_ONCE, |event| async move {
            // One that is refused has just happened again, or waits for the next round.
            let _ = store.write(removal(&event)).await;
        })
        .await;
}

fn removal(event: &Stored) -> Write {
    Write {
        key: event.key.clone(),
        expect: Expect::Revision(event.revision),
        change: Change::Remove(event.object().clone()),
        needs_namespace: false,
    }
}

/// Returns whether everything the Event says happened long ago.
fn is_old(event: &Value, now: Timestamp) -> bool {
    let times = [
        &event["lastTimestamp"],
        &event["series"]["lastObservedTime"],
        &event["eventTime"],
        &event["metadata"]["creationTimestamp"],
    ];
    let last = times
        .into_iter()
        .filter_map(|time| time.as_str()?.parse::<Timestamp>().ok())
        .max();
    last.is_some_and(|last| now.duration_since(last) > KEPT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::{Key, Limits};

    fn at(time: &str) -> Timestamp {
        time.parse().unwrap()
    }

    #[test]
    fn an_event_is_as_old_as_the_last_thing_it_tells() {
        let event = json!({
            "metadata": {"creationTimestamp": "2026-01-01T10:00:00Z"},
            "lastTimestamp": null,
            "eventTime": "2026-01-01T10:00:00.123456Z",
            "series": {"lastObservedTime": "2026-01-01T12:00:00.000000Z"},
        });
        assert!(!is_old(&event, at("2026-01-01T13:00:00Z")));
        assert!(is_old(&event, at("2026-01-01T13:00:01Z")));
        assert!(
            !is_old(&json!({}), at("2026-01-01T13:00:01Z")),
            "when in doubt it is kept"
        );
    }

    #[tokio::test]
    async fn old_events_are_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cluster.db");
        let store = Store::open(&path, Limits::default()).await.unwrap();
        for (resource, name, created) in [
            ("events", "old", "2026-01-01T10:00:00Z"),
            ("events", "new", "2026-01-01T12:00:00Z"),
            ("configmaps", "old", "2026-01-01T10:00:00Z"),
        ] {
            let write = Write {
                key: Key::new(&Collection::new("", resource), "default", name),
                expect: Expect::Absent,
                change: Change::Put(
                    json!({"metadata": {"name": name, "creationTimestamp": created}}),
                ),
                needs_namespace: false,
            };
            store.write(write).await.unwrap();
        }
        remove_old(&store, at("2026-01-01T12:30:00Z")).await;
        let mut left: Vec<String> = store
            .everything()
            .items
            .iter()
            .map(|item| item.key.to_string())
            .collect();
        left.sort();
        assert_eq!(left, ["configmaps default/old", "events default/new"]);
        store.close().await;
    }
}
