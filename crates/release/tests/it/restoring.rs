//! Queues that are restored from what is stored; that they go on as all of them would is part of the model.

use std::collections::BTreeMap;

use pathline_release::TrackerName;
use pathline_release::queue::{Holds, Queues};

use crate::support::{mk_flow, mk_hold, mk_release, second, tick};

fn mk_name() -> TrackerName {
    "a.b".parse().expect("a name")
}

#[test]
fn queues_without_releases_are_new_ones() {
    assert_eq!(
        Queues::restored(mk_name(), [], Holds::default(), false),
        Queues::new(mk_name())
    );
}

#[test]
fn release_that_was_restored_is_not_queued_again() {
    let (flow, release) = (mk_flow(&[("dev", 0)]), mk_release(3, "1.0.0"));
    let stored = [(release.clone(), BTreeMap::new())];
    let mut queues = Queues::restored(mk_name(), stored, Holds::default(), false);
    assert_eq!(queues.enter(&flow, &release, second(1)), []);
    assert_ne!(queues.enter(&flow, &mk_release(4, "1.0.0"), second(1)), []);
}

#[test]
fn hold_that_was_restored_holds() {
    let flow = mk_flow(&[("dev", 0)]);
    let holds: Holds = [("dev".to_owned(), mk_hold("broken", 1))]
        .into_iter()
        .collect();
    let mut queues = Queues::restored(mk_name(), [], holds, false);
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    assert_eq!(tick(&mut queues, &flow, &["dev"], second(60)), []);
}
