//! Examples of trackers and releases.

use jiff::Timestamp;
use pathline_client::api::{
    HoldEvent, ImageState, KeyChange, MoveEvent, PendingConfiguration, PollState, QueueState,
    Release, ReleaseDetail, ReleaseEntry, ReleaseEvent, ReleaseImage, ReleasePage, ReleaseRef,
    ReleaseSource, SourceState, Tracker, TrackerCondition, TrackerEvent, TrackerRequest,
    TrackerStatus, TrackerWarning,
};

pub(super) const COMMIT: &str = "4f0c1d2e9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d";
const BLOB: &str = "8ab686eafeb1f44702738c8b0f24f2567c36da6d";
const CONFIG_HASH: &str = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
pub(super) const DIGEST: &str =
    "sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9";
pub(super) const ID: &str = "9b1d4c7f0e2a3b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c";

pub(crate) fn tracker_request() -> TrackerRequest {
    TrackerRequest {
        id: Some("shop.web".to_owned()),
        token: Some("ghp_example".to_owned()),
        repo: Some("https://github.com/shop/web".to_owned()),
        source_path: Some("deploy".to_owned()),
        branch: Some("main".to_owned()),
        ..TrackerRequest::default()
    }
}

pub(crate) fn tracker() -> Tracker {
    Tracker {
        id: "shop.web".to_owned(),
        group: "shop".to_owned(),
        name: "web".to_owned(),
        repo: "https://github.com/shop/web".to_owned(),
        source_path: "deploy".to_owned(),
        tag: None,
        branch: Some("main".to_owned()),
        commit: None,
        has_token: true,
        token_version: 1,
        generation: 1,
        created_at: time(),
        created_by: "ci".to_owned(),
        updated_at: time(),
        updated_by: "ci".to_owned(),
        status: status(),
    }
}

fn status() -> TrackerStatus {
    TrackerStatus {
        phase: "tracking".to_owned(),
        conditions: vec![TrackerCondition {
            of_type: "ConfigQueued".to_owned(),
            message: "the configuration has changed, and waits until its image does".to_owned(),
            since: time(),
        }],
        warnings: vec![TrackerWarning {
            path: "shop.web.environmnet".to_owned(),
            line: Some(5),
            column: Some(5),
            message: "`environmnet` means nothing here; did you mean `environment`?".to_owned(),
        }],
        source: Some(SourceState {
            commit: COMMIT.to_owned(),
            blob: BLOB.to_owned(),
            config_hash: CONFIG_HASH.to_owned(),
        }),
        image: Some(ImageState {
            repository: "registry.example/shop/web".to_owned(),
            label: "1.x".to_owned(),
            kind: "follow".to_owned(),
            tag: Some("1.4.2".to_owned()),
            digest: Some(DIGEST.to_owned()),
        }),
        pending: Some(PendingConfiguration {
            config_hash: CONFIG_HASH.to_owned(),
            commit: COMMIT.to_owned(),
            since: time(),
            waiting_for: "registry.example/shop/web:1.x".to_owned(),
        }),
        last_release: Some(ReleaseRef {
            id: ID.to_owned(),
            number: 41,
            image: format!("registry.example/shop/web@{DIGEST}"),
            tag: "1.4.2".to_owned(),
            time: time(),
        }),
        environments: vec![QueueState {
            name: "dev".to_owned(),
            deployed: Some(40),
            deploying: None,
            queued: Some(41),
            held: None,
            failed: None,
            hold: None,
            next_tick: Some(time()),
        }],
        polls: Some(PollState {
            observed_at: Some(time()),
            next_poll_at: time(),
            failures: 0,
            interval_seconds: 120,
            last_failure: None,
        }),
    }
}

pub(crate) fn release_page() -> ReleasePage {
    ReleasePage {
        items: vec![release()],
        next: None,
    }
}

pub(crate) fn release_detail() -> ReleaseDetail {
    ReleaseDetail {
        release: release(),
        changes: vec![
            KeyChange {
                key: "user:/application/environment/variable/LOG".to_owned(),
                change: "modified".to_owned(),
                before: Some("info".to_owned()),
                after: Some("warn".to_owned()),
                secret: false,
            },
            KeyChange {
                key: "user:/group/repository/image/auth".to_owned(),
                change: "modified".to_owned(),
                before: None,
                after: None,
                secret: true,
            },
        ],
    }
}

pub(crate) fn tracker_event(sequence: i64) -> TrackerEvent {
    TrackerEvent {
        sequence,
        time: time(),
        tracker: "shop.web".to_owned(),
        uid: "5f0c2b7e9d1a4c3b8e6f7a9b0c1d2e3f".to_owned(),
        what: "replaced".to_owned(),
        by: Some("ci".to_owned()),
    }
}

pub(crate) fn release_event(sequence: i64) -> ReleaseEvent {
    let release = release();
    ReleaseEvent {
        sequence,
        time: time(),
        image: format!("{}@{}", release.image.repository, release.image.digest),
        id: release.id,
        tracker: release.tracker,
        number: release.number,
        cause: release.cause,
        by: None,
    }
}

pub(crate) fn move_event(sequence: i64) -> MoveEvent {
    let release = release();
    MoveEvent {
        sequence,
        time: time(),
        id: release.id,
        tracker: release.tracker,
        number: release.number,
        environment: "prod".to_owned(),
        from: Some("held".to_owned()),
        to: "queued".to_owned(),
        by: Some("ann".to_owned()),
        reason: Some("the load test is done".to_owned()),
    }
}

pub(crate) fn hold_event(sequence: i64) -> HoldEvent {
    HoldEvent {
        sequence,
        time: time(),
        environment: "prod".to_owned(),
        tracker: Some("shop.web".to_owned()),
        what: "held".to_owned(),
        by: "ann".to_owned(),
        reason: Some("orders are late".to_owned()),
    }
}

pub(crate) fn release() -> Release {
    Release {
        id: ID.to_owned(),
        tracker: "shop.web".to_owned(),
        number: 41,
        previous: Some(40),
        cause: "version_created".to_owned(),
        by: None,
        reason: None,
        from: ReleaseSource {
            commit: COMMIT.to_owned(),
            blob: BLOB.to_owned(),
            config_hash: CONFIG_HASH.to_owned(),
        },
        image: ReleaseImage {
            repository: "registry.example/shop/web".to_owned(),
            tag: "1.4.2".to_owned(),
            digest: DIGEST.to_owned(),
            revision: Some(COMMIT.to_owned()),
            source: Some("https://github.com/shop/web".to_owned()),
        },
        time: time(),
        entries: vec![ReleaseEntry {
            environment: "dev".to_owned(),
            state: "queued".to_owned(),
            since: time(),
            superseded_by: None,
            replaced_by: None,
            restore: None,
            message: None,
        }],
    }
}

pub(super) fn time() -> Timestamp {
    "2027-01-15T08:00:00Z".parse().expect("it is a time")
}
