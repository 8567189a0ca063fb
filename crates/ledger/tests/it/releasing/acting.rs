//! Actions on deployments.

use jiff::SignedDuration;
use pathline_ledger::releases::{ActOutcome, QueueAction, QueuesOf, TrackerRef};
use pathline_release::queue::{EntryState, Environment, Flow, Live, OnFailure, Report, Restore};

use super::{NAME, act, act_in, deploy, entries, form, mk_by, queues, report, tick, told};
use crate::home::Home;
use crate::story::at;
use crate::tracking::{create, mk_flow, mk_name, open};

on_both!(
    c06_what_is_deployed_is_queued_in_the_next_environment_at_once,
    late_report_changes_nothing,
    tracker_that_is_not_there_is_missing,
    deployment_of_a_deleted_tracker_still_ends,
    time_for_which_a_release_is_live_is_kept,
    restoration_is_kept_until_it_is_done,
    note_is_kept_and_moves_nothing,
    queues_of_many_trackers_are_read_at_once,
);

async fn c06_what_is_deployed_is_queued_in_the_next_environment_at_once(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    assert_eq!(tick(&ledger, &["dev", "prod"], 11).await?.moved, 1);
    assert_eq!(entries(&ledger, 1).await?, "dev=deploying");
    let changes = home.count("change where topic = 'releases'").await;
    let ready = act(&ledger, report("dev", 1, Report::Ready), 12).await?;
    assert_eq!(told(&ready), "dev.1=deployed prod.1=queued");
    assert_eq!(entries(&ledger, 1).await?, "dev=deployed prod=queued");
    let told = home.count("change where topic = 'releases'").await;
    assert_eq!(told, changes + 2);
    Ok(())
}

async fn late_report_changes_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    deploy(&ledger, &[1, 2], 10).await?;
    let changes = home.count("change").await;
    for (release, attempt) in [(1, 0), (2, 0), (2, 1), (3, 0)] {
        let late = QueueAction::Report {
            environment: "dev".to_owned(),
            release,
            attempt,
            report: Report::Failed("late".to_owned()),
        };
        assert_eq!(told(&act(&ledger, late, 90).await?), "");
    }
    assert_eq!(home.count("change").await, changes);
    assert_eq!(entries(&ledger, 2).await?, "dev=deployed prod=deployed");
    Ok(())
}

async fn tracker_that_is_not_there_is_missing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let missing = act(&ledger, QueueAction::Advance, 1).await?;
    assert_eq!(missing, ActOutcome::Missing);
    Ok(())
}

async fn deployment_of_a_deleted_tracker_still_ends(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    tick(&ledger, &["dev"], 11).await?;
    let name = mk_name(NAME);
    ledger.trackers().delete(&name, None, "ops", at(12)).await?;
    let ready = report("dev", 1, Report::Ready);
    assert_eq!(act(&ledger, ready.clone(), 13).await?, ActOutcome::Missing);

    let releases = ledger.releases();
    let busy = releases.queues(QueuesOf::Busy).await?;
    let [busy] = &busy[..] else {
        panic!("one is busy: {busy:?}");
    };
    assert_eq!((&busy.uid, &busy.name), (&tracker.uid, &tracker.name));
    let uid = TrackerRef::Uid(tracker.uid.clone());
    let done = releases
        .act(uid, &mk_flow(), ready, &mk_by(), at(13))
        .await?;
    assert_eq!(told(&done), "dev.1=deployed", "and goes no further");
    assert_eq!(releases.queues(QueuesOf::Busy).await?, []);
    assert_eq!(entries(&ledger, 1).await?, "dev=deployed");
    Ok(())
}

async fn time_for_which_a_release_is_live_is_kept(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    let prod = Environment {
        soak: SignedDuration::from_secs(30),
        ..Environment::new("prod", 1)
    };
    let flow = Flow::new(vec![Environment::new("dev", 0), prod])?;
    form(&ledger, NAME, 1, 10).await?;
    tick(&ledger, &["dev"], 11).await?;
    let ready = report("dev", 1, Report::Ready);
    assert_eq!(
        told(&act_in(&ledger, &flow, ready, at(20)).await?),
        "dev.1=deployed"
    );
    let live = |is_live| QueueAction::Live {
        environment: "dev".to_owned(),
        release: 1,
        is_live,
    };
    let mk_live = |counted, since: Option<i64>| Live {
        counted: SignedDuration::from_secs(counted),
        since: since.map(at),
    };
    for (second, action, expected) in [
        (25, live(false), mk_live(5, None)),
        (30, live(true), mk_live(5, Some(30))),
        (40, QueueAction::Checkpoint, mk_live(15, Some(40))),
        (60, QueueAction::Restarted, mk_live(15, Some(60))),
    ] {
        assert_eq!(told(&act_in(&ledger, &flow, action, at(second)).await?), "");
        let again = open(home).await?;
        let found = queues(&again, None).await?;
        let entry = found.entry("dev", 1).expect("it is there");
        assert_eq!(entry.live, expected);
        again.close().await;
    }
    let soaked = queues(&ledger, None).await?.next_soak(&flow, at(60));
    assert_eq!(soaked, Some(at(75)));
    let advanced = act_in(&ledger, &flow, QueueAction::Advance, at(75)).await?;
    assert_eq!(told(&advanced), "prod.1=queued");
    Ok(())
}

async fn restoration_is_kept_until_it_is_done(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    deploy(&ledger, &[1], 10).await?;
    let dev = Environment {
        on_failure: OnFailure::Restore,
        ..Environment::new("dev", 0)
    };
    let flow = Flow::new(vec![dev, Environment::new("prod", 1)])?;
    form(&ledger, NAME, 2, 20).await?;
    tick(&ledger, &["dev"], 21).await?;
    let failed = report("dev", 2, Report::Failed("crash loop".to_owned()));
    act_in(&ledger, &flow, failed, at(22)).await?;
    let restoring = queues(&ledger, None).await?.restoring("dev");
    let restoring = restoring.expect("it is to be restored");
    assert_eq!((restoring.failed, restoring.deployed), (2, 1));
    assert_eq!(ledger.releases().queues(QueuesOf::Busy).await?.len(), 1);
    let done = QueueAction::ReportRestore {
        environment: "dev".to_owned(),
        failed: 2,
        attempt: 0,
        report: Report::Failed("no such secret".to_owned()),
    };
    assert_eq!(told(&act_in(&ledger, &flow, done, at(23)).await?), "");
    let found = queues(&ledger, None).await?;
    let entry = found.entry("dev", 2).expect("it is there");
    let expected = Restore::Failed("no such secret".to_owned());
    assert_eq!(entry.restore, Some(expected));
    assert_eq!(entry.message.as_deref(), Some("crash loop"));
    assert_eq!(ledger.releases().queues(QueuesOf::Busy).await?, []);
    Ok(())
}

async fn note_is_kept_and_moves_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    deploy(&ledger, &[1, 2, 3], 10).await?;
    let changes = home.count("change").await;
    // Also of a release that others have replaced.
    for release in [1, 3] {
        let note = QueueAction::Note {
            environment: "prod".to_owned(),
            release,
            attempt: 0,
            message: Some("nothing reads `config`".to_owned()),
        };
        assert_eq!(told(&act(&ledger, note, 50).await?), "");
        let found = queues(&ledger, Some(release)).await?;
        let entry = found.entry("prod", release).expect("it is there");
        assert_eq!(entry.message.as_deref(), Some("nothing reads `config`"));
        assert_eq!(entry.state, EntryState::Deployed);
    }
    assert_eq!(home.count("change").await, changes);
    Ok(())
}

async fn queues_of_many_trackers_are_read_at_once(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let mut uids = Vec::new();
    for number in 0..7_u64 {
        let name = format!("shop.app{number}");
        uids.push(create(&ledger, &name).await?.uid);
        for image in 0..number {
            form(&ledger, &name, image, 10).await?;
        }
    }
    let releases = ledger.releases();
    let by_uid = releases.queues(QueuesOf::Uids(&uids[2..5])).await?;
    let names: Vec<_> = by_uid.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["shop.app2", "shop.app3", "shop.app4"]);
    for (queues, number) in by_uid.iter().zip(2..) {
        let queued = queues.queues.newest("dev", EntryState::Queued);
        assert_eq!(queued, Some(number));
        assert_eq!(
            queues.queues.entries("dev").count(),
            1,
            "no more than needed"
        );
    }
    let (mut after, mut all) = (None, Vec::new());
    loop {
        let which = QueuesOf::All {
            after: after.as_ref(),
            limit: 3,
        };
        let page = releases.queues(which).await?;
        let Some(last) = page.last() else {
            break;
        };
        after = Some(last.name.clone());
        all.extend(page.into_iter().map(|it| it.uid));
    }
    assert_eq!(all, uids);
    Ok(())
}
