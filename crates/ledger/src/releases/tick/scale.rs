//! The cost of a tick when there is much: it is that of what moves, and not that of the queues.

use jiff::{SignedDuration, Timestamp};
use pathline_release::label::Label;
use pathline_release::queue::{Environment, Flow, Freeze, Hold};
use pathline_release::{Cause, Configuration, Image, Release, Vetos};
use pathline_testkit::postgres::Server;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

use super::batch::{Batch, Ticking, find, queued, rollbacks};
use super::{BATCH, Ticked};
use crate::ledger::Ledger;
use crate::location::Location;
use crate::plan::Plan;
use crate::releases::queues::plan_of_restoring;

/// The number of trackers, each with one release.
const TRACKERS: usize = 100_000;
/// The number of those of which something is queued in `prod`.
const IN_PROD: usize = 3;

/// The release of each tracker is deployed in `ha` and queued in `dev`; a few are queued in `prod`, too.
const ROWS: &str = "
    insert into tracker (uid, name, name_key, source, token_version, generation, version, state,
      created, created_by, updated, updated_by)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $N)
    select 'uid-' || i, 'shop.a' || i, 'shop.a' || i, '{}', 1, 1, 0, '{}', 0, 'ci', 0, 'ci' from item;

    insert into release (id, tracker_uid, number, config_hash, config_commit, image_repository,
      image_tag, image_digest, cause, time, body)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $N)
    select 'id-' || i, 'uid-' || i, 1, 'hash', 'commit', 'repository', 'main', 'digest', 'initial', 0,
      '$BODY' from item;

    insert into entry (tracker_uid, number, environment, state, since, attempt, is_promoted)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $N)
    select 'uid-' || i, 1, 'dev', 'queued', 0, 0, false from item;
    insert into entry (tracker_uid, number, environment, state, since, attempt, is_promoted)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $N)
    select 'uid-' || i, 1, 'ha', 'deployed', 0, 0, false from item;
    insert into entry (tracker_uid, number, environment, state, since, attempt, is_promoted)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $P)
    select 'uid-' || (7 * i), 1, 'prod', 'queued', 0, 0, false from item;

    insert into environment (name) values ('dev'), ('ha'), ('prod');
";

fn rows() -> String {
    let body = serde_json::to_string(&mk_release()).unwrap();
    ROWS.replace("$N", &TRACKERS.to_string())
        .replace("$P", &IN_PROD.to_string())
        .replace("$BODY", &body)
}

fn mk_release() -> Release {
    Release {
        number: 1,
        configuration: Configuration {
            config_hash: "hash".to_owned(),
            label: Label::parse("main").unwrap(),
            repository: "repository".to_owned(),
            commit: "commit".to_owned(),
            blob: "blob".to_owned(),
            vetos: Vetos::default(),
        },
        image: Image {
            repository: "repository".to_owned(),
            tag: "main".to_owned(),
            digest: "digest".to_owned(),
        },
        cause: Cause::Initial,
        previous: None,
        at: Timestamp::UNIX_EPOCH,
        rollback: None,
    }
}

fn mk_flow() -> Flow {
    let environments = [("dev", 0), ("ha", 0), ("prod", 1)];
    let environments = environments.map(|(name, position)| Environment::new(name, position));
    Flow::new(environments.into()).unwrap()
}

fn mk_ticking(name: &str, is_stopped: bool) -> Ticking {
    Ticking {
        name: name.to_owned(),
        tick: second(60),
        is_stopped,
    }
}

fn second(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

#[tokio::test]
async fn tick_of_a_long_queue_costs_what_it_moves_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let location = Location::File(path.clone());
    Ledger::open(&location).await.unwrap().close().await;
    let url = format!("sqlite://{}", path.display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let script = format!(
        "pragma synchronous = off; pragma foreign_keys = off; {}",
        rows()
    );
    let run = sqlx::raw_sql(AssertSqlSafe(script));
    run.execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let ledger = Ledger::open(&location).await.unwrap();
    for plan in plans(&ledger).await {
        let steps = plan.steps();
        for table in ["entry", "busy", "release", "tracker", "hold"] {
            let is_scanned = |step: &str| {
                let scan = format!("SCAN {table}");
                step == scan || step.starts_with(&format!("{scan} ")) && !step.contains("INDEX")
            };
            assert!(!steps.lines().any(is_scanned), "all of {table}:\n{steps}");
        }
    }
    check(&ledger).await;
    ledger.close().await;
}

#[tokio::test]
async fn tick_of_a_long_queue_costs_what_it_moves_on_postgres() {
    let Some(server) = Server::shared("a tick on PostgreSQL") else {
        return;
    };
    let url = server.database();
    let ledger = Ledger::open(&Location::Postgres(url.clone()))
        .await
        .unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let script = format!(
        "set session_replication_role = replica; set synchronous_commit = off; {} analyze;",
        rows()
    );
    let run = sqlx::raw_sql(AssertSqlSafe(script));
    run.execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    // Each row is counted in every step that it goes through.
    let most = [100.0, 100.0, 10.0, 5.0 * BATCH as f64, 300.0];
    for (plan, most) in plans(&ledger).await.iter().zip(most) {
        let (steps, visited) = (plan.steps(), plan.rows_visited());
        for table in ["entry", "release", "tracker"] {
            let all = format!("all of {table}");
            assert!(!steps.lines().any(|it| it == all), "{steps}");
        }
        assert!(visited <= most, "{visited} rows were looked at:\n{steps}");
    }
    check(&ledger).await;
    ledger.close().await;
    server.drop_database(&url);
}

/// Returns how the questions of a tick are answered: where few are queued, where none are rollbacks, where all is
/// stopped, where all are queued; and how those few are restored.
async fn plans(ledger: &Ledger) -> [Plan; 5] {
    let mut session = ledger.database().reader().await.unwrap();
    let mut plans: [Plan; 5] = Default::default();
    let (prod, dev) = (mk_ticking("prod", false), mk_ticking("dev", false));
    plans[0].add(&mut session, queued(&prod, "")).await;
    plans[1].add(&mut session, rollbacks(&prod, "")).await;
    plans[2].add(&mut session, rollbacks(&dev, "")).await;
    plans[3].add(&mut session, queued(&dev, "uid-5")).await;
    let uids = ["uid-0", "uid-7", "uid-14"].map(str::to_owned);
    let location = ledger.database().location();
    for asked in plan_of_restoring(session.dialect(), location, &uids) {
        plans[4].add(&mut session, asked).await;
    }
    plans
}

/// Checks that only those are found, and restored, that can move.
async fn check(ledger: &Ledger) {
    let mut session = ledger.database().reader().await.unwrap();
    let prod = [mk_ticking("prod", false)];
    let found = find(&mut session, &prod, "").await.unwrap();
    assert_eq!((found.trackers.len(), found.is_last), (IN_PROD, true));
    let stopped = [mk_ticking("dev", true)];
    let nothing = Batch {
        is_last: true,
        ..Batch::default()
    };
    assert_eq!(find(&mut session, &stopped, "").await.unwrap(), nothing);
    let both = [mk_ticking("dev", false), mk_ticking("prod", false)];
    let found = find(&mut session, &both, "").await.unwrap();
    assert_eq!((found.trackers.len(), found.is_last), (BATCH, false));
    let of_both = &found.trackers["uid-0"];
    assert_eq!(of_both, &["dev".to_owned(), "prod".to_owned()]);
    drop(session);

    let releases = ledger.releases();
    let ticks = |name: &str| [(name.to_owned(), second(60))];
    let frozen = Freeze {
        from: second(0),
        until: second(100),
        reason: String::new(),
    };
    let mut environments = mk_flow().environments().to_vec();
    for environment in &mut environments {
        environment.freezes = vec![frozen.clone()];
    }
    let frozen = Flow::new(environments).unwrap();
    let done = |moved| Ticked {
        moved,
        is_done: true,
    };
    let ticked = releases.tick(&frozen, &ticks("dev"), second(60)).await;
    assert_eq!(ticked.unwrap(), done(0), "it is frozen");
    let hold = Hold {
        reason: String::new(),
        by: "ann".to_owned(),
        since: second(1),
    };
    releases.hold_environment("dev", hold).await.unwrap();
    let next = [("dev".to_owned(), second(120))];
    let ticked = releases.tick(&mk_flow(), &next, second(120)).await;
    assert_eq!(ticked.unwrap(), done(0), "it is held");
    let ticked = releases.tick(&mk_flow(), &ticks("prod"), second(60)).await;
    assert_eq!(ticked.unwrap(), done(IN_PROD));
    let oldest = releases.oldest_queued().await.unwrap();
    assert_eq!(
        oldest.into_iter().collect::<Vec<_>>(),
        [("dev".to_owned(), second(0))]
    );
}
