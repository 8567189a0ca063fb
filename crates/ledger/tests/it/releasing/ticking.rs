//! Ticks: which trackers they move, and which they leave.

use pathline_ledger::Ledger;
use pathline_ledger::releases::{QueueAction, Ticked};
use pathline_release::queue::{Environment, Flow, Freeze, Report};

use super::{NAME, act, deploy, entries, form, promote, report, roll_back, tick};
use crate::home::Home;
use crate::story::at;
use crate::tracking::{create, mk_flow, open};

on_both!(
    c07_tick_is_handled_together_with_what_it_moves,
    several_environments_tick_at_once,
    what_is_queued_after_a_tick_waits_for_the_next,
    environment_that_is_busy_takes_nothing,
    frozen_environment_takes_nothing,
    nothing_stops_a_rollback_that_is_tried_again,
    environment_that_is_not_in_the_flow_does_not_tick,
    many_trackers_move_batch_by_batch,
    queue_is_as_old_as_its_oldest_entry,
);

const DONE: Ticked = Ticked {
    moved: 0,
    is_done: true,
};

async fn c07_tick_is_handled_together_with_what_it_moves(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    assert!(ledger.releases().handled_ticks().await?.is_empty());
    assert_eq!(
        tick(&ledger, &["dev"], 60).await?,
        Ticked { moved: 1, ..DONE }
    );
    let handled = ledger.releases().handled_ticks().await?;
    assert_eq!(
        handled.into_iter().collect::<Vec<_>>(),
        [("dev".to_owned(), at(60))]
    );

    // A leader that was late does not tick a second time, whatever is queued by now.
    let failed = Report::Failed("crash".to_owned());
    act(&ledger, report("dev", 1, failed), 61).await?;
    act(&ledger, promote("dev", None, false), 61).await?;
    let ticks = [("dev".to_owned(), at(60))];
    let late = ledger.releases().tick(&mk_flow(), &ticks, at(62)).await?;
    assert_eq!(late, DONE);
    assert_eq!(entries(&ledger, 1).await?, "dev=queued");
    Ok(())
}

async fn several_environments_tick_at_once(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    tick(&ledger, &["dev"], 11).await?;
    act(&ledger, report("dev", 1, Report::Ready), 12).await?;
    form(&ledger, NAME, 2, 13).await?;
    assert_eq!(
        tick(&ledger, &["dev", "prod"], 14).await?.moved,
        1,
        "one tracker"
    );
    assert_eq!(entries(&ledger, 1).await?, "dev=deployed prod=deploying");
    assert_eq!(entries(&ledger, 2).await?, "dev=deploying");
    assert_eq!(ledger.releases().handled_ticks().await?.len(), 2);
    Ok(())
}

async fn what_is_queued_after_a_tick_waits_for_the_next(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 61).await?;
    let ticks = [("dev".to_owned(), at(60))];
    let late = ledger.releases().tick(&mk_flow(), &ticks, at(62)).await?;
    assert_eq!(late, DONE);
    // One that was missed is made up for.
    let ticks = [("dev".to_owned(), at(120))];
    let later = ledger.releases().tick(&mk_flow(), &ticks, at(400)).await?;
    assert_eq!(later.moved, 1);
    let found = super::queues(&ledger, None).await?;
    let entry = found.entry("dev", 1).expect("it is there");
    assert_eq!(
        entry.since,
        at(400),
        "it has all of its time to become ready"
    );
    Ok(())
}

async fn environment_that_is_busy_takes_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    tick(&ledger, &["dev"], 11).await?;
    form(&ledger, NAME, 2, 12).await?;
    assert_eq!(tick(&ledger, &["dev"], 13).await?, DONE);
    act(&ledger, report("dev", 1, Report::Ready), 14).await?;
    assert_eq!(tick(&ledger, &["dev"], 15).await?.moved, 1);
    Ok(())
}

/// Returns a flow whose first environment is frozen from one second to another.
fn mk_frozen(from: i64, until: i64) -> Flow {
    let freeze = Freeze {
        from: at(from),
        until: at(until),
        reason: "holidays".to_owned(),
    };
    let dev = Environment {
        freezes: vec![freeze],
        ..Environment::new("dev", 0)
    };
    Flow::new(vec![dev, Environment::new("prod", 1)]).expect("names differ")
}

async fn tick_in(ledger: &Ledger, flow: &Flow, second: i64) -> anyhow::Result<usize> {
    let ticks = [("dev".to_owned(), at(second))];
    let ticked = ledger.releases().tick(flow, &ticks, at(second)).await?;
    assert!(ticked.is_done);
    Ok(ticked.moved)
}

async fn frozen_environment_takes_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    let flow = mk_frozen(20, 30);
    assert_eq!(tick_in(&ledger, &flow, 20).await?, 0);
    assert_eq!(tick_in(&ledger, &flow, 29).await?, 0);
    assert_eq!(tick_in(&ledger, &flow, 30).await?, 1);
    Ok(())
}

async fn nothing_stops_a_rollback_that_is_tried_again(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    let second = deploy(&ledger, &[1, 2], 10).await?;
    act(&ledger, roll_back("dev", None), second).await?;
    let failed = Report::Failed("crash".to_owned());
    act(&ledger, report("dev", 3, failed), second + 1).await?;
    act(&ledger, promote("dev", Some(3), false), second + 2).await?;
    assert_eq!(entries(&ledger, 3).await?, "dev=queued");
    // The tracker is held by the rollback; the environment is held and frozen beside that.
    let hold = super::mk_hold(at(second));
    ledger.releases().hold_environment("dev", hold).await?;
    let flow = mk_frozen(0, 1_000);
    assert_eq!(tick_in(&ledger, &flow, second + 3).await?, 1);
    assert_eq!(entries(&ledger, 3).await?, "dev=deploying");
    Ok(())
}

async fn environment_that_is_not_in_the_flow_does_not_tick(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    assert_eq!(tick(&ledger, &["moon"], 11).await?, DONE);
    assert!(ledger.releases().handled_ticks().await?.is_empty());
    Ok(())
}

async fn many_trackers_move_batch_by_batch(home: &Home) -> anyhow::Result<()> {
    const TRACKERS: usize = 501;
    let ledger = open(home).await?;
    create(&ledger, NAME).await?;
    form(&ledger, NAME, 1, 10).await?;
    // Copies of the one that was made, behind the ledger's back.
    let numbers = format!(
        "with recursive item (i) as (select 1 union all select i + 1 from item where i + 1 < {TRACKERS})"
    );
    for copy in [
        "insert into tracker (uid, name, name_key, source, token_version, generation, version, state, \
         created, created_by, updated, updated_by) $WITH select 'uid-' || i, 'copy.a' || i, \
         'copy.a' || i, source, token_version, generation, version, state, created, created_by, \
         updated, updated_by from tracker cross join item",
        "insert into release (id, tracker_uid, number, config_hash, config_commit, image_repository, \
         image_tag, image_digest, cause, time, body) $WITH select 'id-' || i, 'uid-' || i, number, \
         config_hash, config_commit, image_repository, image_tag, image_digest, cause, time, body \
         from release cross join item",
        "insert into entry (tracker_uid, number, environment, state, since, attempt, is_promoted) \
         $WITH select 'uid-' || i, number, environment, state, since, attempt, is_promoted \
         from entry cross join item",
    ] {
        home.run(&copy.replace("$WITH", &numbers)).await;
    }
    let ticked = tick(&ledger, &["dev"], 60).await?;
    let first = Ticked {
        moved: 500,
        is_done: false,
    };
    assert_eq!(ticked, first);
    assert!(ledger.releases().handled_ticks().await?.is_empty());
    // A crash here does no harm: the same call goes on.
    let again = open(home).await?;
    assert_eq!(
        tick(&again, &["dev"], 60).await?,
        Ticked { moved: 1, ..DONE }
    );
    let deploying = home.count("entry where state = 'deploying'").await;
    assert_eq!(usize::try_from(deploying)?, TRACKERS);
    let handled = again.releases().handled_ticks().await?;
    assert_eq!(handled.get("dev"), Some(&at(60)));
    Ok(())
}

async fn queue_is_as_old_as_its_oldest_entry(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    for (name, second) in [("shop.db", 12), (NAME, 10), ("shop.app", 11)] {
        create(&ledger, name).await?;
        form(&ledger, name, 1, second).await?;
    }
    let oldest = ledger.releases().oldest_queued().await?;
    assert_eq!(
        oldest.into_iter().collect::<Vec<_>>(),
        [("dev".to_owned(), at(10))]
    );
    tick(&ledger, &["dev"], 60).await?;
    assert!(ledger.releases().oldest_queued().await?.is_empty());
    act(&ledger, QueueAction::Advance, 61).await?;
    act(&ledger, report("dev", 1, Report::Ready), 62).await?;
    let oldest = ledger.releases().oldest_queued().await?;
    assert_eq!(oldest.get("prod"), Some(&at(62)));
    Ok(())
}
