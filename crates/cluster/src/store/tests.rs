//! Tests of what the store promises.

mod crash;
mod failure;
mod large;
mod laws;
mod syncs;
mod watching;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Change, Collection, Event, EventKind, Expect, Expired, Key, Limits, Refused, Store, Stored,
    Watch, Write,
};

/// Every object of a store, as far as a test cares: its revision and its content.
type Contents = BTreeMap<Key, (u64, Value)>;

fn widgets() -> Collection {
    Collection::new("example.com", "widgets")
}

fn mk_key(namespace: &str, name: &str) -> Key {
    Key::new(&widgets(), namespace, name)
}

fn mk_widget(key: &Key, content: impl Into<Value>) -> Value {
    json!({"metadata": {"name": &*key.name, "namespace": &*key.namespace}, "content": content.into()})
}

fn put(key: &Key, expect: Expect, content: impl Into<Value>) -> Write {
    let change = Change::Put(mk_widget(key, content));
    Write {
        key: key.clone(),
        expect,
        change,
        needs_namespace: false,
    }
}

fn remove(key: &Key, expect: Expect) -> Write {
    let change = Change::Remove(mk_widget(key, "last"));
    Write {
        key: key.clone(),
        expect,
        change,
        needs_namespace: false,
    }
}

async fn open(directory: &Path, limits: Limits) -> Store {
    Store::open(&directory.join("cluster.db"), limits)
        .await
        .unwrap()
}

fn contents(items: &[Arc<Stored>]) -> Contents {
    let entry = |item: &Arc<Stored>| {
        (
            item.key.clone(),
            (item.revision, item.object()["content"].clone()),
        )
    };
    items.iter().map(entry).collect()
}

/// Takes in an event as a client that watches would, checking that it follows from what it knows.
fn follow(known: &mut Contents, event: &Event) {
    let key = event.current.key.clone();
    let content = event.current.object()["content"].clone();
    let before = known.get(&key).map(|(revision, _)| *revision);
    let previous = event.previous.as_ref().map(|previous| previous.revision);
    assert_eq!(previous, before, "the event carries the state it replaced");
    assert_eq!(
        before.is_none(),
        event.kind == EventKind::Added,
        "{:?} of {key}",
        event.kind
    );
    match event.kind {
        EventKind::Added | EventKind::Modified => {
            known.insert(key, (event.revision(), content));
        }
        EventKind::Deleted => {
            known.remove(&key);
        }
    }
}

/// Returns what a watch has ready.
fn drain(watch: &mut Watch) -> Result<Vec<Event>, Expired> {
    let mut events = Vec::new();
    while let Some(event) = watch.try_next()? {
        events.push(event);
    }
    Ok(events)
}
