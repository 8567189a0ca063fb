//! Many at the same time, and several processes.

use std::time::Instant;

use pathline_ledger::Page;
use pathline_lineage::Kind;
use pathline_testkit::is_nightly;

use crate::home::Home;
use crate::story::{Story, image, source};

on_both!(
    many_records_at_once_are_all_kept,
    two_processes_write_without_losing_anything,
    processes_may_open_a_new_ledger_at_the_same_time,
);

async fn many_records_at_once_are_all_kept(home: &Home) -> anyhow::Result<()> {
    let owners = if is_nightly() { 1500 } else { 300 };
    let ledger = home.open().await?;
    let started = Instant::now();
    let mut recording = tokio::task::JoinSet::new();
    for number in 0..owners {
        let ledger = ledger.clone();
        recording.spawn(async move {
            let mut story = Story::of(&format!("app-{number}"));
            story.deliver(&source("def567"), "on", &image('a'));
            story.record(&ledger).await
        });
    }
    while let Some(recorded) = recording.join_next().await {
        recorded??;
    }
    let place = home.location();
    println!(
        "{owners} records at once in {place}: {:?}",
        started.elapsed()
    );
    assert_eq!(ledger.owners("Workload").await?.len(), owners);
    let made = home.count("derivation").await;
    assert_eq!(usize::try_from(made)?, 3 * owners);
    assert_eq!(home.count("artifact").await, 3);
    let changes = home.count("change").await;
    assert_eq!(usize::try_from(changes)?, owners);
    Ok(())
}

async fn two_processes_write_without_losing_anything(home: &Home) -> anyhow::Result<()> {
    let (one, two) = (home.open().await?, home.open().await?);
    let write = async |ledger, name: &str| -> anyhow::Result<()> {
        let mut story = Story::of(name);
        for round in 0..20 {
            story.deliver(&source(&format!("{round:06}")), "on", &image('a'));
            story.record(ledger).await?;
        }
        Ok(())
    };
    tokio::try_join!(write(&one, "one"), write(&two, "two"))?;
    for ledger in [&one, &two] {
        assert_eq!(ledger.changes(0, 100).await?.len(), 40);
        let found = ledger
            .contains(Kind::Source, "000019", &Page::default())
            .await?;
        assert_eq!(found.items.iter().filter(|it| it.current).count(), 6);
    }
    Ok(())
}

async fn processes_may_open_a_new_ledger_at_the_same_time(home: &Home) -> anyhow::Result<()> {
    let opened = tokio::try_join!(home.open(), home.open(), home.open(), home.open())?;
    Story::of("app").record(&opened.0).await?;
    assert_eq!(opened.3.owners("Workload").await?.len(), 1);
    Ok(())
}
