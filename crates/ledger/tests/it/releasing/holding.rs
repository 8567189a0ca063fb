//! Holds of environments, and of trackers in them.

use pathline_ledger::releases::{ActOutcome, HoldChange, QueueAction, What};
use pathline_release::queue::Hold;

use super::{NAME, act, form, mk_by, mk_hold, queues, tick};
use crate::home::Home;
use crate::story::at;
use crate::tracking::{create, mk_name, open};

on_both!(
    tracker_is_held_until_it_is_resumed,
    environment_is_held_until_it_is_resumed,
    hold_that_is_set_again_holds_since_it_was_first,
    environment_that_is_not_there_is_not_held,
    changes_tell_who_holds_and_resumes,
);

fn hold() -> QueueAction {
    QueueAction::Hold {
        environment: "dev".to_owned(),
    }
}

fn resume() -> QueueAction {
    QueueAction::Resume {
        environment: "dev".to_owned(),
    }
}

async fn tracker_is_held_until_it_is_resumed(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    create(&ledger, "shop.db").await?;
    act(&ledger, hold(), 5).await?;
    form(&ledger, NAME, 1, 10).await?;
    form(&ledger, "shop.db", 1, 10).await?;
    assert_eq!(tick(&ledger, &["dev"], 11).await?.moved, 1, "the other one");
    let again = open(home).await?;
    assert_eq!(
        queues(&again, None).await?.holds().get("dev"),
        Some(&mk_hold(at(5)))
    );
    act(&again, resume(), 12).await?;
    assert_eq!(tick(&ledger, &["dev"], 13).await?.moved, 1);
    assert_eq!(home.count("hold").await, 0);
    Ok(())
}

async fn environment_is_held_until_it_is_resumed(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    let releases = ledger.releases();
    releases.hold_environment("dev", mk_hold(at(11))).await?;
    let held = releases.environment_holds().await?;
    assert_eq!(held.get("dev"), Some(&mk_hold(at(11))));
    let ticked = tick(&ledger, &["dev"], 12).await?;
    assert_eq!((ticked.moved, ticked.is_done), (0, true));
    assert_eq!(queues(&ledger, None).await?.holds().get("dev"), None);
    let resumed = releases.resume_environment("dev", &mk_by(), at(13)).await?;
    assert_eq!(resumed, Some(mk_hold(at(11))));
    let again = releases.resume_environment("dev", &mk_by(), at(13)).await?;
    assert_eq!(again, None);
    assert_eq!(tick(&ledger, &["dev"], 14).await?.moved, 1);
    Ok(())
}

async fn hold_that_is_set_again_holds_since_it_was_first(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    act(&ledger, hold(), 5).await?;
    act(&ledger, hold(), 9).await?;
    let found = queues(&ledger, None).await?;
    assert_eq!(found.holds().get("dev"), Some(&mk_hold(at(5))));
    let releases = ledger.releases();
    releases.hold_environment("dev", mk_hold(at(5))).await?;
    let other = Hold {
        reason: "still".to_owned(),
        by: "bob".to_owned(),
        since: at(9),
    };
    releases.hold_environment("dev", other.clone()).await?;
    let held = releases.environment_holds().await?;
    let expected = Hold {
        since: at(5),
        ..other
    };
    assert_eq!(held.get("dev"), Some(&expected));
    Ok(())
}

async fn environment_that_is_not_there_is_not_held(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    let nowhere = QueueAction::Hold {
        environment: "moon".to_owned(),
    };
    assert_eq!(act(&ledger, nowhere, 5).await?, ActOutcome::NoEnvironment);
    assert_eq!(act(&ledger, resume(), 5).await?, ActOutcome::NotHeld);
    assert_eq!(home.count("hold").await, 0);
    Ok(())
}

async fn changes_tell_who_holds_and_resumes(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    act(&ledger, hold(), 5).await?;
    act(&ledger, resume(), 6).await?;
    let releases = ledger.releases();
    releases.hold_environment("prod", mk_hold(at(7))).await?;
    releases.resume_environment("prod", &mk_by(), at(8)).await?;
    let changes = releases.changes(0, 100).await?;
    let change = |environment: &str, tracker: Option<&str>| HoldChange {
        environment: environment.to_owned(),
        tracker: tracker.map(mk_name),
        by: "ann".to_owned(),
        reason: Some("orders are late".to_owned()),
    };
    let told = changes.into_iter();
    let told: Vec<_> = told.map(|it| (it.subject, it.time, it.what)).collect();
    let expected = [
        ("dev", 5, What::Held(change("dev", Some(NAME)))),
        ("dev", 6, What::Resumed(change("dev", Some(NAME)))),
        ("prod", 7, What::Held(change("prod", None))),
        ("prod", 8, What::Resumed(change("prod", None))),
    ];
    let expected = expected.map(|(subject, second, what)| (subject.to_owned(), at(second), what));
    assert_eq!(told, expected);
    Ok(())
}
