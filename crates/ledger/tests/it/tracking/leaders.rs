//! Two leaders at once, as after a lease that one of them has not noticed to be lost.

use std::sync::Arc;

use pathline_ledger::Ledger;
use pathline_ledger::trackers::ApplyOutcome;
use tokio::sync::Barrier;

use super::{Seen, create, mk_name, mk_replacement, open, stored};
use crate::home::Home;
use crate::story::at;

on_both!(
    one_of_two_leaders_applies_each_cycle,
    leaders_and_writers_leave_nothing_half_done,
);

const NAME: &str = "shop.web";
const ROUNDS: u64 = 12;

async fn one_of_two_leaders_applies_each_cycle(home: &Home) -> anyhow::Result<()> {
    let leaders = [open(home).await?, open(home).await?];
    create(&leaders[0], NAME).await?;
    for round in 1..=ROUNDS {
        let tracker = stored(&leaders[0], NAME).await?;
        // They have seen different images, so that each forms a release of its own.
        let apply = async |which: usize| {
            let result = Seen::new("one", &format!("sha256:{round}-{which}")).result(&tracker);
            leaders[which].trackers().apply(result).await
        };
        let outcomes: [ApplyOutcome; 2] = tokio::try_join!(apply(0), apply(1))?.into();
        let mut formed = outcomes.iter().filter_map(|outcome| match outcome {
            ApplyOutcome::Applied { release } => release.clone(),
            ApplyOutcome::Discarded => None,
        });
        let (one, other) = (formed.next().expect("one wins"), formed.next());
        assert_eq!((one.release.number, other), (round, None));
        check(&leaders[1]).await?;
    }
    assert_eq!(u64::try_from(home.count("release").await)?, ROUNDS);
    Ok(())
}

/// Observes with another leader at a time: both have read the state before one of them applies what it saw. Returns in
/// how many rounds it was applied.
async fn lead(ledger: Ledger, which: usize, together: Arc<Barrier>) -> anyhow::Result<u64> {
    let mut applied = 0;
    for round in 0..ROUNDS {
        let tracker = loop {
            // It is made again whenever it was deleted.
            if let Some(tracker) = ledger.trackers().get(&mk_name(NAME)).await? {
                break tracker;
            }
            tokio::task::yield_now().await;
        };
        together.wait().await;
        let result = Seen::new("one", &format!("sha256:{round}-{which}")).result(&tracker);
        let outcome = ledger.trackers().apply(result).await?;
        applied += u64::from(matches!(outcome, ApplyOutcome::Applied { .. }));
        together.wait().await;
    }
    Ok(applied)
}

/// Points the tracker elsewhere, again and again.
async fn keep_replacing(ledger: Ledger) -> anyhow::Result<u64> {
    let name = mk_name(NAME);
    for path in ["one", "two"].repeat(3) {
        let elsewhere = mk_replacement("acme/shop", path, None);
        let replaced = ledger
            .trackers()
            .replace(&name, elsewhere, None, "ops", at(5));
        replaced.await?;
    }
    Ok(0)
}

/// Deletes the tracker and makes it anew, again and again.
async fn keep_deleting(ledger: Ledger) -> anyhow::Result<u64> {
    let name = mk_name(NAME);
    for _ in 0..3 {
        ledger.trackers().delete(&name, None, "ops", at(6)).await?;
        create(&ledger, NAME).await?;
    }
    Ok(0)
}

/// Everybody writes at once: two leaders, one who replaces, and one who deletes and makes anew.
async fn leaders_and_writers_leave_nothing_half_done(home: &Home) -> anyhow::Result<()> {
    let handles = [open(home).await?, open(home).await?];
    create(&handles[0], NAME).await?;
    let together = Arc::new(Barrier::new(2));
    let mut writing = tokio::task::JoinSet::new();
    for (which, ledger) in handles.iter().enumerate() {
        writing.spawn(lead(ledger.clone(), which, Arc::clone(&together)));
    }
    writing.spawn(keep_replacing(handles[0].clone()));
    writing.spawn(keep_deleting(handles[1].clone()));
    let mut applied = 0;
    while let Some(written) = writing.join_next().await {
        applied += written??;
    }
    assert!(
        applied <= ROUNDS,
        "at most one of both in each round: {applied}"
    );
    assert_eq!(u64::try_from(home.count("release").await)?, applied);
    let last = Seen::new("one", "sha256:last");
    let last = last.apply(&handles[0], NAME).await?;
    assert!(last.is_some(), "it goes on");
    check(&handles[0]).await?;
    // Of every tracker there ever was, releases are numbered from one on.
    let gaps = home.count(
        "(select 1 from release group by tracker_uid having count(*) <> max(number)) as gap",
    );
    assert_eq!(gaps.await, 0);
    let without_entry = home.count(
        "release where not exists (select 1 from entry where entry.tracker_uid = release.tracker_uid \
         and entry.number = release.number)",
    );
    assert_eq!(without_entry.await, 0);
    let queued = home.count(
        "(select 1 from entry where state = 'queued' group by tracker_uid, environment \
         having count(*) > 1) as queued",
    );
    assert_eq!(queued.await, 0, "one waits in each environment");
    let of_deleted = home.count(
        "entry join tracker on tracker.uid = entry.tracker_uid \
         where tracker.deleted is not null and entry.state = 'queued'",
    );
    assert_eq!(of_deleted.await, 0);
    Ok(())
}

/// Checks that the state and the tables agree on the last release.
async fn check(ledger: &Ledger) -> anyhow::Result<()> {
    let tracker = stored(ledger, NAME).await?;
    let Some(last) = tracker.state.last_release() else {
        return Ok(());
    };
    let found = ledger
        .releases()
        .of_tracker(&tracker.name, last.number)
        .await?;
    assert_eq!(found.map(|it| it.release).as_ref(), Some(last));
    let next = ledger
        .releases()
        .of_tracker(&tracker.name, last.number + 1)
        .await?;
    assert_eq!(next, None);
    let configuration = ledger
        .releases()
        .configuration(&tracker.uid, &last.configuration.config_hash)
        .await?;
    assert!(configuration.is_some());
    Ok(())
}
