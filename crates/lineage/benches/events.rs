//! Measures what it costs to feed an event, and to ask what has arrived, on a path with a diamond.
//!
//! `cargo bench -p pathline-lineage --bench events` prints the rows of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

#[path = "support/path.rs"]
mod support;

use std::hint::black_box;
use std::time::Instant;

use pathline_lineage::{Origin, State};
use support::{PATH, pass, path, value};

const EVENTS: usize = 10_000;

fn main() {
    let mut state = State::new(path());
    let started = Instant::now();
    let mut events = 0;
    let mut revision = 0;
    while events < EVENTS {
        events += pass(&mut state, revision);
        revision += 1;
    }
    let feeding = started.elapsed() / u32::try_from(events).expect("a few thousand");

    let origin = Origin::owner("field:revision");
    let last = value(revision - 1);
    let started = Instant::now();
    for _ in 0..EVENTS {
        let arrival = state.arrival(&origin, |artifact| *artifact == last);
        assert!(black_box(arrival).arrived());
    }
    let asking = started.elapsed() / u32::try_from(EVENTS).expect("a few thousand");
    let kept = serde_json::to_vec(&state).expect("a state is JSON").len();
    println!(
        "| {events} events on a path of {} resources | figure |",
        PATH.len()
    );
    println!("| --- | --- |");
    println!("| feeding one event | {feeding:.1?} |");
    println!("| asking whether a value has arrived | {asking:.1?} |");
    println!(
        "| the state after {revision} revisions, as JSON | {} KiB |",
        kept / 1024
    );
}
