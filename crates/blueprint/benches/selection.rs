//! Can the tree be shaken fast enough to decide a path before anything is stamped?
//!
//! `cargo bench -p pathline-blueprint --bench selection` prints the table of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

#[path = "support/data.rs"]
mod data;

use std::hint::black_box;
use std::time::{Duration, Instant};

use pathline_blueprint::owner::Owner;
use pathline_blueprint::selection::{Plan, Step};

const OPTIONS: u64 = 5;
const OWNERS: u64 = 10_000;

/// The number of owners that are timed at a time: few, so that some rounds are not interrupted.
const ROUND: usize = 100;

fn main() {
    let owners: Vec<Owner> = (0..OWNERS).map(data::owner).collect();
    println!(
        "| resources, 5 options each | one owner, undisturbed | one owner, median | 10,000 owners | plan made in |"
    );
    println!("| --- | --: | --: | --: | --: |");
    for resources in [10, 100, 1_000] {
        let blueprint = data::blueprint(resources, OPTIONS, resources);
        let (made, plan) = timed(|| Plan::new(&blueprint).expect("a valid blueprint"));
        let mut rounds: Vec<Duration> = owners
            .chunks(ROUND)
            .map(|owners| {
                timed(|| {
                    owners
                        .iter()
                        .map(|owner| selected(&plan, owner))
                        .sum::<usize>()
                })
                .0
            })
            .collect();
        let all: Duration = rounds.iter().sum();
        rounds.sort();
        let each = |round: Duration| round / u32::try_from(ROUND).expect("a small number");
        let (fastest, median) = (each(rounds[0]), each(rounds[rounds.len() / 2]));
        println!(
            "| {resources} | {fastest:.1?} | {median:.1?} | {:.3} s | {made:.1?} |",
            all.as_secs_f64()
        );
    }
}

fn selected(plan: &Plan, owner: &Owner) -> usize {
    let steps = black_box(plan.choose(owner));
    steps
        .iter()
        .filter(|step| matches!(step, Step::Selected { .. }))
        .count()
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = black_box(work());
    (start.elapsed(), result)
}
