//! Writers that act at once.

use pathline_ledger::Ledger;
use pathline_ledger::releases::{ActOutcome, What};
use pathline_release::queue::{EntryState, Report};

use super::{NAME, act, form, promote, report, roll_back, tick};
use crate::home::Home;
use crate::tracking::{create, open};

on_both!(
    release_is_taken_once_by_those_who_promote_and_tick_at_once,
    rollbacks_at_once_have_numbers_of_their_own,
);

/// Returns how often each release was taken in an environment.
async fn taken(ledger: &Ledger, environment: &str) -> anyhow::Result<Vec<u64>> {
    let changes = ledger.releases().changes(0, 1000).await?;
    let taken = changes.into_iter().filter_map(|it| match it.what {
        What::Moved(it) if it.to == EntryState::Deploying => Some(it),
        _ => None,
    });
    let taken = taken.filter(|it| it.environment == environment);
    Ok(taken.map(|it| it.number).collect())
}

async fn release_is_taken_once_by_those_who_promote_and_tick_at_once(
    home: &Home,
) -> anyhow::Result<()> {
    const ROUNDS: u64 = 12;
    let leaders = [open(home).await?, open(home).await?];
    create(&leaders[0], NAME).await?;
    for round in 1..=ROUNDS {
        let second = i64::try_from(round)? * 10;
        form(&leaders[0], NAME, round, second).await?;
        let (first, other, by_hand, again) = tokio::join!(
            tick(&leaders[0], &["dev"], second + 1),
            tick(&leaders[1], &["dev"], second + 1),
            act(&leaders[0], promote("dev", Some(round), true), second + 1),
            act(&leaders[1], promote("dev", Some(round), true), second + 1),
        );
        let promoted = [by_hand?, again?];
        let promoted = promoted.iter();
        let promoted = promoted.filter(|it| matches!(it, ActOutcome::Done { .. }));
        let moved = first?.moved + other?.moved + promoted.count();
        assert_eq!(moved, 1, "round {round}");
        // Both report, one of them late.
        let ready = || report("dev", round, Report::Ready);
        let (one, other) = tokio::join!(
            act(&leaders[0], ready(), second + 2),
            act(&leaders[1], ready(), second + 2)
        );
        let told = [super::told(&one?), super::told(&other?)].concat();
        assert!(told.starts_with(&format!("dev.{round}=deployed")), "{told}");
        assert_eq!(told.matches("deployed").count(), 1);
    }
    let expected: Vec<u64> = (1..=ROUNDS).collect();
    assert_eq!(taken(&leaders[0], "dev").await?, expected);
    Ok(())
}

async fn rollbacks_at_once_have_numbers_of_their_own(home: &Home) -> anyhow::Result<()> {
    let leaders = [open(home).await?, open(home).await?];
    create(&leaders[0], NAME).await?;
    let second = super::deploy(&leaders[0], &[1, 2], 10).await?;
    let (one, other, formed) = tokio::join!(
        act(&leaders[0], roll_back("dev", Some(1)), second),
        act(&leaders[1], roll_back("prod", Some(1)), second),
        async {
            // A cycle under way is late, and comes again.
            loop {
                if let Ok(formed) = form(&leaders[0], NAME, 3, second).await {
                    return formed;
                }
            }
        }
    );
    let mut numbers = vec![formed.release.number];
    for outcome in [one?, other?] {
        let ActOutcome::Done {
            formed: Some(formed),
            ..
        } = outcome
        else {
            panic!("it was refused: {outcome:?}");
        };
        numbers.push(formed.release.number);
    }
    numbers.sort_unstable();
    assert_eq!(numbers, [3, 4, 5]);
    Ok(())
}
