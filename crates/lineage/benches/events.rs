//! What does it cost to feed an event, and to ask what has arrived, on a path with a diamond?
//!
//! `cargo bench -p pathline-lineage --bench events` prints the rows of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use jiff::Timestamp;
use pathline_lineage::chain::Resource;
use pathline_lineage::{
    Applied, Artifact, Chain, Health, Kind, Origin, Snapshot, Stamp, State, Template, Tracing,
    Trust,
};
use serde_json::json;

const EVENTS: usize = 10_000;
/// Name and upstreams; the first one reads the owner's revision.
const PATH: [(&str, &[&str]); 6] = [
    ("fetch", &[]),
    ("test", &["fetch"]),
    ("build", &["test"]),
    ("scan", &["fetch"]),
    ("config", &["build", "scan"]),
    ("deploy", &["config"]),
];

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

fn path() -> Chain {
    let resources = PATH.iter().map(|(name, upstream)| Resource {
        name: (*name).to_owned(),
        upstream: upstream.iter().map(|name| (*name).to_owned()).collect(),
        reads: upstream
            .is_empty()
            .then(|| "field:revision".to_owned())
            .into_iter()
            .collect(),
        tracing: Tracing {
            trust: Trust::Declared,
            ..Tracing::default()
        },
        emits: true,
    });
    Chain::new(resources.collect()).expect("a path")
}

fn value(revision: usize) -> Artifact {
    Artifact::field("revision", &json!(revision))
}

/// Takes one revision through the whole path; returns how many events that were.
fn pass(state: &mut State, revision: usize) -> usize {
    state.own(BTreeMap::from([(
        "field:revision".to_owned(),
        value(revision),
    )]));
    let generation = i64::try_from(revision + 1).ok();
    for (name, upstream) in PATH {
        let of = |name: &str| Artifact::value(Kind::Image, &json!(format!("{name}-{revision}")));
        let mut inputs: BTreeMap<_, _> = upstream
            .iter()
            .map(|name| (Origin::resource(*name), of(name)))
            .collect();
        if upstream.is_empty() {
            inputs.insert(Origin::owner("field:revision"), value(revision));
        }
        let stamp = Stamp {
            template: Template::default(),
            uid: name.to_owned(),
            generation,
            inputs,
            offered: std::collections::BTreeSet::new(),
            applied: Applied::Elsewhere,
            rendered: None,
            time: Timestamp::UNIX_EPOCH,
        };
        state.stamped(name, stamp).expect("it is on the path");
        let snapshot = Snapshot {
            template: Template::default(),
            uid: name.to_owned(),
            generation,
            observed: generation,
            condition_observed: None,
            health: Health::True,
            held: None,
            matched: None,
            failed: None,
            inputs_id: None,
            earlier: Vec::new(),
            output: Some(of(name)),
            time: Timestamp::UNIX_EPOCH,
        };
        state.seen(name, &snapshot).expect("it is on the path");
    }
    2 * PATH.len()
}
