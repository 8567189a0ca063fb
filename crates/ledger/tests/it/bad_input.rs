//! Damage to a ledger, and to its database.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use pathline_ledger::{Error, Ledger, Location, Page, Topic};
use pathline_lineage::Kind;
use pathline_testkit::is_nightly;
use pathline_testkit::postgres::Server;
use tokio::time::timeout;

use crate::home::Home;
use crate::story::{Story, image, source};

on_both!(ledger_of_a_newer_version_is_refused);

async fn ledger_of_a_newer_version_is_refused(home: &Home) -> anyhow::Result<()> {
    home.open().await?.close().await;
    home.run(
        "insert into _sqlx_migrations \
         (version, description, success, checksum, execution_time) values (9999, 'later', true, '', 0)",
    )
    .await;
    let refused = home.open().await.unwrap_err();
    let refused = refused.downcast_ref::<Error>();
    assert!(
        matches!(refused, Some(Error::Newer { found: 9999, .. })),
        "{refused:?}"
    );
    let message = refused.unwrap().to_string();
    assert!(message.contains("written by a newer Pathline"), "{message}");
    Ok(())
}

async fn refused(path: &Path) -> Error {
    let opened = Ledger::open(&Location::File(path.to_owned())).await;
    opened.expect_err("it cannot be opened")
}

#[tokio::test]
async fn file_that_is_no_ledger_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let text = "this is somebody's diary\n".repeat(1000);
    fs::write(&path, &text).unwrap();
    let error = refused(&path).await;
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("restore a copy"), "{message}");
    assert!(message.contains("ledger.db"), "{message}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn file_is_whole_after_a_close_although_somebody_else_has_it_open() {
    let directory = tempfile::tempdir().unwrap();
    let [path, copy] = ["ledger.db", "copy.db"].map(|name| directory.path().join(name));
    let ledger = Ledger::open(&Location::File(path.clone())).await.unwrap();
    let visitor = Ledger::open(&Location::File(path.clone())).await.unwrap();
    Story::of("app").record(&ledger).await.unwrap();
    assert_eq!(visitor.lineage().owners("Workload").await.unwrap().len(), 1);
    ledger.close().await;
    fs::copy(&path, &copy).unwrap();
    let copied = Ledger::open(&Location::File(copy)).await.unwrap();
    assert_eq!(copied.lineage().owners("Workload").await.unwrap().len(), 1);
}

#[tokio::test]
async fn file_with_overwritten_pages_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let ledger = Ledger::open(&Location::File(path.clone())).await.unwrap();
    for number in 0..50 {
        let mut story = Story::of(&format!("app-{number}"));
        story.deliver(&source("def567"), "on", &image('a'));
        story.record(&ledger).await.unwrap();
    }
    ledger.close().await;
    let sound = fs::read(&path).unwrap();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(3 * 4096)).unwrap();
    file.write_all(&vec![0x5a; sound.len() - 3 * 4096]).unwrap();
    drop(file);
    let error = refused(&path).await;
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    // What to do is what the message says: a copy is restored.
    fs::write(&path, sound).unwrap();
    let ledger = Ledger::open(&Location::File(path)).await.unwrap();
    assert_eq!(ledger.lineage().owners("Workload").await.unwrap().len(), 50);
}

#[tokio::test]
async fn file_is_for_this_user_alone() {
    let home = Home::file();
    let Location::File(path) = home.location() else {
        panic!("it is a file");
    };
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let ledger = home.open().await.unwrap();
    Story::of("app").record(&ledger).await.unwrap();
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    ledger.close().await;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    home.open().await.unwrap().close().await;
    assert_eq!(mode(&path), 0o600);
}

#[tokio::test]
async fn directory_that_is_missing_is_named() {
    let error = refused(Path::new("/no/such/directory/ledger.db")).await;
    let message = error.to_string();
    assert!(
        message.contains("/no/such/directory/ledger.db"),
        "{message}"
    );
    assert!(message.contains("directory must exist"), "{message}");
}

#[tokio::test]
async fn unreachable_postgres_is_told_without_the_password() {
    let socket = tempfile::tempdir().unwrap();
    let url = format!(
        "postgres://me:s3cret@localhost/db?host={}",
        socket.path().display()
    );
    let location: Location = url.parse().unwrap();
    let error = Ledger::open(&location).await.unwrap_err();
    let mut told = format!("{error:?} {error}");
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = cause {
        told.push_str(&error.to_string());
        cause = error.source();
    }
    assert!(!told.contains("s3cret"), "{told}");
    assert!(told.contains("is PostgreSQL running there"), "{told}");
}

/// The server is away for a while: calls fail within their time and name the cause, nothing that
/// was acknowledged is lost, and everything goes on by itself, those who follow included.
#[tokio::test]
async fn postgres_that_goes_away_and_comes_back_is_used_again() {
    let Some(server) = Server::start("the ledger without PostgreSQL") else {
        return;
    };
    let location = Location::Postgres(server.database());
    let (here, there) = (
        Ledger::open(&location).await.unwrap(),
        Ledger::open(&location).await.unwrap(),
    );
    let mut story = Story::of("app");
    let mut topic = there.subscribe(Topic::Lineage);
    let mut follower = there.lineage().follow(&story.owner.uid).await.unwrap();
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&here).await.unwrap();
    let minute = Duration::from_secs(60);
    timeout(minute, topic.wait_for(|it| *it > 0))
        .await
        .unwrap()
        .unwrap();
    let notified = *topic.borrow();

    server.stop();
    let stopped = Instant::now();
    story.deliver(&source("abc123"), "on", &image('b'));
    let mut failures = 0;
    while failures < 3 || (is_nightly() && stopped.elapsed() < minute) {
        failures += 1;
        let failed = timeout(minute, story.repeat(&here))
            .await
            .expect("it fails in time");
        let error = failed.unwrap_err();
        assert!(error.is_temporary(), "{error:?}");
        assert!(error.to_string().contains("does not answer"), "{error}");
    }
    let error = timeout(minute, here.lineage().owners("Workload"))
        .await
        .unwrap()
        .unwrap_err();
    assert!(error.is_temporary(), "{error:?}");

    server.resume().unwrap();
    let recording = async {
        while let Err(error) = story.repeat(&here).await {
            assert!(error.is_temporary(), "{error:?}");
        }
    };
    timeout(minute, recording)
        .await
        .expect("it goes on by itself");
    timeout(minute, topic.wait_for(|it| *it > notified))
        .await
        .unwrap()
        .unwrap();
    let newest = |lineage: &Option<_>| lineage.as_deref() == Some(&story.lineage);
    timeout(minute, follower.wait_for(newest))
        .await
        .unwrap()
        .unwrap();
    for (revision, carriers) in [("def567", 3), ("abc123", 3)] {
        let found = there
            .lineage()
            .contains(Kind::Source, revision, &Page::default())
            .await
            .unwrap();
        assert_eq!(found.items.len(), carriers, "{revision}");
    }
}
