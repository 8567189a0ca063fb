//! Flows that change: environments that are made later, and those that are removed.

use jiff::SignedDuration;
use pathline_release::queue::{EntryState, Environment, Flow, Holds, Report};

use crate::support::{deploy, listed, mk_flow, mk_queues, mk_release, report, second, tick};

#[test]
fn environment_that_is_made_later_begins_with_the_newest_release_that_has_got_that_far() {
    let before = mk_flow(&[("dev", 0), ("prod", 2)]);
    let mut queues = mk_queues();
    for number in 1..=3 {
        queues.enter(&before, &mk_release(number, "1.0.0"), second(1));
        deploy(&mut queues, &before, &["dev"], second(60));
    }
    queues.enter(&before, &mk_release(4, "1.0.0"), second(61));
    let flow = mk_flow(&[("dev", 0), ("east", 1), ("west", 1), ("prod", 2)]);
    assert_eq!(queues.advance(&flow, second(70)).len(), 3);
    let entries = listed(&queues, &flow);
    assert!(
        entries.ends_with("prod.3=cancelled"),
        "it waits again: {entries}"
    );
    assert!(entries.contains("dev.4=queued east.3=queued west.3=queued prod.1=superseded"));
    assert_eq!(queues.advance(&flow, second(70)), [], "once");
}

#[test]
fn environment_that_is_made_first_begins_with_the_newest_release() {
    let before = mk_flow(&[("ha", 1)]);
    let mut queues = mk_queues();
    for number in 1..=2 {
        queues.enter(&before, &mk_release(number, "1.0.0"), second(1));
    }
    let flow = mk_flow(&[("dev", 0), ("ha", 1)]);
    queues.advance(&flow, second(70));
    assert_eq!(
        listed(&queues, &flow),
        "dev.2=queued ha.1=superseded ha.2=cancelled",
        "it would not be let in now"
    );
    deploy(&mut queues, &flow, &["dev"], second(120));
    assert!(listed(&queues, &flow).ends_with("ha.2=queued"));
}

#[test]
fn environment_that_is_made_beside_others_is_waited_for() {
    let before = mk_flow(&[("dev", 0), ("east", 1), ("prod", 2)]);
    let mut queues = mk_queues();
    queues.enter(&before, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &before, &["dev"], second(60));
    let flow = mk_flow(&[("dev", 0), ("east", 1), ("west", 1), ("prod", 2)]);
    deploy(&mut queues, &flow, &["east"], second(120));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed east.1=deployed west.1=queued"
    );
    deploy(&mut queues, &flow, &["west"], second(180));
    assert!(listed(&queues, &flow).ends_with("prod.1=queued"));
}

#[test]
fn what_waited_for_an_environment_that_is_removed_goes_on() {
    let before = mk_flow(&[("dev", 0), ("east", 1), ("west", 1), ("prod", 2)]);
    let mut queues = mk_queues();
    queues.enter(&before, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &before, &["dev", "east"], second(60));
    let flow = mk_flow(&[("dev", 0), ("east", 1), ("prod", 2)]);
    queues.advance(&flow, second(70));
    assert!(listed(&queues, &flow).ends_with("prod.1=queued"));
    assert_eq!(
        listed(&queues, &before),
        "dev.1=deployed east.1=deployed west.1=cancelled prod.1=queued"
    );
}

#[test]
fn deployment_in_an_environment_that_is_removed_is_cancelled_and_its_reports_are_not_heard() {
    let before = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_queues();
    queues.enter(&before, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &before, &["dev"], second(60));
    let flow = mk_flow(&[("prod", 1)]);
    queues.advance(&flow, second(70));
    assert_eq!(
        listed(&queues, &before),
        "dev.1=cancelled prod.1=queued",
        "the second one is the first one now"
    );
    let late = queues.report(&flow, ("dev", 1), 0, Report::Ready, second(80));
    assert_eq!(late, []);
    let entry = queues.entry("dev", 1).expect("it is kept");
    assert_eq!(entry.state, EntryState::Cancelled);
}

#[test]
fn nothing_counts_in_an_environment_that_is_gone() {
    let before = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_queues();
    queues.enter(&before, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &before, &["dev"], second(60));
    let flow = mk_flow(&[("prod", 1)]);
    queues.advance(&flow, second(70));
    queues.live(&flow, ("dev", 1), true, second(80));
    let entry = queues.entry("dev", 1).expect("it is kept");
    assert_eq!(entry.live.counted, SignedDuration::from_secs(10));
    assert_eq!(entry.live.since, None);
}

#[test]
fn environment_that_is_made_again_takes_what_was_cancelled_as_a_new_attempt() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &flow, &["dev"], second(60));
    tick(&mut queues, &flow, &["prod"], second(120));
    queues.advance(&mk_flow(&[("dev", 0)]), second(130));
    queues.advance(&flow, second(140));
    tick(&mut queues, &flow, &["prod"], second(180));
    let late = queues.report(&flow, ("prod", 1), 0, Report::Ready, second(190));
    assert_eq!(late, [], "it is about the deployment that was cancelled");
    report(&mut queues, &flow, "prod", Report::Ready, second(200));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=deployed");
}

#[test]
fn deleted_tracker_goes_to_no_new_environment() {
    let before = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    queues.enter(&before, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &before, &["dev"], second(60));
    queues.delete(second(61));
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    assert_eq!(queues.advance(&flow, second(70)), []);
    assert_eq!(tick(&mut queues, &flow, &["prod"], second(120)), []);
}

#[test]
fn deployment_of_a_deleted_tracker_is_cancelled_with_its_environment() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &flow, &["dev"], second(60));
    queues.delete(second(61));
    queues.advance(&mk_flow(&[("prod", 1)]), second(70));
    assert_eq!(listed(&queues, &flow), "dev.1=cancelled");
}

#[test]
fn release_that_waits_behind_an_environment_is_not_taken_there_while_it_was_away() {
    let flow = mk_flow(&[("dev", 0), ("preprod", 1), ("prod", 2)]);
    let without = mk_flow(&[("dev", 0), ("prod", 2)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &flow, &["dev"], second(60));
    tick(&mut queues, &flow, &["preprod"], second(61));
    report(
        &mut queues,
        &flow,
        "preprod",
        Report::Failed("no".to_owned()),
        second(62),
    );
    queues.advance(&without, second(70));
    assert!(
        listed(&queues, &without).ends_with("prod.1=queued"),
        "nothing is before it"
    );
    tick(&mut queues, &flow, &["prod"], second(80));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed preprod.1=failed prod.1=cancelled"
    );
    let refused = queues.promote_now((&flow, &Holds::default()), ("prod", Some(1)), second(90));
    let refused = refused.expect_err("it has failed before").to_string();
    assert_eq!(
        refused,
        "release 1 has not got to `prod`: it is failed in `preprod`"
    );
    queues
        .promote(&flow, ("preprod", None), second(100))
        .expect("once more");
    deploy(&mut queues, &flow, &["preprod"], second(120));
    deploy(&mut queues, &flow, &["prod"], second(180));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed preprod.1=deployed prod.1=deployed"
    );
}

#[test]
fn release_that_waits_for_a_position_that_has_moved_is_taken_where_it_has_got_to() {
    let flow = mk_flow(&[("dev", 0), ("prod", 2)]);
    let moved = mk_flow(&[("prod", 0), ("dev", 1)]);
    let mut queues = mk_queues();
    queues.enter(&moved, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &flow, &["prod"], second(60));
    assert_eq!(listed(&queues, &flow), "dev.1=queued prod.1=cancelled");
}

#[test]
fn environment_that_asks_for_more_while_a_release_waits_there_gets_it() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &flow, &["dev"], second(60));
    queues.live(&flow, ("dev", 1), true, second(60));
    let with = |change: fn(&mut Environment)| {
        let mut prod = Environment::new("prod", 1);
        change(&mut prod);
        Flow::new(vec![Environment::new("dev", 0), prod]).expect("names differ")
    };
    let soaking = with(|it| it.soak = SignedDuration::from_secs(100));
    let mut soaked = queues.clone();
    tick(&mut soaked, &soaking, &["prod"], second(120));
    assert_eq!(listed(&soaked, &soaking), "dev.1=deployed prod.1=cancelled");
    tick(&mut soaked, &soaking, &["prod"], second(160));
    assert_eq!(listed(&soaked, &soaking), "dev.1=deployed prod.1=deploying");
    let omitting = with(|it| it.omits = vec!["a.b".to_owned()]);
    tick(&mut queues, &omitting, &["prod"], second(120));
    assert_eq!(listed(&queues, &omitting), "dev.1=deployed prod.1=skipped");
}
