//! Rollbacks: an environment gets back what it had, and keeps it until it is resumed.

use jiff::SignedDuration;
use pathline_release::queue::{
    Awaited, Environment, Flow, Freeze, Hold, Holds, NotRolledBack, Queues, Report,
};
use pathline_release::tracker::{SourceRead, Tracker};
use pathline_release::{Cause, Release, Rollback};

use crate::support::{
    deploy, listed, mk_configuration, mk_cycle, mk_flow, mk_hold, mk_image, mk_queues, mk_release,
    mk_rollback, report, second, tick,
};

fn roll_back(queues: &mut Queues, flow: &Flow, release: &Release) {
    let hold = mk_hold("rolled back", 200);
    queues.roll_back(flow, release, hold, second(200));
}

fn mk_three() -> Flow {
    mk_flow(&[("dev", 0), ("east", 1), ("west", 1), ("prod", 2)])
}

/// Returns queues with so many releases, each of which is deployed everywhere.
fn mk_deployed(flow: &Flow, releases: u64) -> Queues {
    let mut queues = mk_queues();
    for number in 1..=releases {
        queues.enter(flow, &mk_release(number, "1.0.0"), second(1));
        let names = flow.environments().iter().map(|it| it.name.as_str());
        let names: Vec<_> = names.collect();
        deploy(&mut queues, flow, &names, second(60 * number.cast_signed()));
    }
    queues
}

#[test]
fn rollback_is_deployed_at_once_skipped_before_and_goes_nowhere_else() {
    let flow = mk_three();
    let mut queues = mk_deployed(&flow, 2);
    roll_back(&mut queues, &flow, &mk_rollback(3, "east", 1));
    let of_third = |queues: &Queues| {
        let all = listed(queues, &flow);
        let all = all.split(' ').filter(|it| it.contains(".3="));
        all.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of_third(&queues), "dev.3=skipped east.3=deploying");
    report(&mut queues, &flow, "east", Report::Ready, second(210));
    assert_eq!(queues.advance(&flow, second(300)), []);
    assert_eq!(of_third(&queues), "dev.3=skipped east.3=deployed");
}

#[test]
fn environment_stays_rolled_back_until_it_is_resumed() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_deployed(&flow, 2);
    roll_back(&mut queues, &flow, &mk_rollback(3, "prod", 1));
    report(&mut queues, &flow, "prod", Report::Ready, second(210));
    queues.enter(&flow, &mk_release(4, "1.0.1"), second(211));
    deploy(&mut queues, &flow, &["dev"], second(240));
    assert_eq!(tick(&mut queues, &flow, &["prod"], second(240)), []);
    assert_eq!(queues.resume("prod"), Some(mk_hold("rolled back", 200)));
    deploy(&mut queues, &flow, &["prod"], second(300));
    assert!(listed(&queues, &flow).ends_with("prod.3=deployed prod.4=deployed"));
}

#[test]
fn neither_holds_nor_freezes_stop_a_rollback() {
    let mut prod = Environment::new("prod", 1);
    prod.freezes = vec![Freeze {
        from: second(100),
        until: second(1000),
        reason: "holidays".to_owned(),
    }];
    let flow = Flow::new(vec![Environment::new("dev", 0), prod]).expect("names differ");
    let open = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_deployed(&open, 2);
    queues.hold("prod", mk_hold("broken", 100));
    let halts: Holds = [("prod".to_owned(), mk_hold("an incident", 100))]
        .into_iter()
        .collect();
    roll_back(&mut queues, &flow, &mk_rollback(3, "prod", 1));
    assert!(listed(&queues, &flow).ends_with("prod.3=deploying"));
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "prod", failed, second(210));
    let mut at_once = queues.clone();
    let again = at_once.promote_now((&flow, &halts), ("prod", Some(3)), second(220));
    assert_eq!(again.map(|it| it.len()), Ok(1), "once more, at once");
    let again = queues.promote(&flow, ("prod", Some(3)), second(220));
    assert_eq!(again.map(|it| it.len()), Ok(1));
    let taken = queues.tick((&flow, &halts), &["prod"], second(240));
    assert_eq!(taken.len(), 1, "once more, at the next tick");
}

#[test]
fn whatever_waits_or_is_deployed_where_a_rollback_begins_makes_room() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_deployed(&flow, 2);
    for number in 3..=4 {
        queues.enter(&flow, &mk_release(number, "1.0.0"), second(190));
        deploy(&mut queues, &flow, &["dev"], second(190));
        if number == 3 {
            tick(&mut queues, &flow, &["prod"], second(190));
        }
    }
    assert!(listed(&queues, &flow).ends_with("prod.3=deploying prod.4=queued"));
    roll_back(&mut queues, &flow, &mk_rollback(5, "prod", 1));
    assert!(
        listed(&queues, &flow).ends_with("prod.3=superseded prod.4=superseded prod.5=deploying")
    );
    let late = queues.report(&flow, ("prod", 3), 0, Report::Ready, second(210));
    assert_eq!(late, [], "what was taken over is not heard");
}

#[test]
fn release_that_a_rollback_has_replaced_is_brought_back_by_its_content() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_deployed(&flow, 2);
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(190));
    tick(&mut queues, &flow, &["dev"], second(190));
    roll_back(&mut queues, &flow, &mk_rollback(4, "prod", 1));
    report(&mut queues, &flow, "prod", Report::Ready, second(210));
    report(&mut queues, &flow, "dev", Report::Ready, second(220));
    assert!(listed(&queues, &flow).ends_with("prod.3=superseded prod.4=deployed"));
    let refused = queues.promote(&flow, ("prod", Some(3)), second(230));
    assert_eq!(
        refused.expect_err("it was replaced").to_string(),
        "release 4, a rollback, came before release 3 in `prod`; \
         `pathline release rollback prod a.b --release 3` deploys its content"
    );
    assert_eq!(
        queues.rollback_target((&flow, &Holds::default()), ("prod", Some(3)), second(1000)),
        Ok(3)
    );
    roll_back(&mut queues, &flow, &mk_rollback(5, "prod", 3));
    assert!(listed(&queues, &flow).ends_with("prod.5=deploying"));
}

#[test]
fn rollback_is_not_promoted_elsewhere() {
    let flow = mk_three();
    let mut queues = mk_deployed(&flow, 2);
    roll_back(&mut queues, &flow, &mk_rollback(3, "east", 1));
    for environment in ["dev", "west", "prod"] {
        let refused = queues.promote_now(
            (&flow, &Holds::default()),
            (environment, Some(3)),
            second(230),
        );
        assert_eq!(
            refused.expect_err("it is for another one").to_string(),
            "release 3 is a rollback, of `east` alone"
        );
    }
}

#[test]
fn target_is_the_newest_other_content_that_was_deployed_before() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let target = |queues: &Queues| {
        queues.rollback_target((&flow, &Holds::default()), ("prod", None), second(1000))
    };
    assert_eq!(
        target(&mk_queues()),
        Err(NotRolledBack::Nothing("prod".to_owned()))
    );
    assert_eq!(
        target(&mk_deployed(&flow, 1)),
        Err(NotRolledBack::Nothing("prod".to_owned()))
    );
    let mut queues = mk_deployed(&flow, 3);
    assert_eq!(target(&queues), Ok(2));
    roll_back(&mut queues, &flow, &mk_rollback(4, "prod", 2));
    assert_eq!(
        target(&queues),
        Err(NotRolledBack::Busy {
            environment: "prod".to_owned(),
            deploying: 4
        }),
        "asked twice"
    );
    report(&mut queues, &flow, "prod", Report::Ready, second(210));
    assert_eq!(target(&queues), Ok(3), "the one before, as others undo");
    roll_back(&mut queues, &flow, &mk_rollback(5, "prod", 2));
    report(&mut queues, &flow, "prod", Report::Ready, second(220));
    assert_eq!(target(&queues), Ok(3), "4 has the same content as 5");
}

#[test]
fn target_of_what_has_failed_is_what_was_deployed_last() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_deployed(&flow, 2);
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(190));
    tick(&mut queues, &flow, &["dev"], second(240));
    let target = |queues: &Queues| {
        queues.rollback_target((&flow, &Holds::default()), ("dev", None), second(1000))
    };
    assert_eq!(target(&queues), Ok(2), "while it is being deployed");
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(250));
    assert_eq!(target(&queues), Ok(2));
}

#[test]
fn rollback_is_refused_with_the_reason() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_deployed(&flow, 1);
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(190));
    let mut skipped = mk_release(3, "1.0.0");
    skipped.configuration.vetos.omit_from_namespaces = vec!["dev".to_owned()];
    queues.enter(&flow, &skipped, second(191));
    for (environment, release, expected) in [
        ("test", None, "there is no environment `test`"),
        ("prod", Some(9), "there is no release 9"),
        ("prod", Some(2), "release 2 has not got to `prod`"),
        ("dev", Some(3), "release 3 has not got to `dev`"),
        (
            "prod",
            None,
            "nothing else was deployed in `prod` before; name a release to deploy its content",
        ),
    ] {
        let target = queues.rollback_target(
            (&flow, &Holds::default()),
            (environment, release),
            second(1000),
        );
        assert_eq!(target.expect_err("it is refused").to_string(), expected);
    }
    queues.delete(second(192));
    assert_eq!(
        queues.rollback_target((&flow, &Holds::default()), ("prod", Some(1)), second(1000)),
        Err(NotRolledBack::Deleted)
    );
    let rollback = mk_rollback(4, "prod", 1);
    let begun = queues.roll_back(&flow, &rollback, mk_hold("", 200), second(200));
    assert_eq!(begun, []);
}

#[test]
fn rollback_that_is_known_does_not_begin_again() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_deployed(&flow, 2);
    let rollback = mk_rollback(3, "dev", 1);
    roll_back(&mut queues, &flow, &rollback);
    let again = queues.roll_back(&flow, &rollback, mk_hold("", 200), second(200));
    assert_eq!(again, []);
}

#[test]
fn hold_of_a_rollback_has_the_reason_that_was_given_or_the_rollback_itself() {
    let hold = |reason| Hold::of_rollback(7, reason, "ann".to_owned(), second(1));
    assert_eq!(hold(Some("broken".to_owned())), mk_hold("broken", 1));
    assert_eq!(hold(None), mk_hold("rolled back to release 7", 1));
}

#[test]
fn rollback_has_the_next_number_and_no_poll_undoes_it() {
    let mut tracker = Tracker::new(SignedDuration::ZERO);
    let configuration = mk_configuration("C1", "latest");
    let observe = |tracker: &mut Tracker, digest: &str| {
        let image = Some(mk_image("latest", digest));
        let source = SourceRead::Read(configuration.clone());
        let cycle = mk_cycle(tracker, &[(&configuration, image)], source);
        tracker.observe(cycle, second(2)).release
    };
    let first = observe(&mut tracker, "D1").expect("it is formed");
    let second_release = observe(&mut tracker, "D2").expect("it is formed");
    let under_way = mk_cycle(&tracker, &[], SourceRead::Unchanged);
    let rollback = tracker.roll_back("prod", &first, second(3));
    let expected = Release {
        number: 3,
        cause: Cause::Rollback,
        previous: Some(2),
        at: second(3),
        rollback: Some(Rollback {
            environment: "prod".to_owned(),
            to: 1,
        }),
        ..first
    };
    assert_eq!(rollback, expected);
    assert_eq!(tracker.last_release(), Some(&second_release));
    assert!(tracker.observe(under_way, second(4)).is_discarded);
    assert_eq!(observe(&mut tracker, "D2"), None, "nothing has changed");
    let stored = serde_json::to_string(&tracker).expect("it is written");
    let mut tracker: Tracker = serde_json::from_str(&stored).expect("it is read");
    let next = observe(&mut tracker, "D3").expect("it is formed");
    assert_eq!((next.number, next.previous), (4, Some(2)));
}

#[test]
fn what_was_never_deployed_is_no_rollback_that_gets_past_a_freeze_or_a_hold_of_the_environment() {
    let freeze = Freeze {
        from: second(0),
        until: second(10_000),
        reason: "audit".to_owned(),
    };
    let mut frozen = mk_flow(&[("dev", 0), ("prod", 1)]).environments().to_vec();
    frozen[1].freezes = vec![freeze];
    let frozen = Flow::new(frozen).expect("a flow");
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_deployed(&flow, 2);
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(190));
    deploy(&mut queues, &flow, &["dev"], second(240));
    assert!(listed(&queues, &flow).ends_with("prod.3=queued"));
    let mut halts = Holds::default();
    let target = |flow, halts: &Holds, release| {
        let target = ("prod", Some(release));
        let target = queues.rollback_target((flow, halts), target, second(250));
        target.map_err(|it| it.to_string())
    };
    let refused = target(&frozen, &halts, 3).expect_err("it is new there");
    assert!(refused.contains("never deployed in `prod`"), "{refused}");
    assert!(refused.contains("audit"), "{refused}");
    assert_eq!(
        target(&frozen, &halts, 1),
        Ok(1),
        "nothing stops a rollback"
    );
    assert_eq!(target(&flow, &halts, 3), Ok(3));
    halts.hold("prod", mk_hold("stop", 245));
    assert!(target(&flow, &halts, 3).is_err());
    assert_eq!(target(&flow, &halts, 1), Ok(1));
}

#[test]
fn target_is_the_same_where_what_has_failed_waits_to_be_tried_again() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_deployed(&flow, 2);
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(190));
    tick(&mut queues, &flow, &["dev"], second(240));
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(250));
    queues
        .promote(&flow, ("dev", None), second(251))
        .expect("it has failed");
    let target = queues.rollback_target((&flow, &Holds::default()), ("dev", None), second(252));
    assert_eq!(target, Ok(2));
}

#[test]
fn what_has_failed_and_is_kept_is_what_the_environment_has() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_deployed(&flow, 2);
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(190));
    tick(&mut queues, &flow, &["dev"], second(240));
    let halts = Holds::default();
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(250));
    let told = &queues.why((&flow, &halts), 2, second(260))[0].sentence;
    assert!(
        told.contains("release 3, which has failed, was written in its place"),
        "{told}"
    );
    let awaited = queues.awaited((&flow, &halts), ("dev", &[2]), second(260));
    assert_eq!(awaited, Some(Awaited::Superseded { by: 3 }));
    assert!(!queues.is_deployed_now("dev", 2));

    roll_back(&mut queues, &flow, &mk_rollback(4, "dev", 1));
    let failed = Report::Failed("another loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(280));
    assert_eq!(queues.foremost("dev"), Some(4), "however it went");
}
