//! A real file system that gets full.

use std::fs;
use std::process::Command;

use pathline_ledger::{Error, Ledger, Location};
use pathline_testkit::skip;

use crate::story::{Story, image, source};

/// Mounts a file system of 4 MB where only it and its children see it, and runs the rest there.
const ON_A_SMALL_DISK: &str = r#"
mount -t tmpfs -o size=4m none "$1" && cd "$1" || exit 77
exec "$2" --exact small_disk::fills_the_disk_it_is_started_on --ignored --nocapture
"#;

#[test]
fn full_disk_refuses_keeps_what_was_acknowledged_and_goes_on_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let ran = Command::new("unshare")
        .args(["-m", "sh", "-c", ON_A_SMALL_DISK, "sh"])
        .arg(directory.path())
        .arg(std::env::current_exe().unwrap())
        .output();
    let Some(ran) = ran.ok().filter(|ran| ran.status.code() != Some(77)) else {
        return skip("a full disk", "no file system may be mounted here");
    };
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && told.contains("1 passed"), "{told}");
}

#[tokio::test]
#[ignore = "the half of `full_disk_refuses_*` that runs on the small disk"]
async fn fills_the_disk_it_is_started_on() {
    let here = std::env::current_dir().unwrap();
    let ballast = here.join("ballast");
    fs::write(&ballast, vec![0; 1 << 20]).unwrap();
    let location = Location::File(here.join("ledger.db"));
    let ledger = Ledger::open(&location).await.unwrap();
    let mut acknowledged = 0;
    let error = loop {
        let mut story = Story::of(&format!("app-{acknowledged}"));
        story.deliver(&source("def567"), "on", &image('a'));
        match story.record(&ledger).await {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(acknowledged > 20, "{acknowledged}");
    assert_eq!(ledger.owners("Workload").await.unwrap().len(), acknowledged);

    fs::remove_file(ballast).unwrap();
    let mut story = Story::of("after");
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await.unwrap();
    ledger.close().await;
    let ledger = Ledger::open(&location).await.unwrap();
    assert_eq!(
        ledger.owners("Workload").await.unwrap().len(),
        acknowledged + 1
    );
}
