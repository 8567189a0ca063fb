//! A real file system that gets full.

use std::fs;

use pathline_ledger::{Error, Ledger, Location};
use pathline_testkit::is_on_small_disk;

use crate::story::{Story, image, source};

#[tokio::test]
async fn full_disk_refuses_keeps_what_was_acknowledged_and_goes_on_when_there_is_room() {
    let test =
        "small_disk::full_disk_refuses_keeps_what_was_acknowledged_and_goes_on_when_there_is_room";
    if !is_on_small_disk(test, &[(".", "4m")]) {
        return;
    }
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
    assert_eq!(
        ledger.lineage().owners("Workload").await.unwrap().len(),
        acknowledged
    );

    fs::remove_file(ballast).unwrap();
    let mut story = Story::of("after");
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await.unwrap();
    ledger.close().await;
    let ledger = Ledger::open(&location).await.unwrap();
    assert_eq!(
        ledger.lineage().owners("Workload").await.unwrap().len(),
        acknowledged + 1
    );
}
