//! The lineage of an owner, and whether it is live.

use pathline_lineage::chain::Resource;
use pathline_lineage::rollout::{DeliveryState, Files};
use pathline_lineage::{Arrived, Chain, Kind, Live, Origin, OwnerLineage, Stage};
use serde_json::json;

use crate::story::{Story, debug, source};

fn lives(lineage: &OwnerLineage) -> Vec<(String, bool, Option<Live>)> {
    let inputs = lineage.inputs().into_iter();
    inputs
        .map(|input| (input.name, input.arrived, input.live))
        .collect()
}

#[test]
fn all_inputs_are_live_once_all_has_rolled_out() {
    let story = Story::running();
    assert_eq!(
        lives(&story.lineage),
        [
            ("field:url".into(), true, Some(Live::True)),
            ("param:debug".into(), true, Some(Live::True)),
        ]
    );
    assert_eq!(story.lineage.live(), Live::True);
    assert_eq!(story.lineage.live_generation, Some(1));
}

#[test]
fn new_input_is_not_live_from_the_moment_it_is_known() {
    let mut story = Story::running();
    story.owner("on");
    assert_eq!(story.lineage.live(), Live::False);
    assert_eq!(story.lineage.live_generation, Some(1));
    story.config("on", "debug: on");
    assert_eq!(story.lineage.live(), Live::False);
}

#[test]
fn rollout_of_an_older_generation_says_nothing() {
    let mut story = Story::running();
    story.owner("on");
    story.config("on", "debug: on");
    story.deploy("app:1", "debug: on");
    let debug = &story.lineage.inputs()[1];
    assert!(debug.arrived);
    assert_eq!(debug.live, Some(Live::Unknown));
    story.rollout(Stage::Progressing {
        why: "1 of 3 pods are new".into(),
    });
    assert_eq!(story.lineage.live(), Live::False);
    story.rollout(Stage::Done);
    assert_eq!(story.lineage.live(), Live::True);
    assert_eq!(story.lineage.live_generation, Some(2));
}

#[test]
fn source_that_a_branch_brought_counts_for_live() {
    let mut story = Story::running();
    assert_eq!(story.lineage.state.entry_points(Kind::Source), ["fetch"]);
    story.fetch("2222222");
    assert_eq!(story.lineage.live(), Live::False);
    story.build("2222222", "app:2");
    story.deploy("app:2", "debug: off");
    story.rollout(Stage::Done);
    let arrival = story
        .lineage
        .state
        .arrival(&Origin::resource("fetch"), |it| *it == source("2222222"));
    assert!(arrival.arrived());
    assert_eq!(story.lineage.live(), Live::True);
}

#[test]
fn without_a_rollout_live_is_unknown() {
    let mut story = Story::running();
    story.rollout(Stage::None);
    assert_eq!(story.lineage.live(), Live::Unknown);
    story.lineage.rollouts.clear();
    assert_eq!(story.lineage.live(), Live::Unknown);
}

#[test]
fn resource_that_will_make_a_source_is_an_entry_point_before_it_has_made_one() {
    let mut story = Story::running();
    let resources = story.lineage.state.chain().resources().iter().cloned();
    let resources = resources.map(|it| Resource {
        makes: (it.name == "fetch").then_some(Kind::Source),
        ..it
    });
    let chain = Chain::new(resources.collect()).expect("the same path");
    story.lineage.state.follow(chain);
    story.lineage.state.lose("fetch");
    assert_eq!(story.lineage.state.entry_points(Kind::Source), ["fetch"]);
}

#[test]
fn failure_of_the_owner_that_was_written_under_no_name_is_read() {
    let mut story = Story::running();
    let failures = &mut story.lineage.failures;
    failures.insert("build".into(), "no builder".into());
    let mut written = serde_json::to_value(&story.lineage).expect("JSON");
    written["failures"][""] = json!("no supply chain selects it");
    let read: OwnerLineage = serde_json::from_value(written).expect("it was written before");
    story.lineage.failure = Some("no supply chain selects it".into());
    assert_eq!(read, story.lineage);
    let again = serde_json::to_value(&read).expect("JSON");
    assert_eq!(again["failure"], "no supply chain selects it");
    assert_eq!(again["failures"], json!({"build": "no builder"}));
}

#[test]
fn lineage_survives_json_older_and_newer() {
    let story = Story::running();
    let mut written = serde_json::to_value(&story.lineage).expect("JSON");
    written["addedLater"] = json!({"some": "thing"});
    written["rollouts"]["deploy"]["addedLater"] = json!(1);
    let read: OwnerLineage = serde_json::from_value(written).expect("what was written can be read");
    assert_eq!(read, story.lineage);
    let oldest: OwnerLineage = serde_json::from_value(json!({"uid": "owner"})).expect("defaults");
    assert_eq!(oldest.live(), Live::Unknown);
}

#[test]
fn value_is_told_once_when_it_arrives_and_once_when_it_is_live() {
    let mut story = Story::running();
    let running = story.lineage.clone();
    assert!(running.arrived_since(&running).is_empty());
    story.owner("on");
    story.config("on", "debug: on");
    let configured = story.lineage.clone();
    assert!(configured.arrived_since(&running).is_empty());
    story.deploy("app:1", "debug: on");
    let deployed = story.lineage.clone();
    let arrived = |live| Arrived {
        input: "param:debug".into(),
        artifact: debug("on"),
        live,
        generation: 2,
    };
    assert_eq!(deployed.arrived_since(&configured), [arrived(false)]);
    story.rollout(Stage::Progressing {
        why: "1 of 3 pods are new".into(),
    });
    let rolling = story.lineage.clone();
    assert!(rolling.arrived_since(&deployed).is_empty());
    story.rollout(Stage::Done);
    let live = story.lineage.arrived_since(&rolling);
    assert!(live.contains(&arrived(true)), "{live:?}");
    assert!(
        live.iter().all(|it| it.live),
        "the others had arrived before"
    );
}

#[test]
fn lineage_that_was_fed_the_same_again_concludes_the_same() {
    let mut story = Story::running();
    let before = story.lineage.clone();
    assert!(story.lineage.concludes_the_same(&before));
    story.lineage.failures.insert("build".into(), "no".into());
    assert!(!story.lineage.concludes_the_same(&before));
    story.lineage.failures.clear();
    story.fetch("2222222");
    assert!(!story.lineage.concludes_the_same(&before));
}

#[test]
fn state_of_a_delivery_is_that_of_the_source_it_is_at() {
    let mut story = Story::running();
    let state = |story: &Story| DeliveryState::of("prod", "app", &story.lineage);
    let before = state(&story);
    assert_eq!(before.revision.as_deref(), Some("1111111"));
    assert_eq!(before.at.revision, before.revision);
    assert_eq!((before.at.name.as_str(), before.at.generation), ("app", 1));
    let delivery = before.clone().delivery(Some(Files::Kept));
    assert_eq!(delivery.name, "deliverable `prod/app`");
    assert_eq!((delivery.live, delivery.failure), (Live::True, None));
    assert_eq!(
        before.clone().left_behind().delivery(None).live,
        Live::Unknown,
        "what ran has ended with the Pathline that saw it run"
    );
    assert_eq!(state(&story), before);
    story.fetch("2222222");
    assert_ne!(state(&story), before);
    assert_eq!(state(&story).delivery(None).live, Live::False);
}

#[test]
fn delivery_that_crashes_says_so_before_what_else_failed() {
    let mut story = Story::running();
    let failure = |story: &Story| {
        let state = DeliveryState::of("prod", "app", &story.lineage);
        state.delivery(None).failure
    };
    story.lineage.failure = Some("no delivery selects it".into());
    assert_eq!(failure(&story), None, "that may be mended a moment later");
    story.lineage.failures.insert("build".into(), "no".into());
    assert_eq!(failure(&story).as_deref(), Some("no"));
    story.rollout(Stage::Failed {
        reason: "it crashes".into(),
    });
    assert_eq!(failure(&story).as_deref(), Some("it crashes"));
}

#[test]
fn delivery_that_does_not_run_yet_says_what_keeps_it() {
    let mut story = Story::running();
    let trouble = |story: &Story| {
        let state = DeliveryState::of("prod", "app", &story.lineage);
        state.delivery(None).trouble
    };
    assert_eq!(trouble(&story), None);
    story.rollout(Stage::Progressing {
        why: "port 8080 is taken".into(),
    });
    let told = Some("`deploy`: port 8080 is taken".to_owned());
    assert_eq!(trouble(&story), told);
    let state = DeliveryState::of("prod", "app", &story.lineage);
    assert_eq!(state.left_behind().delivery(None).trouble, None);
    story.lineage.failure = Some("no delivery selects it".into());
    assert_eq!(trouble(&story).as_deref(), Some("no delivery selects it"));
}

#[test]
fn sources_of_a_delivery_are_found_by_their_commit() {
    let story = Story::running();
    let at = |revision: &str| story.lineage.sources_at(revision).len();
    assert_eq!(at("main@sha1:1111111"), 1);
    assert_eq!(at("main@sha1:2222222"), 0);
    assert!(story.lineage.last_made().is_some());
    assert_eq!(OwnerLineage::default().last_made(), None);
}
