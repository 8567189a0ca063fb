//! Actions by hand.

use pathline_ledger::releases::{ActOutcome, QueueAction, What};
use pathline_ledger::trackers::{RequestOutcome, WhatHappened};
use pathline_release::Cause;
use pathline_release::queue::{Environment, Flow, NotPromoted, NotRolledBack, Promotion, Report};
use pathline_release::tracker::NotRequested;

use super::{
    NAME, act, act_in, deploy, entries, form, mk_by, promote, queues, report, roll_back, tick, told,
};
use crate::home::Home;
use crate::story::at;
use crate::tracking::{Seen, create, mk_flow, mk_name, open, stored};

on_both!(
    what_failed_is_tried_again,
    release_is_promoted_without_a_tick,
    release_that_was_superseded_is_not_promoted,
    rollback_brings_back_what_was_deployed_before,
    rollback_finds_what_was_deployed_long_ago,
    nothing_is_rolled_back_where_nothing_was,
    rollback_makes_cycles_under_way_late,
    configuration_is_released_on_request,
    request_that_is_refused_changes_nothing,
);

async fn what_failed_is_tried_again(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    tick(&ledger, &["dev"], 11).await?;
    act(
        &ledger,
        report("dev", 1, Report::Failed("crash".to_owned())),
        12,
    )
    .await?;
    let promoted = act(&ledger, promote("dev", None, false), 13).await?;
    assert_eq!(told(&promoted), "dev.1=queued");
    tick(&ledger, &["dev"], 14).await?;
    let late = act(&ledger, report("dev", 1, Report::Ready), 15).await?;
    assert_eq!(told(&late), "", "it is of the first attempt");
    let entry = queues(&ledger, None).await?;
    let entry = entry.entry("dev", 1).expect("it is there");
    assert_eq!((entry.attempt, entry.is_promoted), (1, true));

    let changes = ledger.releases().changes(0, 100).await?;
    let by: Vec<_> = changes
        .into_iter()
        .filter_map(|it| match it.what {
            What::Moved(moved) => Some((moved.to.to_string(), moved.by, moved.reason)),
            _ => None,
        })
        .collect();
    let by_hand = |it: &&(String, Option<String>, Option<String>)| it.1.is_some();
    let by_hand: Vec<_> = by.iter().filter(by_hand).collect();
    let ann = Some("ann".to_owned());
    let reason = Some("orders are late".to_owned());
    assert_eq!(by_hand, [&("queued".to_owned(), ann, reason)], "{by:?}");
    Ok(())
}

async fn release_is_promoted_without_a_tick(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    let prod = Environment {
        promotion: Promotion::Manual,
        ..Environment::new("prod", 1)
    };
    let flow = Flow::new(vec![Environment::new("dev", 0), prod])?;
    form(&ledger, NAME, 1, 10).await?;
    tick(&ledger, &["dev"], 11).await?;
    let ready = report("dev", 1, Report::Ready);
    let done = act_in(&ledger, &flow, ready, at(12)).await?;
    assert_eq!(told(&done), "dev.1=deployed prod.1=held");
    let held = super::mk_hold(at(13));
    ledger.releases().hold_environment("prod", held).await?;
    let now = promote("prod", Some(1), true);
    let refused = act_in(&ledger, &flow, now.clone(), at(14)).await?;
    assert!(
        matches!(&refused, ActOutcome::NotPromoted(NotPromoted::Stopped(why)) if why.contains("ann")),
        "{refused:?}"
    );
    let resumed = ledger.releases();
    let resumed = resumed.resume_environment("prod", &mk_by(), at(15)).await?;
    assert!(resumed.is_some());
    let done = act_in(&ledger, &flow, now, at(16)).await?;
    assert_eq!(told(&done), "prod.1=deploying");
    Ok(())
}

async fn release_that_was_superseded_is_not_promoted(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    for image in 1..=4 {
        form(&ledger, NAME, image, 10 + i64::try_from(image)?).await?;
    }
    let refused = act(&ledger, promote("dev", Some(2), false), 20).await?;
    assert!(
        matches!(
            refused,
            ActOutcome::NotPromoted(NotPromoted::Otherwise { release: 2, .. })
        ),
        "{refused:?}"
    );
    let unknown = act(&ledger, promote("dev", Some(9), false), 20).await?;
    let expected = ActOutcome::NotPromoted(NotPromoted::NoRelease(9));
    assert_eq!(unknown, expected);
    Ok(())
}

async fn rollback_brings_back_what_was_deployed_before(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    let second = deploy(&ledger, &[1, 2], 10).await?;
    let done = act(&ledger, roll_back("prod", None), second).await?;
    assert_eq!(told(&done), "dev.3=skipped prod.3=deploying");
    let ActOutcome::Done {
        formed: Some(formed),
        ..
    } = done
    else {
        panic!("it was formed");
    };
    assert_eq!(
        (formed.release.number, formed.release.cause),
        (3, Cause::Rollback)
    );
    assert_eq!(formed.release.image.digest, "sha256:1");
    assert_eq!(formed.by.as_deref(), Some("ann"));
    assert_eq!(formed.reason.as_deref(), Some("orders are late"));
    let held = queues(&ledger, None).await?;
    let held = held.holds().get("prod").expect("it is held");
    assert_eq!(held.reason, "orders are late");

    act(&ledger, report("prod", 3, Report::Ready), second + 1).await?;
    form(&ledger, NAME, 4, second + 2).await?;
    tick(&ledger, &["dev"], second + 3).await?;
    act(&ledger, report("dev", 4, Report::Ready), second + 4).await?;
    assert_eq!(tick(&ledger, &["prod"], second + 5).await?.moved, 0);
    let resume = QueueAction::Resume {
        environment: "prod".to_owned(),
    };
    let resumed = act(&ledger, resume.clone(), second + 6).await?;
    assert!(
        matches!(
            resumed,
            ActOutcome::Done {
                resumed: Some(_),
                ..
            }
        ),
        "{resumed:?}"
    );
    assert_eq!(act(&ledger, resume, second + 6).await?, ActOutcome::NotHeld);
    assert_eq!(tick(&ledger, &["prod"], second + 7).await?.moved, 1);
    assert_eq!(entries(&ledger, 4).await?, "dev=deployed prod=deploying");
    Ok(())
}

async fn rollback_finds_what_was_deployed_long_ago(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    let second = deploy(&ledger, &[1, 2, 3, 4, 5], 10).await?;
    let done = act(&ledger, roll_back("prod", Some(2)), second).await?;
    assert_eq!(told(&done), "dev.6=skipped prod.6=deploying");
    act(&ledger, report("prod", 6, Report::Ready), second + 1).await?;
    // What is deployed is the content of 2; before that it was 5.
    let done = act(&ledger, roll_back("prod", None), second + 2).await?;
    assert!(told(&done).ends_with("prod.7=deploying"));
    let name = mk_name(NAME);
    let found = ledger
        .releases()
        .of_tracker(&name, 7)
        .await?
        .expect("it is there");
    assert_eq!(found.release.image.digest, "sha256:5");
    Ok(())
}

async fn nothing_is_rolled_back_where_nothing_was(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    deploy(&ledger, &[1], 10).await?;
    let changes = home.count("change").await;
    let nowhere = NotRolledBack::NoEnvironment("moon".to_owned());
    for (environment, release, refusal) in [
        ("prod", None, NotRolledBack::Nothing("prod".to_owned())),
        ("prod", Some(9), NotRolledBack::NoRelease(9)),
        ("moon", None, nowhere),
    ] {
        let refused = act(&ledger, roll_back(environment, release), 50).await?;
        assert_eq!(refused, ActOutcome::NotRolledBack(refusal));
    }
    assert_eq!(home.count("change").await, changes);
    assert_eq!(home.count("release").await, 1);
    assert_eq!(home.count("hold").await, 0);
    Ok(())
}

async fn rollback_makes_cycles_under_way_late(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    let second = deploy(&ledger, &[1, 2], 10).await?;
    let under_way = Seen::new("one", "sha256:3").result(&stored(&ledger, NAME).await?);
    act(&ledger, roll_back("prod", None), second).await?;
    let outcome = ledger.trackers().apply(under_way).await?;
    assert_eq!(outcome, pathline_ledger::trackers::ApplyOutcome::Discarded);
    let next = form(&ledger, NAME, 3, second + 1).await?;
    assert_eq!((next.release.number, next.release.previous), (4, Some(2)));
    Ok(())
}

async fn configuration_is_released_on_request(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    // Another configuration for the image that is released waits for another image.
    let waiting = Seen::new("two", "sha256:1").apply(&ledger, NAME).await?;
    assert_eq!(waiting, None);
    let name = mk_name("Shop.Web");
    let requested = ledger.trackers();
    let requested = requested
        .request(&name, &mk_flow(), &mk_by(), at(20))
        .await?;
    let RequestOutcome::Formed(formed) = requested else {
        panic!("it was refused: {requested:?}");
    };
    assert_eq!(
        (formed.release.number, formed.release.cause),
        (2, Cause::Requested)
    );
    assert_eq!(formed.by.as_deref(), Some("ann"));
    assert_eq!(entries(&ledger, 1).await?, "dev=superseded");
    assert_eq!(entries(&ledger, 2).await?, "dev=queued");
    let hash = &formed.release.configuration.config_hash;
    let kept = ledger.releases().configuration(&tracker.uid, hash).await?;
    assert!(kept.is_some());
    let state = stored(&ledger, NAME).await?.state;
    assert_eq!(state.last_release(), Some(&formed.release));
    let changes = ledger.trackers().changes(0, 100).await?;
    let last = changes.into_iter().next_back().map(|it| it.what);
    let by = "ann".to_owned();
    assert_eq!(last, Some(WhatHappened::Released { by, release: 2 }));
    Ok(())
}

async fn request_that_is_refused_changes_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let (name, flow, by) = (mk_name(NAME), mk_flow(), mk_by());
    let missing = ledger.trackers().request(&name, &flow, &by, at(5)).await?;
    assert_eq!(missing, RequestOutcome::Missing);
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    let changes = home.count("change").await;
    let refused = ledger.trackers().request(&name, &flow, &by, at(20)).await?;
    assert_eq!(refused, RequestOutcome::Refused(NotRequested::Nothing));
    assert_eq!(home.count("change").await, changes);
    Ok(())
}
