//! Many at the same time, and several processes.

use std::time::Instant;

use pathline_ledger::{Error, Page, Permissions};
use pathline_lineage::Kind;
use pathline_testkit::is_nightly;

use crate::home::Home;
use crate::story::{Story, image, source};

on_both!(
    many_records_at_once_are_all_kept,
    two_processes_write_without_losing_anything,
    two_processes_write_to_all_topics_at_once,
    names_of_owners_may_have_any_characters,
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
    assert_eq!(ledger.lineage().owners("Workload").await?.len(), owners);
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
        assert_eq!(ledger.lineage().changes(0, 100).await?.len(), 40);
        let found = ledger
            .lineage()
            .contains(Kind::Source, "000019", &Page::default())
            .await?;
        assert_eq!(found.items.iter().filter(|it| it.current).count(), 6);
    }
    Ok(())
}

async fn processes_may_open_a_new_ledger_at_the_same_time(home: &Home) -> anyhow::Result<()> {
    let opened = tokio::try_join!(home.open(), home.open(), home.open(), home.open())?;
    Story::of("app").record(&opened.0).await?;
    assert_eq!(opened.3.lineage().owners("Workload").await?.len(), 1);
    Ok(())
}

async fn two_processes_write_to_all_topics_at_once(home: &Home) -> anyhow::Result<()> {
    let handles = [home.open().await?, home.open().await?];
    let mut writing = tokio::task::JoinSet::new();
    for (which, ledger) in handles.iter().enumerate() {
        for number in 0..20_u8 {
            let (ledger, other) = (ledger.clone(), ledger.clone());
            writing.spawn(async move {
                Story::of(&format!("{which}-{number}"))
                    .record(&ledger)
                    .await
            });
            // Both want the same names; each goes to one of them, and no record suffers from it.
            writing.spawn(async move {
                let (name, hash) = (format!("token-{number}"), [number + 100 * which as u8; 32]);
                let time = crate::story::at(0);
                let access = other.access();
                match access
                    .create_token(&name, Permissions::READ, &hash, None, time)
                    .await
                {
                    Ok(_) | Err(Error::NameTaken(_)) => Ok(()),
                    Err(error) => Err(error),
                }
            });
        }
    }
    while let Some(written) = writing.join_next().await {
        written??;
    }
    assert_eq!(handles[0].lineage().owners("Workload").await?.len(), 40);
    assert_eq!(handles[1].access().tokens().await?.len(), 20);
    assert_eq!(home.count("change").await, 60);
    assert_eq!(handles[0].lineage().changes(0, 100).await?.len(), 40);
    Ok(())
}

/// Lists of names are values that each database writes in its own way.
async fn names_of_owners_may_have_any_characters(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let names = [
        r#"a"b"#, r"a\b", "a,b", "{a}", "[a]", "a'b", "NULL", "", " a ", "ä\n\t",
    ];
    for round in 1..=2 {
        for name in names {
            let mut story = Story::of(name);
            story.lineage.generation = round;
            story.record(&ledger).await?;
        }
    }
    for name in names {
        let found = ledger.lineage().get(&Story::of(name).owner.uid).await?;
        assert_eq!(found.map(|it| it.generation), Some(2), "{name}");
    }
    assert_eq!(home.count("owner").await, i64::try_from(names.len())?);
    Ok(())
}
