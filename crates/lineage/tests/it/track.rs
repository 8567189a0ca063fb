//! What is known of an owner, and whether it runs.

use pathline_lineage::{Kind, Live, Origin, Stage, Track};
use serde_json::json;

use crate::story::{Story, source};

fn lives(track: &Track) -> Vec<(String, bool, Option<Live>)> {
    let inputs = track.inputs().into_iter();
    inputs
        .map(|input| (input.name, input.arrived, input.live))
        .collect()
}

#[test]
fn all_inputs_are_live_once_the_last_mile_has_rolled_out() {
    let story = Story::running();
    assert_eq!(
        lives(&story.track),
        [
            ("field:url".into(), true, Some(Live::True)),
            ("param:debug".into(), true, Some(Live::True)),
        ]
    );
    assert_eq!(story.track.live(), Live::True);
    assert_eq!(story.track.live_generation, Some(1));
}

#[test]
fn new_input_is_not_live_from_the_moment_it_is_known() {
    let mut story = Story::running();
    story.owner("on");
    assert_eq!(story.track.live(), Live::False);
    assert_eq!(story.track.live_generation, Some(1));
    story.config("on", "debug: on");
    assert_eq!(story.track.live(), Live::False);
}

#[test]
fn rollout_of_an_older_generation_says_nothing() {
    let mut story = Story::running();
    story.owner("on");
    story.config("on", "debug: on");
    story.deploy("app:1", "debug: on");
    let debug = &story.track.inputs()[1];
    assert!(debug.arrived);
    assert_eq!(debug.live, Some(Live::Unknown));
    story.rollout(Stage::Progressing {
        why: "1 of 3 pods are new".into(),
    });
    assert_eq!(story.track.live(), Live::False);
    story.rollout(Stage::Done);
    assert_eq!(story.track.live(), Live::True);
    assert_eq!(story.track.live_generation, Some(2));
}

#[test]
fn source_that_a_branch_brought_counts_for_live() {
    let mut story = Story::running();
    assert_eq!(story.track.state.finders(Kind::Source), ["fetch"]);
    story.fetch("2222222");
    assert_eq!(story.track.live(), Live::False);
    story.build("2222222", "app:2");
    story.deploy("app:2", "debug: off");
    story.rollout(Stage::Done);
    let arrival = story
        .track
        .state
        .arrival(&Origin::resource("fetch"), |it| *it == source("2222222"));
    assert!(arrival.arrived());
    assert_eq!(story.track.live(), Live::True);
}

#[test]
fn without_a_last_mile_live_is_unknown() {
    let mut story = Story::running();
    story.rollout(Stage::None);
    assert_eq!(story.track.live(), Live::Unknown);
    story.track.rollouts.clear();
    assert_eq!(story.track.live(), Live::Unknown);
}

#[test]
fn track_survives_json_older_and_newer() {
    let story = Story::running();
    let mut written = serde_json::to_value(&story.track).expect("JSON");
    written["addedLater"] = json!({"some": "thing"});
    written["rollouts"]["deploy"]["addedLater"] = json!(1);
    let read: Track = serde_json::from_value(written).expect("what was written can be read");
    assert_eq!(read, story.track);
    let oldest: Track = serde_json::from_value(json!({"uid": "owner"})).expect("defaults");
    assert_eq!(oldest.live(), Live::Unknown);
}
