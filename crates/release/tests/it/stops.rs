//! Stops: holds of one tracker and of whole environments, freezes, and environments that are promoted by hand.

use jiff::{SignedDuration, Timestamp};
use pathline_release::queue::{
    EntryState, Environment, Flow, Freeze, Hold, Holds, Promotion, Queues, Report, Stop,
};

use crate::support::{deploy, listed, mk_flow, mk_hold, mk_queues, mk_release, second, tick};

/// Returns a flow of one environment, after a change to it.
fn mk_dev(change: impl FnOnce(&mut Environment)) -> Flow {
    let mut dev = Environment::new("dev", 0);
    change(&mut dev);
    Flow::new(vec![dev]).expect("one name")
}

fn mk_freeze(from: i64, until: i64) -> Freeze {
    Freeze {
        from: second(from),
        until: second(until),
        reason: "holidays".to_owned(),
    }
}

/// Returns queues with one release that is entered.
fn mk_entered(flow: &Flow) -> Queues {
    let mut queues = mk_queues();
    queues.enter(flow, &mk_release(1, "1.0.0"), second(1));
    queues
}

#[test]
fn tracker_that_is_held_in_an_environment_is_not_taken_there_until_it_is_resumed() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_entered(&flow);
    queues.hold("dev", mk_hold("broken", 2));
    assert_eq!(tick(&mut queues, &flow, &["dev"], second(60)), []);
    assert_eq!(queues.resume("dev"), Some(mk_hold("broken", 2)));
    assert_eq!(queues.resume("dev"), None);
    deploy(&mut queues, &flow, &["dev"], second(60));
    queues.hold("dev", mk_hold("again", 61));
    deploy(&mut queues, &flow, &["prod"], second(120));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=deployed");
}

#[test]
fn environment_that_is_held_as_a_whole_takes_nothing() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_entered(&flow);
    let halts: Holds = [("dev".to_owned(), mk_hold("an incident", 2))]
        .into_iter()
        .collect();
    assert_eq!(queues.tick((&flow, &halts), &["dev"], second(60)), []);
    let elsewhere: Holds = [("prod".to_owned(), mk_hold("an incident", 2))]
        .into_iter()
        .collect();
    queues.tick((&flow, &elsewhere), &["dev", "prod"], second(60));
    assert_eq!(listed(&queues, &flow), "dev.1=deploying");
}

#[test]
fn deployment_under_way_is_not_stopped() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_entered(&flow);
    tick(&mut queues, &flow, &["dev"], second(60));
    queues.hold("dev", mk_hold("too late", 61));
    queues.report(&flow, ("dev", 1), 0, Report::Ready, second(62));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=queued");
}

#[test]
fn hold_that_is_set_twice_has_the_new_reason_and_the_first_time() {
    let mut holds = Holds::default();
    holds.hold("dev", mk_hold("first", 1));
    let second_hold = Hold {
        by: "bob".to_owned(),
        ..mk_hold("second", 2)
    };
    holds.hold("dev", second_hold);
    let expected = Hold {
        reason: "second".to_owned(),
        by: "bob".to_owned(),
        since: second(1),
    };
    assert_eq!(holds.iter().collect::<Vec<_>>(), [("dev", &expected)]);
}

#[test]
fn environment_takes_nothing_from_the_first_instant_of_a_freeze_to_the_last_before_its_end() {
    let flow = mk_dev(|dev| dev.freezes = vec![mk_freeze(60, 120), mk_freeze(240, 300)]);
    let just_before = |at: Timestamp| at - SignedDuration::from_nanos(1);
    for (at, is_taken) in [
        (just_before(second(60)), true),
        (second(60), false),
        (just_before(second(120)), false),
        (second(120), true),
        (second(240), false),
        (second(300), true),
    ] {
        let mut queues = mk_entered(&flow);
        tick(&mut queues, &flow, &["dev"], at);
        let state = if is_taken { "deploying" } else { "queued" };
        assert_eq!(listed(&queues, &flow), format!("dev.1={state}"), "{at}");
    }
}

#[test]
fn what_stops_an_environment_is_told_holds_first() {
    let flow = mk_dev(|dev| dev.freezes = vec![mk_freeze(60, 120)]);
    let dev = &flow.environments()[0];
    let mut queues = mk_entered(&flow);
    let mut halts = Holds::default();
    assert_eq!(queues.stop(dev, &halts, second(59)), None);
    let frozen = Some(Stop::Freeze(mk_freeze(60, 120)));
    assert_eq!(queues.stop(dev, &halts, second(60)), frozen);
    queues.hold("dev", mk_hold("broken", 2));
    let held = Some(Stop::Tracker(mk_hold("broken", 2)));
    assert_eq!(queues.stop(dev, &halts, second(60)), held);
    halts.hold("dev", mk_hold("an incident", 3));
    let halted = Some(Stop::Environment(mk_hold("an incident", 3)));
    assert_eq!(queues.stop(dev, &halts, second(60)), halted);
}

#[test]
fn environment_of_manual_promotion_takes_what_was_promoted() {
    let flow = mk_dev(|dev| dev.promotion = Promotion::Manual);
    let mut queues = mk_entered(&flow);
    assert_eq!(listed(&queues, &flow), "dev.1=held");
    assert_eq!(tick(&mut queues, &flow, &["dev"], second(60)), []);
    queues
        .promote(&flow, ("dev", None), second(61))
        .expect("it is held");
    tick(&mut queues, &flow, &["dev"], second(120));
    assert_eq!(listed(&queues, &flow), "dev.1=deploying");
}

#[test]
fn environment_that_becomes_one_of_manual_promotion_holds_what_is_queued_there() {
    let mut queues = mk_entered(&mk_flow(&[("dev", 0)]));
    let flow = mk_dev(|dev| dev.promotion = Promotion::Manual);
    tick(&mut queues, &flow, &["dev"], second(60));
    let entry = queues.entry("dev", 1).expect("it is there");
    assert_eq!(entry.state, EntryState::Held);
}

#[test]
fn next_open_tick_is_the_first_after_all_freezes() {
    let next = |freezes: &[(i64, i64)], at: i64| {
        let mut dev = Environment::new("dev", 0);
        dev.freezes = freezes.iter().map(|it| mk_freeze(it.0, it.1)).collect();
        dev.next_open_tick(second(at)).map(Timestamp::as_second)
    };
    assert_eq!(next(&[], 30), Some(60));
    assert_eq!(next(&[(60, 61)], 30), Some(120));
    assert_eq!(next(&[(60, 121), (120, 180)], 30), Some(180));
    let mut closed = Environment::new("dev", 0);
    closed.freezes = vec![Freeze {
        until: Timestamp::MAX,
        ..mk_freeze(0, 1)
    }];
    assert_eq!(closed.next_open_tick(second(30)), None);
}
