//! Measures how much faster a diff of shared trees is than comparing what everybody has at hand, and what
//! does a look-up cost for it? Ratios within one run, so that the machine does not matter.
//!
//! `cargo bench -p pathline-keys --bench ratios` prints the table of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

#[path = "support/data.rs"]
mod data;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pathline_keys::{KeySet, Name, Value};

const KEYS: usize = 1_000_000;
const ROUNDS: usize = 9;

type Map = BTreeMap<Name, Value>;
type Sorted = Vec<Arc<(Name, Value)>>;

fn main() {
    let set = data::regular_set(KEYS);
    println!("| at 1,000,000 keys | here | compared with | ratio | asked |");
    println!("| --- | --- | --- | --- | --- |");
    changes_against_maps(&set);
    tenth_against_vectors(&set);
    drop(set);
    for count in [1_000, 100_000, KEYS] {
        look_up(count);
    }
}

fn changes_against_maps(set: &KeySet) {
    let old = to_map(set);
    let maps = |count: usize| {
        median(5, |round| {
            let mut new = old.clone();
            for (_, key) in KeySet::diff(set, &data::edited(set, count, round), None).modified() {
                new.insert(key.name(), key.value().to_value());
            }
            timed(|| black_box(compare_maps(&old, &new)).len()).0
        })
    };
    let trees = |count: usize, warm: bool| {
        median(ROUNDS, |round| {
            let new = data::edited(set, count, round);
            if warm {
                black_box(KeySet::diff(set, &new, None));
            }
            let (time, changes) = timed(|| KeySet::diff(set, &new, None));
            assert_eq!(changes.len(), count);
            time
        })
    };
    let (one, hundred) = (maps(1), maps(100));
    faster(
        "one change, cold",
        trees(1, false),
        "two `BTreeMap`s",
        one,
        500.0,
    );
    faster(
        "one change, warm",
        trees(1, true),
        "two `BTreeMap`s",
        one,
        2_500.0,
    );
    faster(
        "100 spread changes, cold",
        trees(100, false),
        "two `BTreeMap`s",
        hundred,
        50.0,
    );
    faster(
        "100 spread changes, warm",
        trees(100, true),
        "two `BTreeMap`s",
        hundred,
        50.0,
    );
}

fn tenth_against_vectors(set: &KeySet) {
    let old = to_sorted(set);
    let (mut trees, mut vectors) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let new = data::edited(set, KEYS / 10, round);
        let (time, changes) = timed(|| KeySet::diff(set, &new, None));
        assert_eq!(changes.len(), KEYS / 10);
        trees.push(time);
        let mut sorted = old.clone();
        for (_, key) in changes.modified() {
            let name = key.name();
            let at = sorted
                .binary_search_by(|item| item.0.cmp(&name))
                .expect("only values changed");
            sorted[at] = Arc::new((name, key.value().to_value()));
        }
        vectors.push(timed(|| black_box(merge_vectors(&old, &sorted)).len()).0);
    }
    slower(
        "a tenth of all keys, cold",
        middle(trees),
        "two sorted `Vec<Arc>`",
        middle(vectors),
        2.0,
    );
}

fn look_up(count: usize) {
    let set = data::regular_set(count);
    let map = to_map(&set);
    let mut state = 88_172_645_463_325_252_u64;
    let probes: Vec<_> = (0..20_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            data::regular_name(usize::try_from(state % count as u64).expect("below count"))
        })
        .collect();
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        here.push(
            timed(|| {
                probes
                    .iter()
                    .filter(|n| black_box(set.get(n)).is_some())
                    .count()
            })
            .0 / 20_000,
        );
        there.push(
            timed(|| {
                probes
                    .iter()
                    .filter(|n| black_box(map.get(n)).is_some())
                    .count()
            })
            .0 / 20_000,
        );
    }
    slower(
        &format!("look-up among {count}"),
        middle(here),
        "`BTreeMap::get`",
        middle(there),
        1.3,
    );
}

fn to_map(set: &KeySet) -> Map {
    set.iter()
        .map(|key| (key.name(), key.value().to_value()))
        .collect()
}

fn to_sorted(set: &KeySet) -> Sorted {
    set.iter()
        .map(|key| Arc::new((key.name(), key.value().to_value())))
        .collect()
}

/// Merges two maps whose names and values are shared where they did not change.
fn compare_maps<'a>(
    old: &'a Map,
    new: &'a Map,
) -> Vec<(&'a Name, Option<&'a Value>, Option<&'a Value>)> {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    let mut changes = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) => a.0.cmp(b.0),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return changes,
        };
        let a = (order != Ordering::Greater).then(|| old.next()).flatten();
        let b = (order != Ordering::Less).then(|| new.next()).flatten();
        match (a, b) {
            (Some(a), Some(b)) if same_value(a.1, b.1) => {}
            (Some(a), b) => changes.push((a.0, Some(a.1), b.map(|b| b.1))),
            (None, Some(b)) => changes.push((b.0, None, Some(b.1))),
            (None, None) => {}
        }
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Arc::ptr_eq(a, b) || a == b,
        (a, b) => a == b,
    }
}

type Pair = (Option<Arc<(Name, Value)>>, Option<Arc<(Name, Value)>>);

/// Merges two vectors whose items are shared where they did not change.
fn merge_vectors(old: &Sorted, new: &Sorted) -> Vec<Pair> {
    let (mut i, mut j) = (0, 0);
    let mut changes = Vec::new();
    while i < old.len() && j < new.len() {
        let (a, b) = (&old[i], &new[j]);
        let order = if Arc::ptr_eq(a, b) {
            Ordering::Equal
        } else {
            a.0.cmp(&b.0)
        };
        match order {
            Ordering::Less => changes.push((Some(Arc::clone(a)), None)),
            Ordering::Greater => changes.push((None, Some(Arc::clone(b)))),
            Ordering::Equal if Arc::ptr_eq(a, b) || a.1 == b.1 => {}
            Ordering::Equal => changes.push((Some(Arc::clone(a)), Some(Arc::clone(b)))),
        }
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    changes.extend(old[i..].iter().map(|a| (Some(Arc::clone(a)), None)));
    changes.extend(new[j..].iter().map(|b| (None, Some(Arc::clone(b)))));
    changes
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn median(rounds: usize, run: impl FnMut(usize) -> Duration) -> Duration {
    middle((0..rounds).map(run).collect())
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn faster(what: &str, here: Duration, with: &str, there: Duration, asked: f64) {
    let ratio = there.as_secs_f64() / here.as_secs_f64();
    println!("| {what} | {here:.1?} | {with}: {there:.1?} | {ratio:.0}x faster | {asked}x |");
}

fn slower(what: &str, here: Duration, with: &str, there: Duration, asked: f64) {
    let ratio = here.as_secs_f64() / there.as_secs_f64();
    println!("| {what} | {here:.1?} | {with}: {there:.1?} | {ratio:.2}x | at most {asked}x |");
}
