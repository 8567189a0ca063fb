//! The cost of `contains` when there is much. The plans must use indexes, the rows that are
//! looked at must follow the answer, not the history.

mod grown;

use std::time::Instant;

use pathline_lineage::{Artifact, Kind};
use pathline_testkit::is_nightly;
use pathline_testkit::postgres::Server;

use self::grown::Grown;
use super::contains::walk;
use super::crossings::commits;
use super::find::candidates;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::location::Location;
use crate::page::Page;
use crate::plan::Plan;

/// The number of questions that are asked for the median.
const QUESTIONS: usize = 101;

/// Returns how much there is: 10 artifacts for each of 100 revisions of so many workloads.
fn size() -> Grown {
    let workloads = if is_nightly() { 10_000 } else { 1_000 };
    Grown { workloads }
}

#[tokio::test]
async fn contains_uses_indexes_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let location = Location::File(path.clone());
    Ledger::open(&location).await.unwrap().close().await;
    size().fill_file(&path).await;
    let ledger = Ledger::open(&location).await.unwrap();
    let plan = ask(&ledger, "SQLite").await;
    insta::assert_snapshot!("plan_on_sqlite", plan.steps());
    ledger.close().await;
}

#[tokio::test]
async fn contains_uses_indexes_on_postgres() {
    let Some(server) = Server::shared("contains on PostgreSQL") else {
        return;
    };
    let url = server.database();
    let location = Location::Postgres(url.clone());
    let ledger = Ledger::open(&location).await.unwrap();
    size().fill_postgres(&url).await;
    let plan = ask(&ledger, "PostgreSQL").await;
    insta::assert_snapshot!("plan_on_postgres", plan.steps());
    println!("of which PostgreSQL: {:.1} ms", plan.milliseconds());
    let visited = plan.rows_visited();
    assert!(
        visited < 500.0,
        "{visited} rows were looked at for 10 that are told"
    );
    ledger.close().await;
    server.drop_database(&url);
}

/// Asks many questions, prints how long they take, and returns how they are answered.
async fn ask(ledger: &Ledger, name: &str) -> Plan {
    let grown = size();
    let mut times = Vec::new();
    for question in 0..QUESTIONS {
        let revision = grown.revision(question);
        let started = Instant::now();
        let found = ledger
            .lineage()
            .contains(Kind::Source, &revision, &Page::default())
            .await;
        times.push(started.elapsed());
        let carriers = found.unwrap().items;
        assert_eq!(carriers.len(), 10, "{revision}: {carriers:?}");
        let owner = &carriers[0].owner.uid;
        assert!(
            carriers
                .iter()
                .all(|it| it.proven && it.owner.uid == *owner)
        );
    }
    // Everything reads this one: half of all that there is was made of it. A busy PostgreSQL may
    // run out of its time before that is known.
    let everything = ledger
        .lineage()
        .contains(Kind::Param, "on", &Page::default())
        .await;
    let error = everything.expect_err("that is too much");
    let refused = matches!(error, Error::TooMuch { .. }) || error.is_temporary();
    assert!(refused, "{error:?}");
    times.sort_unstable();
    println!(
        "{name}: {} workloads, contains: median {:?}, slowest {:?}",
        grown.workloads,
        times[times.len() / 2],
        times[times.len() - 1]
    );
    plan(ledger, &grown.revision(7)).await
}

async fn plan(ledger: &Ledger, revision: &str) -> Plan {
    let mut session = ledger.database().reader().await.unwrap();
    let dialect = session.dialect();
    let found = super::find::find(&mut session, Kind::Source, revision)
        .await
        .unwrap();
    let starts: Vec<i64> = found.iter().map(|it| it.id).collect();
    let mut plan = Plan::default();
    plan.add(&mut session, candidates(Kind::Source, revision))
        .await;
    plan.add(&mut session, walk(dialect, &starts, i64::MAX, 101))
        .await;
    let found = Artifact::source("https://git.example/app", Some(revision)).id();
    plan.add(&mut session, commits("uid-7", found)).await;
    plan
}
