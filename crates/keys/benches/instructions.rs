//! Counts the instructions of each operation. Counts do not depend on what else the machine
//! does, so a regression shows. Needs valgrind; without it, says so.
//!
//! `cargo bench -p pathline-keys --bench instructions` prints the table of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "support/data.rs"]
mod data;

use std::hint::black_box;

use pathline_keys::KeySet;
use pathline_testkit::instructions;

const KEYS: usize = 100_000;
const SCENARIOS: [&str; 6] = ["nothing", "one", "hundred", "tenth", "look-up", "write"];

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
    println!("| at 100,000 keys | instructions |");
    println!("| --- | --- |");
    for scenario in SCENARIOS {
        match instructions(scenario) {
            Ok(count) => println!("| {scenario} | {count} |"),
            Err(error) => println!("| {scenario} | not counted: {error:#} |"),
        }
    }
}

fn run(scenario: &str) {
    let old = data::regular_set(KEYS);
    match scenario {
        "nothing" => diff(&old, &old.clone()),
        "one" => diff(&old, &data::edited(&old, 1, 1)),
        "hundred" => diff(&old, &data::edited(&old, 100, 1)),
        "tenth" => diff(&old, &data::edited(&old, KEYS / 10, 1)),
        "look-up" => {
            let name = data::regular_name(KEYS / 3);
            black_box(measured(|| old.get(&name).is_some()));
        }
        _ => {
            // The first write pays for what the allocator puts off while the set is built.
            let mut new = data::edited(&old, 1, 1);
            let key = data::regular_key(KEYS / 3).with_value("changed");
            black_box(measured(|| new.insert(key)));
            black_box(old);
        }
    }
}

fn diff(old: &KeySet, new: &KeySet) {
    black_box(measured(|| KeySet::diff(old, new, None)));
}

#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    // Keeps this from ending in a jump into `work`, which callgrind would not see as its end.
    black_box(work())
}
