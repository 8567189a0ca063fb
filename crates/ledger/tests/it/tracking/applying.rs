//! Applying what cycles observed.

use jiff::SignedDuration;
use pathline_ledger::trackers::{ApplyOutcome, DeleteOutcome};
use pathline_release::Cause;
use pathline_release::tracker::Condition;

use super::{Seen, create, entries, mk_name, mk_replacement, open, replace, stored};
use crate::home::Home;
use crate::story::at;

on_both!(
    cycle_is_applied_with_its_release_and_its_entries,
    newer_release_supersedes_what_is_queued,
    cycle_that_is_applied_again_is_discarded,
    cycle_of_an_earlier_state_is_discarded,
    cycle_that_was_under_way_during_a_replacement_is_discarded,
    cycle_that_was_under_way_during_a_deletion_is_discarded,
    cycle_that_was_under_way_during_a_change_of_the_token_counts,
    cycle_that_changes_nothing_is_not_written,
    configuration_waits_until_its_image_is_there,
    refused_cycle_leaves_nothing,
);

async fn cycle_is_applied_with_its_release_and_its_entries(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let seen = Seen {
        revision: Some("feedface".repeat(5)),
        // Finer than columns hold it.
        time: at(10) + SignedDuration::from_nanos(123_456_789),
        ..Seen::new("one", "sha256:1")
    };
    let stored_time = at(10) + SignedDuration::from_micros(123_456);
    let result = seen.result(&tracker);
    let formed = seen
        .apply(&ledger, "shop.web")
        .await?
        .expect("it was formed");
    assert_eq!(formed.id, formed.release.id(&tracker.uid));
    assert_eq!(formed.release.number, 1);
    assert_eq!(formed.release.cause, Cause::Initial);
    assert_eq!(formed.image_revision, seen.revision);
    assert_eq!(formed.image_source.as_deref(), Some("https://git.example"));
    assert_eq!(entries(&formed), "dev=queued");
    assert_eq!(formed.release.at, seen.time);
    assert_eq!(formed.entries["dev"].since, stored_time);

    let other = open(home).await?;
    assert_eq!(
        other.releases().get(&formed.id).await?,
        Some(formed.clone())
    );
    let after = stored(&other, "shop.web").await?;
    assert_eq!(after.state, result.state);
    assert_eq!(after.state.last_release(), Some(&formed.release));
    assert_eq!(after.known_source, result.known_source);
    assert_eq!(after.observed, Some(stored_time));
    assert_eq!(after.edition, tracker.edition);
    assert_eq!((after.updated, after.updated_by), (at(1), "ci".to_owned()));
    Ok(())
}

async fn newer_release_supersedes_what_is_queued(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    for digest in ["sha256:1", "sha256:2", "sha256:3"] {
        Seen::new("one", digest).apply(&ledger, "shop.web").await?;
        if digest == "sha256:1" {
            home.run("update entry set state = 'deployed'").await;
        }
    }
    let mut found = Vec::new();
    for number in 1..=3 {
        let release = ledger
            .releases()
            .of_tracker(&mk_name("shop.web"), number)
            .await?;
        let release = release.expect("it was formed");
        let superseded_by = release.entries["dev"].superseded_by;
        found.push((entries(&release), superseded_by, release.release.previous));
    }
    let expected = [
        // It goes on as soon as anybody looks.
        ("dev=deployed prod=queued".to_owned(), None, None),
        ("dev=superseded".to_owned(), Some(3), Some(1)),
        ("dev=queued".to_owned(), None, Some(2)),
    ];
    assert_eq!(found, expected);
    Ok(())
}

/// C01 to C03: the answer was lost, or the process ended before it came.
async fn cycle_that_is_applied_again_is_discarded(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let result = Seen::new("one", "sha256:1").result(&tracker);
    let first = ledger.trackers().apply(result.clone()).await?;
    assert!(matches!(first, ApplyOutcome::Applied { release: Some(_) }));
    let changes = home.count("change").await;
    let other = open(home).await?;
    for ledger in [&ledger, &other] {
        let again = ledger.trackers().apply(result.clone()).await?;
        assert_eq!(again, ApplyOutcome::Discarded);
    }
    assert_eq!(home.count("release").await, 1);
    assert_eq!(home.count("entry").await, 1);
    assert_eq!(home.count("change").await, changes);
    // The next poll sees the same, and there is nothing to release.
    let same = Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?;
    assert_eq!(same, None);
    assert_eq!(home.count("change").await, changes);
    Ok(())
}

async fn cycle_of_an_earlier_state_is_discarded(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let late = Seen::new("one", "sha256:1").result(&tracker);
    Seen::new("two", "sha256:2")
        .apply(&ledger, "shop.web")
        .await?;
    let before = stored(&ledger, "shop.web").await?;
    assert_eq!(
        ledger.trackers().apply(late).await?,
        ApplyOutcome::Discarded
    );
    assert_eq!(stored(&ledger, "shop.web").await?, before);
    assert_eq!(home.count("release").await, 1);
    assert_eq!(home.count("configuration").await, 1);
    Ok(())
}

/// C11.
async fn cycle_that_was_under_way_during_a_replacement_is_discarded(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let late = Seen::new("one", "sha256:1").result(&tracker);
    let elsewhere = mk_replacement("acme/shop", "other", None);
    let replaced = replace(&ledger, "shop.web", elsewhere).await?;
    assert_eq!(
        ledger.trackers().apply(late).await?,
        ApplyOutcome::Discarded
    );
    assert_eq!(stored(&ledger, "shop.web").await?, replaced);
    assert_eq!(home.count("release").await, 0);
    Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?
        .expect("it is for the new one");
    Ok(())
}

/// C12.
async fn cycle_that_was_under_way_during_a_deletion_is_discarded(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let late = Seen::new("one", "sha256:1").result(&tracker);
    let name = mk_name("shop.web");
    let deleted = ledger.trackers().delete(&name, None, "ops", at(3)).await?;
    assert!(matches!(deleted, DeleteOutcome::Deleted { .. }));
    assert_eq!(
        ledger.trackers().apply(late.clone()).await?,
        ApplyOutcome::Discarded
    );
    assert_eq!(ledger.trackers().get(&name).await?, None, "nobody rises");
    // Nor does it reach another one of the same name, which is in the same state.
    let another = create(&ledger, "shop.web").await?;
    assert_eq!(another.state.basis(), late.basis);
    assert_eq!(
        ledger.trackers().apply(late).await?,
        ApplyOutcome::Discarded
    );
    assert_eq!(stored(&ledger, "shop.web").await?, another);
    assert_eq!(home.count("release").await, 0);
    Ok(())
}

async fn cycle_that_was_under_way_during_a_change_of_the_token_counts(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let late = Seen::new("one", "sha256:1").result(&tracker);
    let other = mk_replacement("acme/shop", "deploy", Some("other"));
    replace(&ledger, "shop.web", other).await?;
    let applied = ledger.trackers().apply(late).await?;
    assert!(matches!(
        applied,
        ApplyOutcome::Applied { release: Some(_) }
    ));
    Ok(())
}

async fn cycle_that_changes_nothing_is_not_written(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?;
    let (before, changes) = (
        stored(&ledger, "shop.web").await?,
        home.count("change").await,
    );
    let later = Seen {
        time: at(100),
        ..Seen::new("one", "sha256:1")
    };
    assert_eq!(later.apply(&ledger, "shop.web").await?, None);
    assert_eq!(stored(&ledger, "shop.web").await?, before);
    assert_eq!(home.count("change").await, changes);
    Ok(())
}

async fn configuration_waits_until_its_image_is_there(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    let waiting = Seen {
        digest: None,
        ..Seen::new("one", "")
    };
    assert_eq!(waiting.apply(&ledger, "shop.web").await?, None);
    let tracker = stored(&ledger, "shop.web").await?;
    assert!(tracker.state.pending().is_some());
    let conditions: Vec<_> = tracker.state.conditions().collect();
    assert_eq!(conditions, [(Condition::AwaitingContainer, at(10))]);
    assert_eq!(home.count("configuration").await, 1);
    let formed = Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?;
    assert_eq!(formed.expect("both are ready").release.number, 1);
    assert!(stored(&ledger, "shop.web").await?.state.pending().is_none());
    Ok(())
}

/// C02: whatever fails takes everything with it.
async fn refused_cycle_leaves_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    let waiting = Seen {
        digest: None,
        ..Seen::new("one", "")
    };
    waiting.apply(&ledger, "shop.web").await?;
    let before = stored(&ledger, "shop.web").await?;
    let result = Seen::new("one", "sha256:1").result(&before);
    // The last statement of the transaction is refused: that of the change of the tracker.
    let (refuse, allow) = match home {
        Home::File(_) => (
            "create trigger refuse before insert on change when new.topic = 'trackers' \
             begin select raise(abort, 'refused'); end",
            "drop trigger refuse",
        ),
        Home::Postgres { .. } => (
            "alter table change add constraint refuse check (topic <> 'trackers') not valid",
            "alter table change drop constraint refuse",
        ),
    };
    home.run(refuse).await;
    ledger.trackers().apply(result.clone()).await.unwrap_err();
    assert_eq!(
        stored(&ledger, "shop.web").await?,
        before,
        "what waits still waits"
    );
    for table in ["release", "entry"] {
        assert_eq!(home.count(table).await, 0, "{table}");
    }
    home.run(allow).await;
    let applied = ledger.trackers().apply(result).await?;
    assert!(matches!(
        applied,
        ApplyOutcome::Applied { release: Some(_) }
    ));
    Ok(())
}
