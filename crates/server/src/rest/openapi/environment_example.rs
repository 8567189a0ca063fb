//! Examples of environments, and of the way of releases through them.

use pathline_client::api::{
    Board, BoardCell, BoardRow, Environment, EnvironmentCounts, EnvironmentFreeze, EnvironmentHold,
    EnvironmentWhy, HeldPlace, HoldRequest, PromoteRequest, Promoted, Release, ReleaseObjects,
    ReleaseRef, ReleaseRequest, ReleaseTransition, ReleaseWait, RollbackRequest, TrackerHold,
    TrackerWhy, WaitState,
};
use serde_json::json;

use super::tracker_example::{DIGEST, ID, release, time};

const TRACKER: &str = "shop.web";
const SENTENCE: &str = "release 41 is queued; `prod` takes it at 2027-01-15T09:00:00+01:00";

pub(crate) fn environment() -> Environment {
    let freeze = EnvironmentFreeze {
        from: time(),
        until: time(),
        reason: "the holidays".to_owned(),
    };
    Environment {
        name: "prod".to_owned(),
        of_type: Some("prod".to_owned()),
        position: Some(400),
        namespace: "prod".to_owned(),
        release_frequency: json!({"hour": 9, "minute": 0}),
        time_zone: "Europe/Berlin".to_owned(),
        promotion: "auto".to_owned(),
        accepts: Some("minor".to_owned()),
        soak: "1h".to_owned(),
        freezes: vec![freeze.clone()],
        ready_timeout: "15m".to_owned(),
        on_failure: "restore".to_owned(),
        next_tick: None,
        hold: Some(hold()),
        tracker_holds: vec![TrackerHold {
            tracker: TRACKER.to_owned(),
            hold: hold(),
        }],
        frozen: Some(freeze),
        refused: None,
        counts: EnvironmentCounts {
            queued: 3,
            held: 1,
            deploying: 0,
        },
    }
}

pub(crate) fn board() -> Board {
    Board {
        environments: vec!["prod".to_owned()],
        items: vec![BoardRow {
            tracker: TRACKER.to_owned(),
            environments: vec![BoardCell {
                environment: "prod".to_owned(),
                deployed: Some(40),
                release: 41,
                tag: "1.4.2".to_owned(),
                state: Some("queued".to_owned()),
                since: Some(time()),
                sentence: SENTENCE.to_owned(),
                earliest: Some(time()),
                never: false,
                live: None,
            }],
        }],
        next: None,
    }
}

pub(crate) fn why() -> TrackerWhy {
    TrackerWhy {
        tracker: TRACKER.to_owned(),
        release: Some(ReleaseRef {
            id: ID.to_owned(),
            number: 41,
            image: format!("registry.example/shop/web@{DIGEST}"),
            tag: "1.4.2".to_owned(),
            time: time(),
        }),
        environments: vec![EnvironmentWhy {
            environment: "prod".to_owned(),
            state: Some("queued".to_owned()),
            sentence: SENTENCE.to_owned(),
            earliest: Some(time()),
            never: false,
            live: None,
        }],
        reasons: Vec::new(),
    }
}

pub(crate) fn release_wait() -> ReleaseWait {
    ReleaseWait {
        state: WaitState::Waiting,
        tracker: TRACKER.to_owned(),
        environment: "prod".to_owned(),
        release: Some(41),
        entry: Some("queued".to_owned()),
        sentence: SENTENCE.to_owned(),
        earliest: Some(time()),
        impossible: None,
    }
}

pub(crate) fn release_objects() -> ReleaseObjects {
    ReleaseObjects {
        tracker: TRACKER.to_owned(),
        release: 41,
        environment: "prod".to_owned(),
        namespace: "prod".to_owned(),
        state: Some("deployed".to_owned()),
        objects: vec![json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "Workload",
            "metadata": {"name": "shop-web", "namespace": "prod"},
            "spec": {"image": format!("registry.example/shop/web@{DIGEST}")},
        })],
    }
}

pub(crate) fn release_request() -> ReleaseRequest {
    ReleaseRequest {
        reason: Some("the new settings cannot wait".to_owned()),
    }
}

pub(crate) fn promote_request() -> PromoteRequest {
    PromoteRequest {
        tracker: TRACKER.to_owned(),
        release: Some(41),
        now: true,
        reason: Some("approved by QA".to_owned()),
    }
}

pub(crate) fn promoted() -> Promoted {
    Promoted {
        transitions: vec![ReleaseTransition {
            environment: "prod".to_owned(),
            release: 41,
            from: Some("held".to_owned()),
            to: "deploying".to_owned(),
        }],
    }
}

pub(crate) fn hold_request() -> HoldRequest {
    HoldRequest {
        tracker: Some(TRACKER.to_owned()),
        reason: Some("orders are late".to_owned()),
    }
}

pub(crate) fn held_place() -> HeldPlace {
    HeldPlace {
        environment: "prod".to_owned(),
        tracker: Some(TRACKER.to_owned()),
        hold: hold(),
        replaced: None,
    }
}

pub(crate) fn rollback_request() -> RollbackRequest {
    RollbackRequest {
        tracker: TRACKER.to_owned(),
        release: Some(39),
        reason: Some("orders fail".to_owned()),
    }
}

pub(crate) fn rollback() -> Release {
    by_hand("rollback", "orders fail")
}

pub(crate) fn requested() -> Release {
    by_hand("requested", "the new settings cannot wait")
}

fn by_hand(cause: &str, reason: &str) -> Release {
    Release {
        cause: cause.to_owned(),
        by: Some("ann".to_owned()),
        reason: Some(reason.to_owned()),
        ..release()
    }
}

fn hold() -> EnvironmentHold {
    EnvironmentHold {
        by: "ann".to_owned(),
        reason: "orders are late".to_owned(),
        since: time(),
    }
}
