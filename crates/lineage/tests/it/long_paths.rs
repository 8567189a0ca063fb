//! Paths that are longer than any stack is deep.

use pathline_lineage::wait::{Options, Verdict, WaitFor, judge};
use pathline_lineage::{Artifact, Chain, MadeOf, Origin, OwnerLineage, State};
use serde_json::json;

use crate::paths::{done, resource, stamp};

const RESOURCES: usize = 600;
/// Less than recursion over such a path takes.
const STACK: usize = 96 << 10;

fn name(index: usize) -> String {
    format!("r{index}")
}

/// Every resource takes what the one before it makes, and all of them are done.
fn long_path() -> State {
    let resources = (0..RESOURCES).map(|index| match index.checked_sub(1) {
        None => resource(&name(0), &[], &["param:debug"]),
        Some(before) => resource(&name(index), &[&name(before)], &[]),
    });
    let mut state = State::new(Chain::new(resources.collect()).expect("a path"));
    let debug = Artifact::param("param:debug", &json!("on"));
    state.own([("param:debug".to_owned(), debug.clone())].into());
    let mut given = (Origin::owner("param:debug"), debug);
    for index in 0..RESOURCES {
        let (name, output) = (
            name(index),
            Artifact::image(&format!("i{index}@sha256:{index:064}")),
        );
        let stamped = state.stamped(&name, stamp(&name, 1, [given]));
        stamped.expect("it is on the path");
        let seen = state.seen(&name, &done(&name, 1, Some(output.clone())));
        seen.expect("it is on the path");
        given = (Origin::resource(&name), output);
    }
    state
}

fn depth(made: &MadeOf) -> usize {
    1 + made.from.iter().map(depth).max().unwrap_or_default()
}

#[test]
fn hole_1_long_path_is_followed_on_a_small_stack() {
    let follow = || {
        let state = long_path();
        let wanted = Artifact::param("param:debug", &json!("on"));
        let arrival = state.arrival(&Origin::owner("param:debug"), |it| *it == wanted);
        assert!(arrival.arrived(), "{arrival:?}");
        let told = state.outputs("workload", usize::MAX);
        let deepest = told.iter().map(depth).max();
        assert!(
            deepest < Some(64),
            "JSON of {deepest:?} levels can't be read"
        );
        let lineage = OwnerLineage {
            state,
            ..OwnerLineage::default()
        };
        let wait_for: WaitFor = "param:debug=on".parse().expect("it can be waited for");
        let verdict = judge(&lineage, &[wait_for], Options::default());
        assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?}");
    };
    let small = std::thread::Builder::new().stack_size(STACK);
    let followed = small.spawn(follow).expect("a thread").join();
    followed.expect("a long path is followed");
}
