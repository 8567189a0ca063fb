//! Measures how long it takes to lint a large blueprint, with exact reachability.
//!
//! `cargo bench -p pathline-blueprint --bench lint` prints the table of `docs/benchmarks.md`; a seed as
//! argument lints only that blueprint.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

#[path = "support/data.rs"]
#[expect(dead_code, reason = "blueprints are linted without owners")]
mod data;

use std::hint::black_box;
use std::time::{Duration, Instant};

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::lint;
use pathline_blueprint::reach::{self, Analysis, Budget, Verdict};

const RESOURCES: u64 = 100;
const OPTIONS: u64 = 5;
const SEEDS: u64 = 31;

fn main() {
    let seed = std::env::args().find_map(|argument| argument.parse().ok());
    let seeds: Vec<u64> = seed.map_or_else(|| (1..=SEEDS).collect(), |seed| vec![seed]);
    println!("| seed | lint | findings | dead options | dead resources | unknown | levels |");
    println!("| --: | --: | --: | --: | --: | --: | --: |");
    let mut times: Vec<Duration> = Vec::new();
    let mut exceeded = 0;
    for seed in seeds {
        let written = data::written(RESOURCES, OPTIONS, seed);
        let start = Instant::now();
        let findings = black_box(lint::lint(&written, Budget::default()));
        let time = start.elapsed();
        let blueprint = Blueprint::read(written).expect("a valid blueprint");
        let analysis = reach::analyse(&blueprint, Budget::default()).expect("a valid blueprint");
        let (dead_options, dead_resources, unknown) = counts(&analysis);
        println!(
            "| {seed} | {time:.1?} | {} | {dead_options} | {dead_resources} | {unknown} | {} |",
            findings.map_or(0, |findings| findings.len()),
            levels(&blueprint),
        );
        exceeded += usize::from(unknown > 0);
        times.push(time);
    }
    times.sort_unstable();
    let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    println!("median {median:.1?}, slowest {slowest:.1?}, {exceeded} exceeded the budget");
}

/// Returns how many options and resources are dead, and of how many it is not known.
fn counts(analysis: &Analysis) -> (usize, usize, usize) {
    let is_dead = |verdict: &&Verdict| matches!(verdict, Verdict::Unreachable(_));
    let is_alive = |reach: &&reach::Reach| reach.resource == Verdict::Reachable;
    let resources = analysis.resources.iter();
    let options = resources
        .clone()
        .filter(is_alive)
        .flat_map(|reach| &reach.options);
    let all = resources
        .clone()
        .flat_map(|reach| reach.options.iter().chain([&reach.resource]));
    (
        options.filter(is_dead).count(),
        resources
            .map(|reach| &reach.resource)
            .filter(is_dead)
            .count(),
        all.filter(|verdict| **verdict == Verdict::Unknown).count() + analysis.order_unknown.len(),
    )
}

/// Returns the length of the longest chain of inputs.
fn levels(blueprint: &Blueprint) -> usize {
    let mut levels: Vec<usize> = Vec::new();
    for resource in &blueprint.resources {
        let producers = resource.all_inputs().filter_map(|input| {
            let mut all = blueprint.resources.iter();
            all.position(|other| other.name == input.producer)
        });
        let above = producers.map(|producer| levels[producer]).max();
        levels.push(1 + above.unwrap_or(0));
    }
    levels.into_iter().max().unwrap_or(0)
}
