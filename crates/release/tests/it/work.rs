//! Work: what queues want from whoever deploys.

use jiff::SignedDuration;
use pathline_release::queue::{
    Deploying, Environment, Flow, OnFailure, Queues, READY_TIMEOUT, Report, Work,
};

use crate::support::{deploy, mk_queues, mk_release, report, second, tick};

/// Returns a flow of three environments: the first one restores, the last one wants releases to soak for 100 s.
fn mk_flow() -> Flow {
    let environments = vec![
        Environment {
            on_failure: OnFailure::Restore,
            ..Environment::new("dev", 0)
        },
        Environment::new("ha", 1),
        Environment {
            soak: SignedDuration::from_secs(100),
            ..Environment::new("prod", 2)
        },
    ];
    Flow::new(environments).expect("names differ")
}

fn entered(flow: &Flow, releases: u64) -> Queues {
    let mut queues = mk_queues();
    for number in 1..=releases {
        queues.enter(flow, &mk_release(number, "1.0.0"), second(1));
    }
    queues
}

#[test]
fn what_is_queued_is_no_work() {
    let flow = mk_flow();
    assert_eq!(entered(&flow, 1).work(&flow, second(2)), Work::default());
}

#[test]
fn deployment_is_work_until_its_time_is_up() {
    let flow = mk_flow();
    let mut queues = entered(&flow, 1);
    tick(&mut queues, &flow, &["dev"], second(60));
    let work = queues.work(&flow, second(61));
    let deploying = Deploying {
        environment: "dev".to_owned(),
        release: 1,
        attempt: 0,
    };
    assert_eq!(work.deploying, [deploying]);
    assert_eq!(work.next, Some(second(60) + READY_TIMEOUT));
    assert_eq!(queues.work(&Flow::default(), second(61)), Work::default());
}

#[test]
fn failure_makes_the_release_before_work_again() {
    let flow = mk_flow();
    let mut queues = entered(&flow, 1);
    deploy(&mut queues, &flow, &["dev"], second(60));
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(61));
    tick(&mut queues, &flow, &["dev"], second(120));
    report(
        &mut queues,
        &flow,
        "dev",
        Report::Failed("no".into()),
        second(130),
    );
    let work = queues.work(&flow, second(131));
    assert_eq!(work.deploying, []);
    let [(environment, restoring)] = &work.restoring[..] else {
        panic!("one restoration is expected: {work:?}");
    };
    assert_eq!((environment.as_str(), restoring.failed), ("dev", 2));
    assert_eq!(restoring.deployed, 1);
    assert_eq!(work.next, Some(second(130) + READY_TIMEOUT));
}

#[test]
fn release_is_looked_at_where_it_soaks_and_nowhere_else() {
    let flow = mk_flow();
    let mut queues = entered(&flow, 1);
    deploy(&mut queues, &flow, &["dev", "ha"], second(60));
    let work = queues.work(&flow, second(61));
    assert_eq!(work.soaking, [("ha".to_owned(), 1)]);
    assert_eq!(work.next, Some(second(160)));
    queues.live(&flow, ("ha", 1), false, second(70));
    let work = queues.work(&flow, second(71));
    assert_eq!((work.soaking.len(), work.next), (1, None));
    queues.live(&flow, ("ha", 1), true, second(80));
    queues.advance(&flow, second(170));
    assert_eq!(queues.work(&flow, second(171)), Work::default());
}
