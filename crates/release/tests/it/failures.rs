//! Failures: environments that keep what has failed, and those that get back what was deployed.

use pathline_release::queue::{
    EntryState, Environment, Flow, Holds, OnFailure, Queues, READY_TIMEOUT, Report, Restore,
    Restoring,
};

use crate::support::{
    deploy, listed, mk_flow, mk_hold, mk_queues, mk_release, report, second, tick,
};

fn mk_failed() -> Report {
    Report::Failed("crash loop".to_owned())
}

/// Returns one environment, which restores what was deployed.
fn mk_dev() -> Flow {
    let dev = Environment {
        on_failure: OnFailure::Restore,
        ..Environment::new("dev", 0)
    };
    Flow::new(vec![dev]).expect("one name")
}

/// Returns queues in which the first release is deployed, and the second one has failed, at second 120.
fn mk_second_failed(flow: &Flow) -> Queues {
    let mut queues = mk_queues();
    queues.enter(flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, flow, &["dev"], second(60));
    queues.enter(flow, &mk_release(2, "1.0.0"), second(61));
    tick(&mut queues, flow, &["dev"], second(120));
    report(&mut queues, flow, "dev", mk_failed(), second(120));
    queues
}

fn restore_of(queues: &Queues, release: u64) -> Option<Restore> {
    let entry = queues.entry("dev", release).expect("it is there");
    entry.restore.clone()
}

const RESTORING: Restoring = Restoring {
    failed: 2,
    attempt: 0,
    deployed: 1,
    since: jiff::Timestamp::constant(120, 0),
};

#[test]
fn what_was_deployed_is_restored_where_the_environment_wants_it() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    assert_eq!(queues.restoring("dev"), Some(RESTORING));
    let live = |queues: &Queues| {
        let entry = queues.entry("dev", 1).expect("it is there");
        entry.live.since
    };
    assert_eq!(live(&queues), None, "it was written over");
    queues.report_restore(("dev", 2), 1, Report::Ready, second(130));
    assert_eq!(queues.restoring("dev"), Some(RESTORING), "another attempt");
    queues.report_restore(("dev", 2), 0, Report::Ready, second(130));
    assert_eq!(restore_of(&queues, 2), Some(Restore::Done));
    assert_eq!(live(&queues), Some(second(130)));
    queues.report_restore(("dev", 2), 0, mk_failed(), second(131));
    assert_eq!(restore_of(&queues, 2), Some(Restore::Done), "it was told");
    assert_eq!(listed(&queues, &flow), "dev.1=deployed dev.2=failed");
}

#[test]
fn nothing_is_restored_where_the_environment_keeps_what_has_failed() {
    let queues = mk_second_failed(&mk_flow(&[("dev", 0)]));
    assert_eq!(queues.restoring("dev"), None);
    assert_eq!(restore_of(&queues, 2), None);
}

#[test]
fn nothing_is_restored_where_nothing_was_deployed() {
    let flow = mk_dev();
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &flow, &["dev"], second(60));
    report(&mut queues, &flow, "dev", mk_failed(), second(61));
    assert_eq!(queues.restoring("dev"), None);
}

#[test]
fn holds_do_not_stop_a_restoration() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    queues.hold("dev", mk_hold("broken", 121));
    assert_eq!(queues.restoring("dev"), Some(RESTORING));
}

#[test]
fn restoration_that_fails_says_why() {
    let mut queues = mk_second_failed(&mk_dev());
    queues.report_restore(("dev", 2), 0, mk_failed(), second(130));
    let failed = Restore::Failed("crash loop".to_owned());
    assert_eq!(restore_of(&queues, 2), Some(failed));
    assert_eq!(queues.restoring("dev"), None);
}

#[test]
fn restoration_that_takes_too_long_has_failed() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    queues.expire(&flow, second(119) + READY_TIMEOUT);
    assert_eq!(queues.restoring("dev"), Some(RESTORING));
    queues.expire(&flow, second(120) + READY_TIMEOUT);
    let failed = Restore::Failed("not ready after 15m".to_owned());
    assert_eq!(restore_of(&queues, 2), Some(failed));
}

#[test]
fn deployment_that_takes_too_long_is_restored_too() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(121));
    tick(&mut queues, &flow, &["dev"], second(180));
    queues.expire(&flow, second(180) + READY_TIMEOUT);
    assert_eq!(restore_of(&queues, 3), Some(Restore::Pending));
}

#[test]
fn another_release_that_is_taken_ends_a_restoration() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(121));
    assert_eq!(queues.restoring("dev"), Some(RESTORING), "it is queued");
    tick(&mut queues, &flow, &["dev"], second(180));
    assert_eq!(queues.restoring("dev"), None);
    queues.report_restore(("dev", 2), 0, Report::Ready, second(181));
    assert_eq!(restore_of(&queues, 2), None, "it is too late");
}

#[test]
fn new_attempt_ends_a_restoration_when_it_is_taken() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    queues
        .promote(&flow, ("dev", None), second(121))
        .expect("it has failed");
    let restoring = queues.restoring("dev").expect("until the next tick");
    assert_eq!((restoring.failed, restoring.deployed), (2, 1));
    tick(&mut queues, &flow, &["dev"], second(180));
    assert_eq!(queues.restoring("dev"), None);
}

#[test]
fn new_attempt_forgets_what_followed_the_one_before() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    queues.report_restore(("dev", 2), 0, Report::Ready, second(130));
    let promoted = queues.promote(&flow, ("dev", None), second(131));
    assert!(promoted.is_ok());
    deploy(&mut queues, &flow, &["dev"], second(180));
    assert_eq!(restore_of(&queues, 2), None);
}

#[test]
fn nothing_is_restored_for_a_tracker_or_an_environment_that_is_gone() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    let mut elsewhere = queues.clone();
    queues.delete(second(130));
    assert_eq!(queues.restoring("dev"), None);
    elsewhere.advance(&mk_flow(&[("prod", 0)]), second(130));
    assert_eq!(elsewhere.restoring("dev"), None);
}

#[test]
fn rollback_after_a_restoration_is_of_what_was_restored() {
    let flow = mk_dev();
    let mut queues = mk_second_failed(&flow);
    let target = |queues: &Queues| {
        queues
            .rollback_target((&flow, &Holds::default()), ("dev", None), second(1000))
            .ok()
    };
    assert_eq!(target(&queues), Some(1));
    queues.report_restore(("dev", 2), 0, Report::Ready, second(130));
    assert_eq!(
        target(&queues),
        None,
        "nothing was deployed before the first"
    );
    let state = queues.entry("dev", 2).map(|it| it.state);
    assert_eq!(state, Some(EntryState::Failed));
}
