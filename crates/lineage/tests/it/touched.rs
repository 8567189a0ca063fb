//! An object that somebody else has changed is not live with what was applied, even if its output is still ours.

use std::collections::BTreeMap;

use pathline_lineage::wait::{Options, judge};
use pathline_lineage::{
    Applied, Artifact, Chain, InputsId, Live, Origin, OwnerLineage, Rollout, Snapshot, Stage,
    Stamp, State,
};
use serde_json::json;

use crate::paths::{done, resource, stamp};

const LIVE: Options = Options {
    live: true,
    accept_assumed: false,
    since_generation: None,
};

fn inputs() -> BTreeMap<Origin, Artifact> {
    let debug = Artifact::param("debug", &json!("on"));
    [(Origin::owner("param:debug"), debug)].into()
}

/// Returns the lineage of a process whose address is its output, after it was seen in a generation.
fn mk_lineage(seen_generation: i64, held: bool) -> OwnerLineage {
    let run = resource("run", &[], &["param:debug"]);
    let chain = Chain::new(vec![run]).expect("a path");
    let mut state = State::new(chain);
    let owner = inputs().into_iter();
    let owner = owner.map(|(origin, it)| (origin.name().to_owned(), it));
    state.own(owner.collect());
    let address = Artifact::image(
        "registry.example/app@sha256:0000000000000000000000000000000000000000000000000000000000000000",
    );
    let applied = Stamp {
        applied: Applied::Output(address.id()),
        rendered: Some("on".into()),
        ..stamp("process", 1, inputs())
    };
    state.stamped("run", applied).expect("it is on the path");
    for (generation, held) in [(1, true), (seen_generation, held)] {
        let snapshot = Snapshot {
            held: Some(held),
            inputs_id: Some(InputsId::of(&inputs())),
            ..done("process", generation, Some(address.clone()))
        };
        state.seen("run", &snapshot).expect("it is on the path");
    }
    let made = state.current("run").expect("it makes its address");
    let rollout = Rollout {
        uid: "process".into(),
        generation: made.generation,
        stage: Stage::Done,
        ..Rollout::default()
    };
    OwnerLineage {
        rollouts: [("run".to_owned(), rollout)].into(),
        state,
        ..OwnerLineage::default()
    }
}

fn exit_code(lineage: &OwnerLineage) -> Option<u8> {
    let awaited = "param:debug=on".parse().expect("it can be waited for");
    judge(lineage, &[awaited], LIVE).exit_code()
}

#[test]
fn process_that_is_as_it_was_applied_is_live() {
    let lineage = mk_lineage(1, true);
    assert_eq!(exit_code(&lineage), Some(0));
    assert_eq!(lineage.live(), Live::True);
}

#[test]
fn process_whose_variable_somebody_else_has_changed_is_waited_for() {
    let lineage = mk_lineage(2, false);
    assert_eq!(exit_code(&lineage), None);
    assert_eq!(lineage.live(), Live::False);
}

#[test]
fn process_that_somebody_else_has_scaled_is_live() {
    let lineage = mk_lineage(2, true);
    assert_eq!(exit_code(&lineage), Some(0));
}
