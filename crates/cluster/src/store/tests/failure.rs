//! Disks that refuse, and files that are not ours.

use pathline_testkit::{child_under, tell_parent};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::*;
use crate::store::Error;

pub(super) async fn connect(directory: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(directory.join("cluster.db"))
        .connect()
        .await
        .unwrap()
}

/// Makes every COMMIT fail that stores an object named `poison`: the trigger breaks a constraint
/// that is checked only then.
const POISON: &str = "
    CREATE TABLE wells (id INTEGER PRIMARY KEY);
    CREATE TABLE drinks (well INTEGER REFERENCES wells (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER poison AFTER INSERT ON log WHEN new.name = 'poison'
    BEGIN INSERT INTO drinks VALUES (1); END;
";

#[tokio::test]
async fn a_failed_commit_refuses_the_whole_batch_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    let mut other = connect(directory.path()).await;
    sqlx::raw_sql(POISON).execute(&mut other).await.unwrap();
    let mut watch = store.watch(&widgets(), None, 0).unwrap();
    let [good, poison] = ["good", "poison"].map(|name| mk_key("", name));

    // Both are queued before the writer runs, so they share a commit.
    let (with_poison, poisoned) = tokio::join!(
        store.write(put(&good, Expect::Absent, 1)),
        store.write(put(&poison, Expect::Absent, 1)),
    );
    assert!(
        matches!(with_poison, Err(Refused::Storage(_))),
        "{with_poison:?}"
    );
    assert!(matches!(poisoned, Err(Refused::Storage(_))), "{poisoned:?}");
    assert_eq!(store.revision(), 0);
    assert!(store.everything().items.is_empty());
    assert!(drain(&mut watch).unwrap().is_empty());

    let alone = store.write(put(&good, Expect::Absent, 2)).await.unwrap();
    assert_eq!(alone.revision, 1, "the refused writes took no revision");
    store.close().await;
    let reopened = open(directory.path(), Limits::default()).await;
    assert_eq!(contents(&reopened.everything().items), contents(&[alone]));
    reopened.close().await;
}

/// Writes until the disk refuses, and says what was stored.
async fn write_until_refused() {
    let store = open(Path::new("."), Limits::default()).await;
    let mut stored = Vec::new();
    let refused = loop {
        let key = mk_key("", &format!("a{}", stored.len()));
        match store
            .write(put(&key, Expect::Absent, "x".repeat(50_000)))
            .await
        {
            Ok(written) => stored.push(written),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, Refused::Storage(_)), "{refused}");
    assert_eq!(store.revision(), stored.len() as u64);
    assert_eq!(
        contents(&store.everything().items),
        contents(&stored),
        "readers see no more"
    );
    tell_parent(&format!("stored {}", stored.len()));
}

#[tokio::test]
async fn a_full_disk_refuses_and_loses_nothing() {
    let test = "store::tests::failure::a_full_disk_refuses_and_loses_nothing";
    // No file may grow beyond 2048 blocks, and the signal that says so is ignored, so that a write
    // fails as it does on a full disk.
    let limited = [
        "sh",
        "-c",
        r#"trap "" XFSZ; ulimit -f 2048; exec "$0" "$@""#,
    ];
    let Some(mut child) = child_under(&limited, test) else {
        return write_until_refused().await;
    };
    let directory = tempfile::tempdir().unwrap();
    let child = child.current_dir(directory.path()).output().unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}");
    // The line begins with the name of the test.
    let stored = said
        .lines()
        .find_map(|line| line.split_once("stored "))
        .unwrap()
        .1;
    let stored: usize = stored.parse().unwrap();
    assert!(stored > 0, "some of it fits");
    let store = open(directory.path(), Limits::default()).await;
    assert_eq!(store.everything().items.len(), stored);
    store
        .write(put(&mk_key("", "more"), Expect::Absent, 1))
        .await
        .expect("there is room again");
    store.close().await;
}

#[tokio::test]
async fn hole_11_a_disk_that_refuses_is_told_and_tried_until_it_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    let mut writable = store.writable();
    let mut other = connect(directory.path()).await;
    sqlx::raw_sql(POISON).execute(&mut other).await.unwrap();
    let refused = store
        .write(put(&mk_key("", "poison"), Expect::Absent, 1))
        .await;
    assert!(matches!(refused, Err(Refused::Storage(_))), "{refused:?}");
    assert!(!*writable.borrow_and_update(), "it is told at once");
    // Nobody writes any more; the store tries by itself.
    writable.wait_for(|writable| *writable).await.unwrap();
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'probe'")
        .fetch_one(&mut other)
        .await
        .unwrap();
    assert_eq!(tables, 0, "and leaves nothing behind");
    store.close().await;
}

#[tokio::test]
async fn a_write_after_closing_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    store.close().await;
    let refused = store.write(put(&mk_key("", "a"), Expect::Absent, 1)).await;
    assert!(matches!(refused, Err(Refused::Storage(_))), "{refused:?}");
    store.close().await;
}

#[tokio::test]
async fn what_is_not_an_object_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    for value in [
        json!(null),
        json!("text"),
        json!({}),
        json!({"metadata": "text"}),
    ] {
        let write = Write {
            change: Change::Put(value),
            ..put(&mk_key("", "a"), Expect::Absent, 1)
        };
        assert!(matches!(store.write(write).await, Err(Refused::Storage(_))));
    }
    store.close().await;
}

/// Returns why the database does not open after `tamper` was run on it.
async fn open_after(tamper: &'static str) -> Error {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    let key = mk_key("", "a");
    for content in 1..=3 {
        let expect = store
            .get(&key)
            .map_or(Expect::Absent, |it| Expect::Revision(it.revision));
        store.write(put(&key, expect, content)).await.unwrap();
    }
    store.close().await;
    let mut other = connect(directory.path()).await;
    sqlx::raw_sql(tamper).execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    match Store::open(&directory.path().join("cluster.db"), Limits::default()).await {
        Ok(_) => panic!("`{tamper}` must be noticed"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_newer_format_is_refused() {
    let error = open_after("PRAGMA user_version = 2").await;
    assert!(matches!(error, Error::Newer { found: 2, .. }), "{error}");
}

#[tokio::test]
async fn a_damaged_log_is_refused_with_the_revision() {
    for (tamper, damaged) in [
        ("DELETE FROM log WHERE revision = 2", 3),
        ("DELETE FROM log WHERE revision = 1", 2),
        ("UPDATE log SET body = x'00' WHERE revision = 2", 2),
        ("UPDATE log SET kind = 7 WHERE revision = 3", 3),
    ] {
        let error = open_after(tamper).await;
        let Error::Damaged { revision, .. } = &error else {
            panic!("`{tamper}`: {error}")
        };
        assert_eq!(*revision, damaged, "`{tamper}`: {error}");
    }
}
