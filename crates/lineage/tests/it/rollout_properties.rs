//! Rollouts, whatever the order in which things are seen, and however many pods there are.

use std::collections::BTreeMap;

use pathline_lineage::Stage;
use pathline_lineage::rollout::{Below, Object, judge};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::rollout::{complete, deployment, pod, ready, replica_set};

/// An event of a pod.
#[derive(Clone, Copy, Debug)]
enum Event {
    Pending,
    Ready,
    Leaving,
    Gone,
}

fn event() -> impl Strategy<Value = (usize, bool, Event)> {
    let what = prop_oneof![
        Just(Event::Pending),
        Just(Event::Ready),
        Just(Event::Leaving),
        Just(Event::Gone)
    ];
    (0..6_usize, any::<bool>(), what)
}

fn state_of(name: &str, new: bool, event: Event) -> Option<Value> {
    let controller = if new { "new" } else { "old" };
    let mut state = match event {
        Event::Pending => pod(name, controller, json!({"phase": "Pending"})),
        Event::Ready | Event::Leaving => pod(name, controller, ready("")),
        Event::Gone => return None,
    };
    if matches!(event, Event::Leaving) {
        state["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    Some(state)
}

fn feed(below: &mut Below, name: &str, state: Option<&Value>) {
    match state {
        Some(state) => below.seen(state),
        None => below.gone(name),
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn only_the_newest_state_of_each_pod_counts(events in prop::collection::vec(event(), 0..40)) {
        let sets = [replica_set("new", "2"), replica_set("old", "1")];
        let mut lived = Below::default();
        let mut newest = BTreeMap::new();
        sets.iter().for_each(|it| lived.seen(it));
        for (index, new, event) in events {
            let name = format!("{index}{new}");
            let state = state_of(&name, new, event);
            feed(&mut lived, &name, state.as_ref());
            newest.insert(name, state);
        }
        let mut told = Below::default();
        for (name, state) in newest.iter().rev() {
            feed(&mut told, name, state.as_ref());
        }
        sets.iter().for_each(|it| told.seen(it));
        let present: Vec<_> = newest.values().flatten().collect();
        for replicas in 0..4_usize {
            let object = Object::read(&deployment(replicas as i64, complete(replicas as i64)));
            let stage = judge(&object, &lived, &[]).stage;
            prop_assert_eq!(&stage, &judge(&object, &told, &[]).stage);
            let is_ready = |it: &&&Value| it["status"]["phase"] == "Running" && it["metadata"]["deletionTimestamp"].is_null();
            let is_new = |it: &&&Value| it["metadata"]["ownerReferences"][0]["uid"] == "new";
            let exactly = present.len() == replicas && present.iter().filter(is_new).filter(is_ready).count() == replicas;
            prop_assert_eq!(stage == Stage::Done, exactly && replicas > 0);
        }
    }
}

#[test]
fn hundred_thousand_pods_are_counted_not_kept() {
    let pods = if pathline_testkit::is_nightly() {
        100_000
    } else {
        2_000
    };
    let mut below = Below::default();
    below.seen(&replica_set("new", "2"));
    below.seen(&replica_set("old", "1"));
    let object = Object::read(&deployment(pods, complete(pods)));
    for index in 0..pods {
        let name = format!("pod-{index}");
        below.seen(&pod(&name, "old", ready("")));
    }
    for index in 0..pods {
        below.seen(&pod(
            &format!("new-{index}"),
            "new",
            json!({"phase": "Pending"}),
        ));
        below.seen(&pod(&format!("new-{index}"), "new", ready("")));
    }
    assert!(matches!(
        judge(&object, &below, &[]).stage,
        Stage::Progressing { .. }
    ));
    for index in 0..pods {
        below.gone(&format!("pod-{index}"));
    }
    assert_eq!(judge(&object, &below, &[]).stage, Stage::Done);
    assert!(
        below.kept_bytes() < 200 * 1024 + 2 * pods as usize * 64,
        "{}",
        below.kept_bytes()
    );
}
