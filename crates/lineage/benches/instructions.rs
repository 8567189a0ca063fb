//! Counts the instructions that it takes to feed what happens on a path, and to ask what has arrived. Counts do not depend on
//! what else the machine does, so a regression shows. Needs valgrind; without it, says so.
//!
//! `cargo bench -p pathline-lineage --bench instructions` prints the table of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "support/path.rs"]
mod support;

use std::hint::black_box;

use pathline_lineage::{Origin, State};
use pathline_testkit::instructions;
use support::{pass, path, value};

/// Revisions that went through the path before anything is counted.
const BEFORE: usize = 100;
const SCENARIOS: [&str; 2] = ["feed", "ask"];

fn main() {
    let scenario = std::env::args()
        .nth(1)
        .filter(|name| SCENARIOS.contains(&name.as_str()));
    match scenario {
        Some(scenario) => run(&scenario),
        None => count_all(),
    }
}

fn count_all() {
    println!("| on a path of six resources | instructions |");
    println!("| --- | --: |");
    for scenario in SCENARIOS {
        match instructions(scenario) {
            Ok(count) => println!("| {scenario} | {count} |"),
            Err(error) => println!("| {scenario} | not counted: {error:#} |"),
        }
    }
}

fn run(scenario: &str) {
    let mut state = State::new(path());
    for revision in 0..BEFORE {
        pass(&mut state, revision);
    }
    if scenario == "feed" {
        black_box(measured(|| pass(&mut state, BEFORE)));
        return;
    }
    let origin = Origin::owner("field:revision");
    let last = value(BEFORE - 1);
    let arrival = measured(|| state.arrival(&origin, |artifact| *artifact == last));
    assert!(
        black_box(arrival).arrived(),
        "the last revision has arrived"
    );
}

#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    // Keeps this from ending in a jump into `work`, which callgrind would not see as its end.
    black_box(work())
}
