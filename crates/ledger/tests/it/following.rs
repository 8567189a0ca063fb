//! Whoever waits is notified, whichever process recorded it.

use std::time::Duration;

use pathline_ledger::{Error, MadeNow, Permissions, Topic};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::home::Home;
use crate::story::{Story, image, source};

on_both!(
    follower_sees_the_lineage_of_now_and_every_later_one,
    follower_hears_of_what_another_process_recorded,
    follower_of_an_owner_that_goes_is_left_with_nothing,
    changes_come_in_order_and_can_be_resumed,
    subscribers_are_notified_of_this_process_and_of_others,
    subscribers_of_tokens_are_notified_of_this_process_and_of_others,
    topics_share_a_sequence_and_notify_their_own_subscribers_only,
    oldest_changes_of_a_busy_topic_are_trimmed_and_those_of_a_quiet_one_are_not,
);

/// Waits until what is received is as wanted.
async fn until<T: Clone>(
    receiver: &mut watch::Receiver<T>,
    wanted: impl FnMut(&T) -> bool,
) -> anyhow::Result<T> {
    let seen = timeout(Duration::from_secs(60), receiver.wait_for(wanted)).await??;
    Ok(seen.clone())
}

async fn follower_sees_the_lineage_of_now_and_every_later_one(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let mut early = ledger.lineage().follow(&story.owner.uid).await?;
    assert!(early.borrow().is_none());
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    until(&mut early, |lineage| {
        lineage.as_deref() == Some(&story.lineage)
    })
    .await?;
    let mut late = ledger.lineage().follow(&story.owner.uid).await?;
    assert_eq!(late.borrow().as_deref(), Some(&story.lineage));
    // Another owner does not wake them.
    early.mark_unchanged();
    Story::of("other").record(&ledger).await?;
    story.lineage.generation = 2;
    story.record(&ledger).await?;
    for follower in [&mut early, &mut late] {
        until(follower, |lineage| {
            lineage.as_ref().is_some_and(|it| it.generation == 2)
        })
        .await?;
    }
    Ok(())
}

async fn follower_hears_of_what_another_process_recorded(home: &Home) -> anyhow::Result<()> {
    let (here, there) = (home.open().await?, home.open().await?);
    let mut stories: Vec<Story> = ["a", "b", "c"].map(Story::of).into();
    let mut followers = Vec::new();
    for story in &stories {
        followers.push(here.lineage().follow(&story.owner.uid).await?);
    }
    for story in &mut stories {
        story.deliver(&source("def567"), "on", &image('a'));
        story.record(&there).await?;
    }
    for (follower, story) in followers.iter_mut().zip(&stories) {
        until(follower, |lineage| {
            lineage.as_deref() == Some(&story.lineage)
        })
        .await?;
    }
    Ok(())
}

async fn follower_of_an_owner_that_goes_is_left_with_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.record(&ledger).await?;
    let mut follower = ledger.lineage().follow(&story.owner.uid).await?;
    assert!(follower.borrow().is_some());
    ledger.lineage().gone(&story.owner, story.now()).await?;
    until(&mut follower, Option::is_none).await?;
    Ok(())
}

async fn changes_come_in_order_and_can_be_resumed(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    assert!(ledger.lineage().changes(0, 10).await?.is_empty());
    let mut story = Story::of("app");
    for revision in ["def567", "abc123", "fff000"] {
        story.deliver(&source(revision), "on", &image('a'));
        story.record(&ledger).await?;
    }
    let all = ledger.lineage().changes(0, 10).await?;
    assert_eq!(all.len(), 3);
    assert!(all.is_sorted_by_key(|it| it.sequence));
    assert_eq!(all[0].owner, story.owner);
    let made = |resource: &str, artifact| MadeNow {
        resource: resource.to_owned(),
        artifact,
    };
    let expected = [
        made("fetch", Some(source("def567").id())),
        made("build", Some(image('a').id())),
        made("deploy", None),
    ];
    assert_eq!(all[0].what.made, expected);
    assert_eq!(
        ledger.lineage().changes(all[0].sequence, 1).await?,
        all[1..2]
    );
    assert!(
        ledger
            .lineage()
            .changes(all[2].sequence, 10)
            .await?
            .is_empty()
    );
    // Those who followed a ledger that was begun anew have seen more than there has been.
    let newest = all[2].sequence;
    let refused = ledger.lineage().changes(newest + 1, 10).await;
    assert!(matches!(refused, Err(Error::Ahead { newest: it, .. }) if it == newest));
    // Negative ones come from those who have never seen any.
    let refused = ledger.lineage().changes(-5, 10).await;
    assert!(matches!(refused, Err(Error::Forgotten { oldest }) if oldest == all[0].sequence));
    Ok(())
}

async fn subscribers_are_notified_of_this_process_and_of_others(home: &Home) -> anyhow::Result<()> {
    let (here, there) = (home.open().await?, home.open().await?);
    let (mut near, mut far) = (
        here.subscribe(Topic::Lineage),
        there.subscribe(Topic::Lineage),
    );
    assert_eq!((*near.borrow(), *far.borrow()), (0, 0));
    Story::of("app").record(&here).await?;
    let sequence = until(&mut near, |sequence| *sequence > 0).await?;
    until(&mut far, |heard| *heard == sequence).await?;
    assert_eq!(there.lineage().changes(0, 10).await?[0].sequence, sequence);
    // Who comes later begins with what is there.
    assert_eq!(
        *home.open().await?.subscribe(Topic::Lineage).borrow(),
        sequence
    );
    Ok(())
}

async fn subscribers_of_tokens_are_notified_of_this_process_and_of_others(
    home: &Home,
) -> anyhow::Result<()> {
    let (here, there) = (home.open().await?, home.open().await?);
    let (mut near, mut far) = (
        here.subscribe(Topic::Access),
        there.subscribe(Topic::Access),
    );
    let time = crate::story::at(0);
    here.access()
        .create_token("ci", Permissions::READ, &[1; 32], None, time)
        .await?;
    until(&mut near, |notified| *notified > 0).await?;
    until(&mut far, |notified| *notified > 0).await?;
    let before = *far.borrow();
    here.access().revoke_token("ci", time).await?;
    until(&mut far, |notified| *notified > before).await?;
    Ok(())
}

async fn topics_share_a_sequence_and_notify_their_own_subscribers_only(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut lineage, mut access) = (
        ledger.subscribe(Topic::Lineage),
        ledger.subscribe(Topic::Access),
    );
    let time = crate::story::at(0);
    let created = ledger
        .access()
        .create_token("ci", Permissions::READ, &[1; 32], None, time);
    created.await?;
    let first = until(&mut access, |newest| *newest > 0).await?;
    assert_eq!(*lineage.borrow(), 0);
    access.mark_unchanged();
    Story::of("app").record(&ledger).await?;
    let second = until(&mut lineage, |newest| *newest > 0).await?;
    assert_eq!(second, first + 1);
    assert!(!access.has_changed()?);
    // The changes of lineage are all that is read, and nothing before the first of them is missed.
    let changes = ledger.lineage().changes(0, 10).await?;
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].sequence, second);
    // One that is revoked twice, a use, or a name that is taken changes nothing.
    let access_at = |topic: &watch::Receiver<i64>| *topic.borrow();
    ledger.access().revoke_token("ci", time).await?;
    let third = until(&mut access, |newest| *newest > first).await?;
    ledger.access().revoke_token("ci", time).await?;
    ledger.access().used_token("ci", time).await?;
    let again = ledger
        .access()
        .create_token("ci", Permissions::READ, &[2; 32], None, time);
    again.await.unwrap_err();
    Story::of("other").record(&ledger).await?;
    until(&mut lineage, |newest| *newest > third).await?;
    assert_eq!(access_at(&access), third);
    Ok(())
}

async fn oldest_changes_of_a_busy_topic_are_trimmed_and_those_of_a_quiet_one_are_not(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let time = crate::story::at(0);
    let created = ledger
        .access()
        .create_token("ci", Permissions::READ, &[1; 32], None, time);
    created.await?;
    // With the token's this makes 100,999 changes; they are trimmed at each thousand.
    home.run(
        "insert into change (topic, subject, time, what) \
         with recursive item (i) as (select 1 union all select i + 1 from item where i < 100998) \
         select 'lineage', 'uid-of-app', i, '{}' from item",
    )
    .await;
    let mut story = Story::of("app");
    story.record(&ledger).await?;
    assert_eq!(home.count("change where topic = 'lineage'").await, 100_000);
    assert_eq!(home.count("change where topic = 'access'").await, 1);
    for after in [0, 999] {
        let refused = ledger.lineage().changes(after, 10).await;
        assert!(
            matches!(refused, Err(Error::Forgotten { oldest: 1001 })),
            "{refused:?}"
        );
    }
    let kept = ledger.lineage().changes(1000, 10).await?;
    assert_eq!(kept[0].sequence, 1001);
    let last = ledger.lineage().changes(100_999, 10).await?;
    assert_eq!(last.len(), 1);
    assert_eq!(last[0].sequence, 101_000);
    Ok(())
}

/// The connection that listens is lost, and no other: it is made anew, and what came in between is
/// not missed.
#[tokio::test]
async fn listener_that_is_cut_off_listens_again() -> anyhow::Result<()> {
    let Some(home) = Home::postgres() else {
        return Ok(());
    };
    let (here, there) = (home.open().await?, home.open().await?);
    let mut topic = there.subscribe(Topic::Lineage);
    let mut story = Story::of("app");
    let mut sequence = 0;
    for generation in 1..=3 {
        story.lineage.generation = generation;
        story.record(&here).await?;
        sequence = until(&mut topic, |newest| *newest > sequence).await?;
        home.run(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity \
             where datname = current_database() and query ilike 'listen%'",
        )
        .await;
    }
    let follower = there.lineage().follow(&story.owner.uid).await?;
    assert_eq!(follower.borrow().as_ref().map(|it| it.generation), Some(3));
    Ok(())
}
