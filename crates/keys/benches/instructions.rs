//! How many instructions does each operation take? Counts do not depend on what else the machine
//! does, so a regression shows. Needs valgrind; without it, says so.
//!
//! `cargo bench -p pathline-keys --bench instructions` prints the table of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "support/data.rs"]
mod data;

use std::hint::black_box;
use std::process::Command;

use pathline_keys::KeySet;

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
        match count(scenario) {
            Ok(instructions) => println!("| {scenario} | {instructions} |"),
            Err(error) => println!("| {scenario} | not counted: {error} |"),
        }
    }
}

/// Runs this very program under callgrind, which counts inside of `measured` only.
fn count(scenario: &str) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
        ])
        .arg("--toggle-collect=*measured*")
        .arg(program)
        .arg(scenario)
        .output()
        .map_err(|error| error.to_string())?;
    let report = String::from_utf8_lossy(&output.stderr);
    let line = report
        .lines()
        .find_map(|line| line.split_once("Collected :"));
    line.map(|(_, count)| count.trim().to_owned())
        .ok_or_else(|| report.into_owned())
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
