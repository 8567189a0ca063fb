//! Flows that change: environments that are made later, and those that are removed.

use jiff::SignedDuration;
use pathline_release::queue::{EntryState, Report};

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
    assert_eq!(queues.advance(&flow, second(70)).len(), 2);
    let entries = listed(&queues, &flow);
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
        "dev.2=queued ha.1=superseded ha.2=queued"
    );
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
