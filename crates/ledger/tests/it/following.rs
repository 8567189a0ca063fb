//! Whoever waits is told, whichever process recorded it.

use std::time::Duration;

use pathline_ledger::{Error, MadeNow, Scope};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::home::Home;
use crate::story::{Story, image, source};

on_both!(
    follower_sees_the_track_of_now_and_every_later_one,
    follower_hears_of_what_another_process_recorded,
    follower_of_an_owner_that_goes_is_left_with_nothing,
    changes_come_in_order_and_can_be_resumed,
    bell_rings_for_this_process_and_for_others,
    bell_of_tokens_rings_for_this_process_and_for_others,
);

/// Waits until what is received is as wanted.
async fn until<T: Clone>(
    receiver: &mut watch::Receiver<T>,
    wanted: impl FnMut(&T) -> bool,
) -> anyhow::Result<T> {
    let seen = timeout(Duration::from_secs(60), receiver.wait_for(wanted)).await??;
    Ok(seen.clone())
}

async fn follower_sees_the_track_of_now_and_every_later_one(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let mut early = ledger.follow(&story.owner.uid).await?;
    assert!(early.borrow().is_none());
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    until(&mut early, |track| track.as_deref() == Some(&story.track)).await?;
    let mut late = ledger.follow(&story.owner.uid).await?;
    assert_eq!(late.borrow().as_deref(), Some(&story.track));
    // Another owner does not wake them.
    early.mark_unchanged();
    Story::of("other").record(&ledger).await?;
    story.track.generation = 2;
    story.record(&ledger).await?;
    for follower in [&mut early, &mut late] {
        until(follower, |track| {
            track.as_ref().is_some_and(|it| it.generation == 2)
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
        followers.push(here.follow(&story.owner.uid).await?);
    }
    for story in &mut stories {
        story.deliver(&source("def567"), "on", &image('a'));
        story.record(&there).await?;
    }
    for (follower, story) in followers.iter_mut().zip(&stories) {
        until(follower, |track| track.as_deref() == Some(&story.track)).await?;
    }
    Ok(())
}

async fn follower_of_an_owner_that_goes_is_left_with_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.record(&ledger).await?;
    let mut follower = ledger.follow(&story.owner.uid).await?;
    assert!(follower.borrow().is_some());
    ledger.gone(&story.owner, story.now()).await?;
    until(&mut follower, Option::is_none).await?;
    Ok(())
}

async fn changes_come_in_order_and_can_be_resumed(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    assert!(ledger.changes(0, 10).await?.is_empty());
    let mut story = Story::of("app");
    for revision in ["def567", "abc123", "fff000"] {
        story.deliver(&source(revision), "on", &image('a'));
        story.record(&ledger).await?;
    }
    let all = ledger.changes(0, 10).await?;
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
    assert_eq!(ledger.changes(all[0].sequence, 1).await?, all[1..2]);
    assert!(ledger.changes(all[2].sequence, 10).await?.is_empty());
    assert!(ledger.changes(i64::MAX, 10).await?.is_empty());
    // Negative ones come from those who have never seen any.
    let refused = ledger.changes(-5, 10).await;
    assert!(matches!(refused, Err(Error::Forgotten { oldest }) if oldest == all[0].sequence));
    Ok(())
}

async fn bell_rings_for_this_process_and_for_others(home: &Home) -> anyhow::Result<()> {
    let (here, there) = (home.open().await?, home.open().await?);
    let (mut near, mut far) = (here.bell(), there.bell());
    assert_eq!((*near.borrow(), *far.borrow()), (0, 0));
    Story::of("app").record(&here).await?;
    let sequence = until(&mut near, |sequence| *sequence > 0).await?;
    until(&mut far, |heard| *heard == sequence).await?;
    assert_eq!(there.changes(0, 10).await?[0].sequence, sequence);
    // Who comes later begins with what is there.
    assert_eq!(*home.open().await?.bell().borrow(), sequence);
    Ok(())
}

async fn bell_of_tokens_rings_for_this_process_and_for_others(home: &Home) -> anyhow::Result<()> {
    let (here, there) = (home.open().await?, home.open().await?);
    let (mut near, mut far) = (here.token_bell(), there.token_bell());
    let time = crate::story::at(0);
    here.create_token("ci", Scope::Read, &[1; 32], None, time)
        .await?;
    until(&mut near, |rung| *rung > 0).await?;
    until(&mut far, |rung| *rung > 0).await?;
    let before = *far.borrow();
    here.revoke_token("ci", time).await?;
    until(&mut far, |rung| *rung > before).await?;
    Ok(())
}
