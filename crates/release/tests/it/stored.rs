//! Trackers, releases and entries of older ledgers are still read.

use pathline_release::Release;
use pathline_release::queue::{Entry, EntryState};
use pathline_release::tracker::Tracker;
use serde_json::{Value, json};

use crate::support::{mk_configuration, mk_cycle, mk_image, second};

/// Returns the state of a tracker as it was stored before environments were rolled back.
fn mk_stored_tracker() -> Value {
    json!({
        "generation": 1,
        "version": 2,
        "source": mk_stored_configuration("C2", false),
        "sourceProblem": null,
        "images": [{
            "query": {"repository": "registry.example/a/b", "label": "latest"},
            "selected": {"repository": "registry.example/a/b", "tag": "latest", "digest": "D1"},
        }],
        "lastRelease": mk_stored_release(),
        "pending": {
            "configuration": mk_stored_configuration("C2", false),
            "since": "1970-01-01T00:00:02Z",
        },
        "conditions": {"ConfigQueued": "1970-01-01T00:00:02Z"},
        "settlingSince": null,
        "settle": "PT0S",
        "isDeleted": false,
    })
}

fn mk_stored_release() -> Value {
    json!({
        "number": 1,
        "configuration": mk_stored_configuration("C1", true),
        "image": {"repository": "registry.example/a/b", "tag": "latest", "digest": "D1"},
        "cause": "initial",
        "previous": null,
        "at": "1970-01-01T00:00:01Z",
    })
}

fn mk_stored_configuration(hash: &str, auto_deploy: bool) -> Value {
    json!({
        "configHash": hash,
        "label": "latest",
        "repository": "registry.example/a/b",
        "commit": format!("commit of {hash}"),
        "blob": "",
        "vetos": {
            "autoDeploy": auto_deploy,
            "omitFromDeploy": false,
            "omitFromNamespaces": [],
        },
    })
}

#[test]
fn tracker_of_an_older_ledger_is_read_and_goes_on() {
    let mut tracker: Tracker = serde_json::from_value(mk_stored_tracker()).expect("it is read");
    let pending = tracker.pending().expect("it waits");
    assert_eq!(pending.configuration.config_hash, "C2");
    let image = Some(mk_image("latest", "D2"));
    let (first, pending) = (
        mk_configuration("C1", "latest"),
        pending.configuration.clone(),
    );
    let answers = [(&first, image.clone()), (&pending, image)];
    let source = pathline_release::tracker::SourceRead::Unchanged;
    let cycle = mk_cycle(&tracker, &answers, source);
    let release = tracker.observe(cycle, second(3)).release;
    let release = release.expect("it is formed");
    assert_eq!((release.number, release.previous), (2, Some(1)));
    assert_eq!(release.configuration.config_hash, "C2");
}

#[test]
fn release_of_an_older_ledger_is_read() {
    let release: Release = serde_json::from_value(mk_stored_release()).expect("it is read");
    assert_eq!(release.number, 1);
    assert_eq!(release.at, second(1));
}

#[test]
fn entry_of_an_older_ledger_is_read() {
    let entry = json!({
        "state": "deployed",
        "since": "1970-01-01T00:00:03Z",
        "attempt": 1,
        "isPromoted": true,
        "supersededBy": null,
        "message": null,
    });
    let entry: Entry = serde_json::from_value(entry).expect("it is read");
    let expected = Entry {
        state: EntryState::Deployed,
        since: second(3),
        attempt: 1,
        is_promoted: true,
        ..Entry::default()
    };
    assert_eq!(entry, expected);
}
