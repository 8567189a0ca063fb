use futures::{FutureExt, stream};
use kube::runtime::watcher::Event;
use parking_lot::Mutex;
use serde_json::json;

use super::*;

/// The version of an object.
type Version = Option<String>;

impl Item for Version {}

fn read(object: DynamicObject) -> Version {
    object.metadata.resource_version
}

fn object(name: &str, uid: &str, version: u64, owner: &str) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "namespace": "dev",
            "name": name,
            "uid": uid,
            "resourceVersion": version.to_string(),
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "X", "name": "x", "uid": owner, "controller": true},
            ],
        },
    }))
    .expect("the test wrote a valid object")
}

/// Lets events happen, and returns the names that were touched.
fn follow(
    store: &Store<Version>,
    events: impl IntoIterator<Item = Event<DynamicObject>>,
) -> Vec<String> {
    let touched = Mutex::new(Vec::new());
    let events = stream::iter(events.into_iter().map(Ok).collect::<Vec<_>>());
    let note = |key: &Key, _: Option<&Version>, _: Option<&Version>| {
        touched.lock().push(key.name.clone());
    };
    let followed = store.follow("ConfigMap", events, read, note);
    followed.now_or_never().expect("nothing is waited for");
    touched.into_inner()
}

fn names(store: &Store<Version>) -> Vec<String> {
    store.keys().into_iter().map(|key| key.name).collect()
}

fn version(store: &Store<Version>, name: &str) -> Version {
    let item = store.get(&Key::new("dev", name))?;
    Version::clone(&item)
}

#[test]
fn a_listing_counts_when_it_has_ended() {
    let store = Store::default();
    let [old, new] = [("old", "1"), ("new", "2")].map(|(name, uid)| object(name, uid, 1, "o"));
    let half = [
        Event::Apply(old),
        Event::Init,
        Event::InitApply(new.clone()),
    ];
    assert_eq!(follow(&store, half), ["old"]);
    assert_eq!(names(&store), ["old"]);
    assert!(!store.is_filled());
    let whole = [Event::Init, Event::InitApply(new.clone()), Event::InitDone];
    assert_eq!(
        follow(&store, whole),
        ["new", "old"],
        "what is missing in a listing has gone"
    );
    assert!(store.is_filled());
    assert_eq!(names(&store), ["new"]);
    follow(&store, [Event::Delete(new)]);
    assert!(store.get(&Key::new("dev", "new")).is_none());
}

#[test]
fn a_watch_that_is_behind_does_not_undo_our_write() {
    let store = Store::default();
    follow(&store, [Event::Apply(object("a", "1", 5, "o"))]);
    store.wrote(object("a", "1", 7, "o"), read);
    let touched = follow(&store, [Event::Apply(object("a", "1", 6, "o"))]);
    assert_eq!(version(&store, "a").as_deref(), Some("7"));
    assert_eq!(touched, ["a"], "whoever waits for our write is woken");
    follow(&store, [Event::Apply(object("a", "1", 8, "o"))]);
    assert_eq!(version(&store, "a").as_deref(), Some("8"));
}

#[test]
fn the_end_of_an_object_does_not_end_the_next_of_its_name() {
    let store = Store::default();
    store.wrote(object("a", "2", 9, "o"), read);
    follow(&store, [Event::Delete(object("a", "1", 8, "o"))]);
    assert_eq!(version(&store, "a").as_deref(), Some("9"));
    follow(&store, [Event::Delete(object("a", "2", 10, "o"))]);
    assert_eq!(version(&store, "a"), None);
    store.wrote(object("a", "2", 9, "o"), read);
    assert_eq!(
        version(&store, "a"),
        None,
        "an answer that is late says nothing"
    );
    assert!(store.controlled_by("o").is_empty());
}

#[test]
fn what_is_listed_is_there_although_it_had_ended() {
    let store = Store::default();
    let listed = || {
        let object = object("a", "1", 3, "o");
        [Event::Init, Event::InitApply(object), Event::InitDone]
    };
    follow(&store, listed());
    follow(&store, [Event::Delete(object("a", "1", 4, "o"))]);
    // As after a cluster was restored from a backup.
    follow(&store, listed());
    follow(&store, [Event::Apply(object("a", "1", 5, "o"))]);
    assert_eq!(version(&store, "a").as_deref(), Some("5"));
}

#[test]
fn objects_are_found_by_their_controller() {
    let store = Store::default();
    let listing = [
        Event::Init,
        Event::InitApply(object("a", "1", 1, "o")),
        Event::InitApply(object("b", "2", 2, "o")),
    ];
    follow(&store, listing.clone());
    assert!(
        store.controlled_by("o").is_empty(),
        "half a listing says nothing"
    );
    follow(&store, listing.into_iter().chain([Event::InitDone]));
    assert_eq!(store.controlled_by("o").len(), 2);
    follow(&store, [Event::Apply(object("b", "2", 3, "p"))]);
    assert_eq!(store.controlled_by("o").len(), 1);
    assert_eq!(store.controlled_by("p").len(), 1);
    follow(&store, [Event::Init, Event::InitDone]);
    assert!(store.controlled_by("o").is_empty());
}
