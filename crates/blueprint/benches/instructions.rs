//! Counts the instructions that it takes to decide a path, and to find out what can be reached. Counts do not depend on what else the machine
//! does, so a regression shows. Needs valgrind; without it, says so.
//!
//! `cargo bench -p pathline-blueprint --bench instructions` prints the table of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "support/data.rs"]
mod data;

use std::hint::black_box;

use pathline_blueprint::reach::{self, Budget};
use pathline_blueprint::selection::Plan;
use pathline_testkit::instructions;

const OPTIONS: u64 = 5;
const SCENARIOS: [(&str, u64); 8] = [
    ("choose-10", 10),
    ("choose-100", 100),
    ("choose-1000", 1_000),
    ("plan-10", 10),
    ("plan-100", 100),
    ("plan-1000", 1_000),
    ("reach-10", 10),
    ("reach-100", 100),
];

fn main() {
    let argument = std::env::args().nth(1);
    let scenario = SCENARIOS
        .into_iter()
        .find(|(name, _)| Some(*name) == argument.as_deref());
    match scenario {
        Some((name, resources)) => run(name, resources),
        None => count_all(),
    }
}

fn count_all() {
    println!("| resources, 5 options each | instructions | each resource |");
    println!("| --- | --: | --: |");
    for (name, resources) in SCENARIOS {
        match instructions(name) {
            Ok(count) => {
                println!("| {name} | {count} | {} |", count / resources);
            }
            Err(error) => println!("| {name} | not counted: {error:#} | - |"),
        }
    }
}

fn run(scenario: &str, resources: u64) {
    let blueprint = data::blueprint(resources, OPTIONS, resources);
    if scenario.starts_with("reach") {
        // The first one pays for the definitions of owners.
        let small = data::blueprint(1, OPTIONS, 1);
        black_box(reach::analyse(&small, Budget::default()).expect("a valid blueprint"));
        let analysis = measured(|| reach::analyse(&blueprint, Budget::default()));
        black_box(analysis.expect("a valid blueprint"));
        return;
    }
    if scenario.starts_with("plan") {
        black_box(measured(|| Plan::new(&blueprint)).expect("a valid blueprint"));
        return;
    }
    let plan = Plan::new(&blueprint).expect("a valid blueprint");
    let owner = data::owner(1);
    // The first one pays for what the allocator puts off.
    black_box(plan.choose(&owner));
    black_box(measured(|| plan.choose(&owner)));
}

#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    // Keeps this from ending in a jump into `work`, which callgrind would not see as its end.
    black_box(work())
}
