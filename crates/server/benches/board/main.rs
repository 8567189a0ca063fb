//! Measures what it costs to say where all releases are, and why they are not further.
//!
//! `cargo bench -p pathline-server --bench board` prints the rows of `docs/benchmarks.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]
#![expect(
    dead_code,
    reason = "the scene of the tests has more than is measured here"
)]

#[path = "../../tests/it/releasing/scene.rs"]
mod scene;
#[path = "../../tests/it/tracked.rs"]
mod tracked;
#[path = "../../tests/it/world.rs"]
mod world;

use std::time::{Duration, Instant};

use futures::StreamExt;
use pathline_ledger::releases::QueueAction;
use pathline_release::queue::Report;
use serde_json::json;

use scene::Releasing;
use tracked::Seen;

/// The number of trackers of the large board.
const TRACKERS: usize = 1_000;
/// The number of times that each question is asked.
const ROUNDS: usize = 21;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(measure());
}

async fn measure() {
    println!("| trackers x environments | question | statements | answered after, median | size |");
    println!("| --- | --- | --: | --: | --: |");
    let environments = ["dev", "ha", "preprod", "prod"].map(|it| (it, json!({"type": it})));
    let releasing = Releasing::with(&environments).await;
    walk(&releasing, &["a.b".to_owned()]).await;
    ask_all(&releasing, 1).await;
    let names: Vec<_> = (1..TRACKERS).map(|it| format!("shop.web{it}")).collect();
    // Many at once share a transaction.
    let made = futures::stream::iter(&names);
    let made = made.for_each_concurrent(100, async |name| {
        releasing.tracked.make(json!({"id": name})).await;
    });
    made.await;
    walk(&releasing, &names).await;
    ask_all(&releasing, TRACKERS).await;
}

/// Forms releases of trackers: one is deployed in dev and queued in ha, a newer one waits in dev.
async fn walk(releasing: &Releasing, names: &[String]) {
    for (setting, digest) in [("one", "sha256:1"), ("two", "sha256:2")] {
        let formed = futures::stream::iter(names);
        let formed = formed.for_each_concurrent(100, async |name| {
            releasing
                .release_of(name, &Seen::new(setting, digest))
                .await;
        });
        formed.await;
        if setting == "one" {
            deploy(releasing, names).await;
        }
    }
}

/// Deploys the first releases of trackers in dev.
async fn deploy(releasing: &Releasing, names: &[String]) {
    releasing.tick("dev").await;
    for name in names {
        let ready = QueueAction::Report {
            environment: "dev".to_owned(),
            release: 1,
            attempt: 0,
            report: Report::Ready,
        };
        releasing.act_on(name, ready).await;
    }
}

async fn ask_all(releasing: &Releasing, trackers: usize) {
    ask(
        releasing,
        trackers,
        "the board",
        "/releases/board?limit=1000",
    )
    .await;
    ask(releasing, trackers, "why, of one", "/trackers/a.b/why").await;
}

async fn ask(releasing: &Releasing, trackers: usize, question: &str, path: &str) {
    let ledger = &releasing.tracked.world.ledger;
    let (mut statements, mut times, mut size) = (u64::MAX, Vec::new(), 0);
    for _ in 0..ROUNDS {
        let (before, began) = (ledger.statements(), Instant::now());
        let answer = releasing.get(path).await;
        times.push(began.elapsed());
        assert_eq!(answer.status, 200, "{answer:?}");
        size = answer.body.to_string().len();
        // What the ledger does by itself can only add to it.
        statements = statements.min(ledger.statements() - before);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times.sort();
    println!(
        "| {trackers} x 4 | {question} | {statements} | {:.2?} | {:.1} kB |",
        times[ROUNDS / 2],
        size as f64 / 1e3
    );
}
