//! Trackers that are made, found and listed.

use jiff::SignedDuration;
use pathline_ledger::trackers::{CreateOutcome, Edition};
use pathline_ledger::{Error, Page};
use pathline_release::tracker::Tracker;

use super::{TOKEN, create, mk_name, mk_new, open};
use crate::home::Home;
use crate::story::at;

on_both!(
    tracker_is_stored_as_it_was_given,
    name_is_taken_however_it_is_spelled,
    objects_of_two_trackers_never_have_the_same_name,
    trackers_of_earlier_versions_have_their_objects_too,
    trackers_are_listed_by_the_bytes_of_their_names_page_by_page,
    ledger_knows_whether_it_ever_had_a_tracker,
    name_goes_to_one_of_many_who_want_it_at_once,
    tracker_without_a_token_needs_no_key,
);

async fn tracker_is_stored_as_it_was_given(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let created = create(&ledger, "Shop.web").await?;
    assert_eq!(created.name.as_str(), "Shop.web");
    assert_eq!(created.source, mk_new("Shop.web", TOKEN).source);
    assert!(created.has_token);
    let edition = Edition {
        generation: 1,
        token_version: 1,
    };
    assert_eq!(created.edition, edition);
    assert_eq!(created.edition.to_string(), "1.1");
    assert_eq!(created.state, Tracker::new(SignedDuration::ZERO));
    assert_eq!((created.created, created.updated), (at(1), at(1)));
    assert_eq!(created.created_by, "ci");
    assert_eq!(created.known_source, None);
    assert_eq!(created.uid.len(), 32);

    let other = open(home).await?;
    for ledger in [&ledger, &other] {
        let trackers = ledger.trackers();
        assert_eq!(
            trackers.get(&mk_name("shop.WEB")).await?,
            Some(created.clone())
        );
        assert_eq!(trackers.by_uid(&created.uid).await?, Some(created.clone()));
        let all = trackers.all_active().await?;
        assert_eq!(all, std::slice::from_ref(&created));
        let token = trackers.token(&created.uid).await?;
        assert_eq!(token.as_ref().map(|it| it.reveal()), Some(TOKEN));
        assert_eq!(trackers.get(&mk_name("shop.db")).await?, None);
        assert_eq!(trackers.by_uid("nobody").await?, None);
        assert_eq!(trackers.token("nobody").await?, None);
    }
    Ok(())
}

async fn name_is_taken_however_it_is_spelled(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let first = create(&ledger, "shop.web").await?;
    for name in ["shop.web", "Shop.Web"] {
        let again = mk_new(name, "another-token");
        let outcome = ledger
            .trackers()
            .create(again, SignedDuration::ZERO, "ci", at(2))
            .await?;
        assert_eq!(outcome, CreateOutcome::Exists, "{name}");
    }
    assert_eq!(ledger.trackers().all_active().await?, [first]);
    assert_eq!(home.count("change").await, 1, "nothing has changed");
    Ok(())
}

async fn objects_of_two_trackers_never_have_the_same_name(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "Shop.web-api").await?;
    for name in ["shop-web.api", "shop.web_api", "SHOP-web.API"] {
        let outcome = ledger
            .trackers()
            .create(mk_new(name, TOKEN), SignedDuration::ZERO, "ci", at(2))
            .await?;
        let by = mk_name("Shop.web-api");
        assert_eq!(outcome, CreateOutcome::OwnerTaken { by }, "{name}");
    }
    assert_eq!(home.count("change").await, 1, "nothing has changed");
    let name = mk_name("shop.web-api");
    ledger.trackers().delete(&name, None, "ci", at(3)).await?;
    create(&ledger, "shop-web.api").await?;
    Ok(())
}

async fn trackers_of_earlier_versions_have_their_objects_too(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let long = format!("{}.{}", "g".repeat(60), "n".repeat(60));
    for name in ["shop.web-api", "shop.db", &long] {
        create(&ledger, name).await?;
    }
    home.run("update tracker set owner_name = null").await;
    let outcome = ledger
        .trackers()
        .create(
            mk_new("shop-web.api", TOKEN),
            SignedDuration::ZERO,
            "ci",
            at(2),
        )
        .await?;
    let by = mk_name("shop.web-api");
    assert_eq!(outcome, CreateOutcome::OwnerTaken { by });
    let named = "tracker where owner_name is not null";
    assert_eq!(home.count(named).await, 3);
    Ok(())
}

async fn trackers_are_listed_by_the_bytes_of_their_names_page_by_page(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    for name in ["b.a", "a-b.c", "a.b", "B.c", "a_b.d", "a.a"] {
        create(&ledger, name).await?;
    }
    let expected = ["B.c", "a-b.c", "a.a", "a.b", "a_b.d", "b.a"];
    let all = ledger.trackers().all_active().await?;
    let names: Vec<_> = all.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, expected);
    let (mut page, mut listed) = (Page::first(4), Vec::new());
    for count in [4, 2] {
        let found = ledger.trackers().list(&page).await?;
        assert_eq!(found.items.len(), count);
        listed.extend(found.items);
        page.after = found.next;
    }
    assert_eq!(page.after, None);
    assert_eq!(listed, all);
    Ok(())
}

async fn ledger_knows_whether_it_ever_had_a_tracker(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    assert!(!ledger.trackers().ever_had_any().await?);
    create(&ledger, "shop.web").await?;
    assert!(ledger.trackers().ever_had_any().await?);
    ledger
        .trackers()
        .delete(&mk_name("shop.web"), None, "ops", at(2))
        .await?;
    assert_eq!(ledger.trackers().all_active().await?, []);
    assert!(ledger.trackers().ever_had_any().await?);
    Ok(())
}

async fn name_goes_to_one_of_many_who_want_it_at_once(home: &Home) -> anyhow::Result<()> {
    let handles = [open(home).await?, open(home).await?];
    let mut creating = tokio::task::JoinSet::new();
    for number in 0..20 {
        let ledger = handles[number % 2].clone();
        creating.spawn(async move {
            let new = mk_new(["shop.web", "SHOP.web"][number / 10], TOKEN);
            let settle = SignedDuration::ZERO;
            ledger.trackers().create(new, settle, "ci", at(1)).await
        });
    }
    let mut created = 0;
    while let Some(outcome) = creating.join_next().await {
        created += usize::from(matches!(outcome??, CreateOutcome::Created(_)));
    }
    assert_eq!(created, 1);
    assert_eq!(home.count("tracker").await, 1);
    Ok(())
}

async fn tracker_without_a_token_needs_no_key(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let create = async |token| {
        let new = mk_new("shop.web", token);
        let settle = SignedDuration::ZERO;
        ledger.trackers().create(new, settle, "ci", at(1)).await
    };
    let refused = create(TOKEN).await;
    assert!(
        matches!(refused, Err(Error::NoSealKey { .. })),
        "{refused:?}"
    );
    assert_eq!(home.count("tracker").await, 0);
    let CreateOutcome::Created(tracker) = create("").await? else {
        panic!("the name is free");
    };
    assert!(!tracker.has_token);
    assert_eq!(ledger.trackers().token(&tracker.uid).await?, None);
    Ok(())
}
