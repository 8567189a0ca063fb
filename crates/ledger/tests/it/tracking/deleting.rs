//! Deleting trackers: what goes, and what stays.

use pathline_ledger::Page;
use pathline_ledger::releases::ReleaseFilter;
use pathline_ledger::trackers::{DeleteOutcome, Edition};

use super::{Seen, create, entries, mk_name, open, stored};
use crate::home::Home;
use crate::story::at;

on_both!(
    deleted_tracker_leaves_its_releases_and_cancels_what_waits,
    name_may_be_used_again_with_a_new_uid_and_new_numbers,
    other_edition_is_not_deleted,
);

async fn deleted_tracker_leaves_its_releases_and_cancels_what_waits(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let first = Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?;
    let first = first.expect("it was formed");
    home.run("update entry set state = 'deploying' where number = 1")
        .await;
    Seen::new("one", "sha256:2")
        .apply(&ledger, "shop.web")
        .await?;
    let name = mk_name("Shop.web");
    let deleted = ledger.trackers().delete(&name, None, "ops", at(20)).await?;
    let uid = tracker.uid.clone();
    assert_eq!(deleted, DeleteOutcome::Deleted { uid });
    let again = ledger.trackers().delete(&name, None, "ops", at(21)).await?;
    assert_eq!(again, DeleteOutcome::Missing);

    assert_eq!(ledger.trackers().get(&name).await?, None);
    assert_eq!(ledger.trackers().by_uid(&tracker.uid).await?, None);
    assert_eq!(ledger.trackers().token(&tracker.uid).await?, None);
    let left = home.count("tracker where token is not null or known_source is not null");
    assert_eq!(left.await, 0);
    let releases = ledger
        .releases()
        .list(&ReleaseFilter::default(), &Page::default())
        .await?;
    let states: Vec<_> = releases.items.iter().map(entries).collect();
    assert_eq!(states, ["dev=cancelled", "dev=deploying"]);
    assert_eq!(releases.items[0].entries["dev"].since, at(20));
    let found = ledger.releases().get(&first.id).await?.expect("it stays");
    assert_eq!(found.release, first.release);
    assert_eq!(found.tracker, tracker.name);
    Ok(())
}

async fn name_may_be_used_again_with_a_new_uid_and_new_numbers(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let seen = Seen::new("one", "sha256:1");
    let mut ids = Vec::new();
    for round in 0..3 {
        let tracker = create(&ledger, "shop.web").await?;
        let formed = seen
            .apply(&ledger, "shop.web")
            .await?
            .expect("the first one");
        assert_eq!(formed.release.number, 1);
        let found = ledger
            .releases()
            .of_tracker(&mk_name("shop.web"), 1)
            .await?;
        assert_eq!(found.as_ref(), Some(&formed));
        ids.push((tracker.uid, formed.id));
        if round < 2 {
            let name = mk_name("shop.web");
            ledger
                .trackers()
                .delete(&name, None, "ops", at(20 + round))
                .await?;
        }
        let found = ledger
            .releases()
            .of_tracker(&mk_name("shop.web"), 1)
            .await?;
        assert_eq!(
            found.map(|it| it.id),
            Some(ids[ids.len() - 1].1.clone()),
            "the last one's"
        );
    }
    ids.sort();
    ids.dedup_by(|one, other| one.0 == other.0 || one.1 == other.1);
    assert_eq!(ids.len(), 3);
    let filter = ReleaseFilter {
        tracker: Some(mk_name("shop.web")),
        ..ReleaseFilter::default()
    };
    let all = ledger.releases().list(&filter, &Page::default()).await?;
    assert_eq!(all.items.len(), 3, "all that ever had the name");
    Ok(())
}

async fn other_edition_is_not_deleted(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let name = mk_name("shop.web");
    let expected = Some(Edition {
        generation: 1,
        token_version: 2,
    });
    let outcome = ledger
        .trackers()
        .delete(&name, expected, "ops", at(2))
        .await?;
    assert_eq!(outcome, DeleteOutcome::Stale);
    assert_eq!(stored(&ledger, "shop.web").await?, tracker);
    let expected = Some(tracker.edition);
    let outcome = ledger
        .trackers()
        .delete(&name, expected, "ops", at(2))
        .await?;
    assert!(matches!(outcome, DeleteOutcome::Deleted { .. }));
    Ok(())
}
