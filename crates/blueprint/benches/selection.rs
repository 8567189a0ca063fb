//! Can the tree be shaken fast enough to decide a path before anything is stamped?
//!
//! `cargo bench -p pathline-blueprint --bench selection` prints the table of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "support/data.rs"]
mod data;

use std::hint::black_box;
use std::time::{Duration, Instant};

use pathline_blueprint::owner::Owner;
use pathline_blueprint::selection::{Plan, Step};

const OPTIONS: u64 = 5;
const OWNERS: u64 = 10_000;
const ROUNDS: usize = 9;

fn main() {
    let owners: Vec<Owner> = (0..OWNERS).map(data::owner).collect();
    println!(
        "| resources, 5 options each | one owner | each resource | 10,000 owners | plan made in |"
    );
    println!("| --- | --: | --: | --: | --: |");
    for resources in [10, 100, 1_000] {
        let blueprint = data::blueprint(resources, OPTIONS, resources);
        let (made, plan) = timed(|| Plan::new(&blueprint).expect("a valid blueprint"));
        let all = if resources > 100 {
            &owners[..1_000]
        } else {
            &owners
        };
        let mut rounds: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                timed(|| {
                    all.iter()
                        .map(|owner| selected(&plan, owner))
                        .sum::<usize>()
                })
                .0
            })
            .collect();
        rounds.sort();
        let median = rounds[ROUNDS / 2];
        let count = u32::try_from(all.len()).expect("a small number");
        let one = median / count;
        let of_all = if count == 10_000 {
            format!("{:.3} s", median.as_secs_f64())
        } else {
            "-".to_owned()
        };
        let each = one / u32::try_from(resources).expect("a small number");
        println!("| {resources} | {one:.1?} | {each:?} | {of_all} | {made:.1?} |");
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
