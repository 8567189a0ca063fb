//! One ledger, one cluster.

use std::time::Duration;

use pathline_ledger::{Claim, ClusterRef, Error, Permissions};
use tokio::time::timeout;

use crate::home::Home;
use crate::story::{Story, at, image, source};

on_both!(
    second_cluster_is_refused_and_replicas_share,
    cluster_that_lost_its_ledger_writes_nothing_and_is_told,
    ledger_of_a_restored_cluster_forgets_what_it_knows_and_keeps_history,
);

fn mk_cluster(uid: &str) -> ClusterRef {
    ClusterRef {
        uid: uid.to_owned(),
        name: format!("https://{uid}.example.com"),
    }
}

async fn second_cluster_is_refused_and_replicas_share(home: &Home) -> anyhow::Result<()> {
    let (one, other) = (mk_cluster("one"), mk_cluster("other"));
    // Whoever opens a ledger of nobody first has it, also one with history.
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("abc123"), "", &image('a'));
    story.record(&ledger).await?;
    assert_eq!(ledger.claim(&one, Claim::IfFree, at(1)).await?, None);

    let replica = home.open().await?;
    let moved = ClusterRef {
        name: "https://10.0.0.1".to_owned(),
        ..one.clone()
    };
    assert_eq!(replica.claim(&moved, Claim::IfFree, at(2)).await?, None);
    story.deliver(&source("def567"), "", &image('b'));
    story.record(&replica).await?;

    let stranger = home.open().await?;
    let refused = stranger.claim(&other, Claim::IfFree, at(3)).await;
    let refused = refused.expect_err("it belongs to the first").to_string();
    assert!(refused.contains("https://10.0.0.1"), "{refused}");
    assert_eq!(home.count("cluster").await, 1);
    // The first one goes on.
    story.deliver(&source("fff000"), "", &image('c'));
    story.record(&ledger).await?;
    Ok(())
}

async fn cluster_that_lost_its_ledger_writes_nothing_and_is_told(
    home: &Home,
) -> anyhow::Result<()> {
    let (one, other) = (mk_cluster("one"), mk_cluster("other"));
    let ledger = home.open().await?;
    ledger.claim(&one, Claim::IfFree, at(1)).await?;
    let successor = home.open().await?;
    let former = successor.claim(&other, Claim::TakeOver, at(2)).await?;
    assert_eq!(former, Some(one));

    let lost = timeout(Duration::from_secs(60), ledger.lost()).await?;
    assert!(matches!(&lost, Error::OfAnother { cluster, .. } if *cluster == other));
    let written = Story::of("app").record(&ledger).await;
    assert!(written.is_err(), "what it knows is of another cluster");
    let token = ledger
        .access()
        .create_token("late", Permissions::READ, &[3; 32], None, at(3));
    assert!(matches!(token.await, Err(Error::OfAnother { .. })));
    assert_eq!(home.count("owner").await, 0);
    Story::of("app").record(&successor).await?;
    Ok(())
}

async fn ledger_of_a_restored_cluster_forgets_what_it_knows_and_keeps_history(
    home: &Home,
) -> anyhow::Result<()> {
    let one = mk_cluster("one");
    let ledger = home.open().await?;
    ledger.claim(&one, Claim::IfFree, at(1)).await?;
    assert_eq!(ledger.revision().await?, None);
    let mut story = Story::of("app");
    story.deliver(&source("abc123"), "", &image('a'));
    ledger.note_revision(7);
    story.record(&ledger).await?;
    assert_eq!(ledger.revision().await?, Some(7), "with what was recorded");
    ledger.note_revision(10);
    ledger.close().await;

    let ledger = home.open().await?;
    let copy = mk_cluster("copy");
    ledger.claim(&copy, Claim::Follow, at(2)).await?;
    assert_eq!(ledger.revision().await?, Some(10), "also the last one");
    let mut follower = ledger.lineage().follow(&story.owner.uid).await?;
    assert!(follower.borrow_and_update().is_some());
    assert!(ledger.rewind(10, 5, at(3)).await?);
    assert!(!ledger.rewind(10, 5, at(3)).await?, "a replica was first");
    timeout(Duration::from_secs(60), follower.wait_for(Option::is_none)).await??;
    let known = ledger.lineage().get(&story.owner.uid).await?;
    assert_eq!(known, Some(pathline_lineage::OwnerLineage::default()));
    let page = pathline_ledger::Page::default();
    let history = ledger.lineage().history(&story.owner.uid, &page).await?;
    assert!(!history.items.is_empty());

    // What is seen from now on is recorded as ever.
    ledger.note_revision(6);
    story.deliver(&source("def567"), "", &image('b'));
    story.record(&ledger).await?;
    assert_eq!(ledger.revision().await?, Some(6));
    let known = ledger.lineage().get(&story.owner.uid).await?;
    assert_eq!(known.as_ref(), Some(&story.lineage));
    timeout(Duration::from_secs(60), follower.wait_for(Option::is_some)).await??;
    Ok(())
}
