//! Promotion at once: without a tick, without a soak, and not past what stops an environment.

use jiff::SignedDuration;
use pathline_release::Level;
use pathline_release::queue::{Environment, Flow, Freeze, Holds, Queues, Report};

use crate::support::{deploy, listed, mk_hold, mk_queues, mk_release, report, second, tick};

/// Returns two environments; the second one accepts patches, and wants them to soak for 100 s.
fn mk_flow() -> Flow {
    let prod = Environment {
        accepts: Some(Level::Patch),
        soak: SignedDuration::from_secs(100),
        ..Environment::new("prod", 1)
    };
    Flow::new(vec![Environment::new("dev", 0), prod]).expect("names differ")
}

/// Returns queues with one release, which is deployed in the first environment.
fn mk_deployed(flow: &Flow) -> Queues {
    let mut queues = mk_queues();
    queues.enter(flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, flow, &["dev"], second(60));
    queues
}

fn promote_now(queues: &mut Queues, flow: &Flow, to: (&str, Option<u64>)) -> Result<(), String> {
    let promoted = queues.promote_now((flow, &Holds::default()), to, second(90));
    promoted.map(drop).map_err(|error| error.to_string())
}

#[test]
fn queued_release_is_deployed_at_once() {
    let flow = mk_flow();
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    assert_eq!(promote_now(&mut queues, &flow, ("dev", None)), Ok(()));
    assert_eq!(listed(&queues, &flow), "dev.1=deploying");
}

#[test]
fn release_that_soaks_is_deployed_at_once() {
    let flow = mk_flow();
    let mut queues = mk_deployed(&flow);
    assert_eq!(promote_now(&mut queues, &flow, ("prod", None)), Ok(()));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=deploying");
    let entry = queues.entry("prod", 1).expect("it is there");
    assert!(entry.is_promoted && entry.attempt == 0);
}

#[test]
fn promotion_of_what_soaks_says_so_and_changes_nothing() {
    let flow = mk_flow();
    let mut queues = mk_deployed(&flow);
    let refused = queues.promote(&flow, ("prod", None), second(90));
    let refused = refused.expect_err("it soaks").to_string();
    assert!(
        refused.starts_with("release 1 has not soaked for `prod`"),
        "{refused}"
    );
    assert_eq!(listed(&queues, &flow), "dev.1=deployed");
}

#[test]
fn release_that_was_replaced_while_it_soaked_is_deployed_at_once_if_somebody_names_it() {
    let flow = mk_flow();
    let mut queues = mk_deployed(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(61));
    deploy(&mut queues, &flow, &["dev"], second(80));
    let mut unnamed = queues.clone();
    assert_eq!(promote_now(&mut queues, &flow, ("prod", Some(1))), Ok(()));
    assert!(listed(&queues, &flow).ends_with("prod.1=deploying"));
    assert_eq!(promote_now(&mut unnamed, &flow, ("prod", None)), Ok(()));
    assert!(listed(&unnamed, &flow).ends_with("prod.2=deploying"));
}

#[test]
fn held_release_is_deployed_at_once_and_older_ones_make_room() {
    let flow = mk_flow();
    let mut queues = mk_queues();
    for number in 1..=2 {
        let mut held = mk_release(number, "1.0.0");
        held.configuration.vetos.auto_deploy = false;
        queues.enter(&flow, &held, second(1));
    }
    assert_eq!(promote_now(&mut queues, &flow, ("dev", None)), Ok(()));
    assert_eq!(listed(&queues, &flow), "dev.1=superseded dev.2=deploying");
}

#[test]
fn failed_release_is_deployed_at_once_as_a_new_attempt() {
    let flow = mk_flow();
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &flow, &["dev"], second(60));
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(70));
    assert_eq!(promote_now(&mut queues, &flow, ("dev", None)), Ok(()));
    let entry = queues.entry("dev", 1).expect("it is there");
    assert_eq!((entry.attempt, entry.message.as_deref()), (1, None));
    assert_eq!(
        queues.report(&flow, ("dev", 1), 0, Report::Ready, second(91)),
        [],
        "of the attempt that failed"
    );
    report(&mut queues, &flow, "dev", Report::Ready, second(92));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed");
}

#[test]
fn what_is_taken_at_once_ends_the_count_of_what_was_live() {
    let flow = mk_flow();
    let mut queues = mk_deployed(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(61));
    assert_eq!(promote_now(&mut queues, &flow, ("dev", None)), Ok(()));
    let entry = queues.entry("dev", 1).expect("it is there");
    assert_eq!(entry.live.since, None);
}

#[test]
fn promotion_at_once_is_refused_with_the_reason() {
    let flow = mk_flow();
    let mut queues = mk_deployed(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(61));
    for (to, expected) in [
        (("test", None), "there is no environment `test`"),
        (("prod", Some(9)), "there is no release 9"),
        (
            ("prod", Some(2)),
            "release 2 has not got to `prod`: it is queued in `dev`",
        ),
        (("dev", Some(1)), "release 1 is deployed in `dev`"),
    ] {
        let before = queues.clone();
        let refused = promote_now(&mut queues, &flow, to);
        assert_eq!(refused, Err(expected.to_owned()), "{to:?}");
        assert_eq!(queues, before, "nothing has changed");
    }
    let soaking = queues.promote(&flow, ("prod", Some(1)), second(90));
    assert_eq!(
        soaking.expect_err("it soaks").to_string(),
        "release 1 has not soaked for `prod`; `pathline release promote prod a.b --release 1 --now` deploys it all the same"
    );
    tick(&mut queues, &flow, &["dev"], second(80));
    assert_eq!(
        promote_now(&mut queues, &flow, ("dev", Some(2))),
        Err("release 2 is deploying in `dev`".to_owned())
    );
    queues.enter(&flow, &mk_release(3, "1.0.2"), second(81));
    assert_eq!(
        promote_now(&mut queues, &flow, ("dev", None)),
        Err("release 2 is being deployed in `dev`".to_owned())
    );
    queues.delete(second(82));
    assert_eq!(
        promote_now(&mut queues, &flow, ("dev", None)),
        Err("the tracker was deleted".to_owned())
    );
}

#[test]
fn nothing_is_deployed_by_hand_where_the_application_keeps_out() {
    let before = crate::support::mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    let mut omitting = mk_release(1, "1.0.0");
    omitting.configuration.vetos.omit_from_namespaces = vec!["prod".to_owned()];
    queues.enter(&before, &omitting, second(1));
    deploy(&mut queues, &before, &["dev"], second(60));
    queues.enter(&before, &mk_release(2, "1.0.1"), second(61));
    deploy(&mut queues, &before, &["dev"], second(80));
    let flow = mk_flow();
    assert_eq!(
        promote_now(&mut queues, &flow, ("prod", Some(1))),
        Err("`a.b` keeps out of `prod`".to_owned())
    );
    assert!(
        queues
            .rollback_target((&flow, &Holds::default()), ("prod", Some(1)), second(1000))
            .is_err()
    );
}

#[test]
fn promotion_at_once_is_refused_where_nothing_is_taken() {
    let mut dev = Environment::new("dev", 0);
    dev.freezes = vec![Freeze {
        from: second(0),
        until: second(86_400),
        reason: "holidays".to_owned(),
    }];
    let frozen = Flow::new(vec![dev]).expect("one name");
    let open = crate::support::mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    queues.enter(&open, &mk_release(1, "1.0.0"), second(1));
    let mut halts = Holds::default();
    let promote_now = |queues: &Queues, flow: &Flow, halts: &Holds| {
        let promoted = queues
            .clone()
            .promote_now((flow, halts), ("dev", None), second(90));
        promoted.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(
        promote_now(&queues, &frozen, &halts),
        Err("`dev` is frozen until 1970-01-02T00:00:00+00:00: holidays".to_owned())
    );
    assert_eq!(promote_now(&queues, &open, &halts), Ok(()));
    queues.hold("dev", mk_hold("broken", 7));
    assert_eq!(
        promote_now(&queues, &open, &halts),
        Err("`a.b` is held by ann since 1970-01-01T00:00:07+00:00 in `dev`: broken".to_owned())
    );
    halts.hold("dev", mk_hold("", 8));
    assert_eq!(
        promote_now(&queues, &open, &halts),
        Err("`dev` is held by ann since 1970-01-01T00:00:08+00:00".to_owned())
    );
    let mut held = mk_release(2, "1.0.0");
    held.configuration.vetos.auto_deploy = false;
    queues.enter(&frozen, &held, second(2));
    let queued = queues.promote(&frozen, ("dev", None), second(90));
    assert!(queued.is_ok(), "what waits for a tick may be approved");
}
