//! Queues and environments, looked at: what it costs, and what is counted.

use pathline_ledger::releases::{
    ActOutcome, By, EnvironmentCounts, QueueAction, QueuesOf, ReleaseFilter, TrackerRef,
};
use pathline_ledger::{Ledger, Page};
use pathline_release::queue::Flow;

use super::{Seen, create, mk_name, open};
use crate::home::Home;
use crate::story::at;

on_both!(
    queues_and_holds_take_three_statements_however_many_trackers_there_are,
    releases_are_counted_by_environment_and_state,
    releases_are_found_by_environment,
    notes_about_deployments_are_read_by_tracker,
);

async fn tick(ledger: &Ledger, environment: &str, hour: i64) -> anyhow::Result<()> {
    let at = at(3600 * (1_000 + hour));
    let ticking = [(environment.to_owned(), at)];
    let ticked = ledger.releases().tick(&Flow::usual(), &ticking, at).await?;
    assert!(ticked.is_done);
    Ok(())
}

async fn queues_and_holds_take_three_statements_however_many_trackers_there_are(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    // What the ledger does by itself can only add to it.
    let statements = async || {
        let releases = ledger.releases();
        let (mut found, mut fewest) = (0, u64::MAX);
        for _ in 0..5 {
            let before = ledger.statements();
            let which = QueuesOf::All {
                after: None,
                limit: 1000,
            };
            found = releases.queues(which).await?.len();
            releases.environment_holds().await?;
            fewest = fewest.min(ledger.statements() - before);
        }
        anyhow::Ok((found, fewest))
    };
    for (count, names) in [(1, 0..1), (40, 1..40)] {
        for number in names {
            let name = format!("shop.web{number}");
            create(&ledger, &name).await?;
            Seen::new("one", "sha256:1").apply(&ledger, &name).await?;
        }
        assert_eq!(statements().await?, (count, 3));
    }
    Ok(())
}

async fn releases_are_counted_by_environment_and_state(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    assert!(ledger.releases().counts().await?.is_empty());
    for name in ["a.a", "a.b", "a.c"] {
        create(&ledger, name).await?;
        Seen::new("one", "sha256:1").apply(&ledger, name).await?;
    }
    let queued = EnvironmentCounts {
        queued: 3,
        ..EnvironmentCounts::default()
    };
    assert_eq!(ledger.releases().counts().await?["dev"], queued);
    tick(&ledger, "dev", 1).await?;
    let deploying = EnvironmentCounts {
        deploying: 3,
        ..EnvironmentCounts::default()
    };
    assert_eq!(ledger.releases().counts().await?["dev"], deploying);
    Ok(())
}

async fn releases_are_found_by_environment(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "a.b").await?;
    Seen::new("one", "sha256:1").apply(&ledger, "a.b").await?;
    for (environment, expected) in [("dev", 1), ("prod", 0), ("nowhere", 0)] {
        let filter = ReleaseFilter {
            environment: Some(environment.to_owned()),
            ..ReleaseFilter::default()
        };
        let found = ledger.releases().list(&filter, &Page::default()).await?;
        assert_eq!(found.items.len(), expected, "{environment}");
        let filter = ReleaseFilter {
            tracker: Some(mk_name("a.b")),
            ..filter
        };
        let found = ledger.releases().list(&filter, &Page::default()).await?;
        assert_eq!(found.items.len(), expected, "{environment} of the tracker");
    }
    Ok(())
}

async fn notes_about_deployments_are_read_by_tracker(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let releases = ledger.releases();
    let uid = create(&ledger, "a.b").await?.uid;
    Seen::new("one", "sha256:1").apply(&ledger, "a.b").await?;
    tick(&ledger, "dev", 1).await?;
    assert!(
        releases
            .deployment_notes(std::slice::from_ref(&uid))
            .await?
            .is_empty()
    );
    let note = QueueAction::Note {
        environment: "dev".to_owned(),
        release: 1,
        attempt: 0,
        message: Some("NoPath: none".to_owned()),
    };
    let tracker = TrackerRef::Uid(uid.clone());
    let by = By::new("engine", None);
    let now = at(3600 * 2_000);
    let noted = releases
        .act(tracker, &Flow::usual(), note, &by, now)
        .await?;
    assert!(matches!(noted, ActOutcome::Done { .. }), "{noted:?}");
    let notes = releases
        .deployment_notes(std::slice::from_ref(&uid))
        .await?;
    assert_eq!(notes[&uid][0].message, "NoPath: none");
    assert_eq!(notes[&uid][0].environment, "dev");
    assert_eq!(notes[&uid][0].release, 1);
    Ok(())
}
