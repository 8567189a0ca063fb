//! Answers to why a release is not there yet: the sentences, and the earliest times.

use jiff::{SignedDuration, Timestamp};
use pathline_release::Level;
use pathline_release::queue::{
    Environment, Flow, Freeze, Holds, OnFailure, Promotion, Queues, Report,
};
use pathline_release::timeline::{Rule, Timeline, time_zone};
use serde_json::json;

use crate::support::{
    deploy, mk_flow, mk_hold, mk_queues, mk_release, mk_rollback, report, second, tick,
};

/// Returns the answers, one a line: the environment, the earliest time in seconds, and the sentence.
fn why(queues: &Queues, (flow, halts): (&Flow, &Holds), release: u64, now: i64) -> String {
    let answers = queues.why((flow, halts), release, second(now));
    let answers = answers.into_iter().map(|it| {
        let earliest = match it.earliest {
            Some(at) => at.as_second().to_string(),
            None if it.never => "never".to_owned(),
            None => "-".to_owned(),
        };
        format!("{} {earliest} {}\n", it.environment, it.sentence)
    });
    answers.collect()
}

fn why_of(queues: &Queues, flow: &Flow, release: u64, now: i64) -> String {
    why(queues, (flow, &Holds::default()), release, now)
}

/// Returns the answer for the last environment.
fn last(queues: &Queues, flow: &Flow, release: u64, now: i64) -> String {
    let answers = why_of(queues, flow, release, now);
    answers.lines().last().expect("an answer").to_owned()
}

/// Returns two environments, the second one after a change to it.
fn mk_two(change: impl FnOnce(&mut Environment)) -> Flow {
    let mut prod = Environment::new("prod", 1);
    change(&mut prod);
    Flow::new(vec![Environment::new("dev", 0), prod]).expect("names differ")
}

/// Returns queues with one release, which is entered at second 1.
fn mk_entered(flow: &Flow) -> Queues {
    let mut queues = mk_queues();
    queues.enter(flow, &mk_release(1, "1.0.0"), second(1));
    queues
}

/// Returns queues with one release, which is deployed in the first environment at second 60.
fn mk_deployed(flow: &Flow) -> Queues {
    let mut queues = mk_entered(flow);
    deploy(&mut queues, flow, &["dev"], second(60));
    queues
}

#[test]
fn release_goes_from_tick_to_tick() {
    let flow = mk_flow(&[("dev", 0), ("ha", 1), ("prod", 2)]);
    let mut queues = mk_entered(&flow);
    assert_eq!(
        why_of(&queues, &flow, 1, 30),
        "dev 60 release 1 is queued; `dev` takes it at 1970-01-01T00:01:00+00:00\n\
         ha 120 release 1 is queued in `dev`; `ha` takes it at 1970-01-01T00:02:00+00:00 at the earliest\n\
         prod 180 release 1 is queued in `dev`; `prod` takes it at 1970-01-01T00:03:00+00:00 at the earliest\n"
    );
    tick(&mut queues, &flow, &["dev"], second(60));
    assert_eq!(
        why_of(&queues, &flow, 1, 70),
        "dev - release 1 is being deployed since 1970-01-01T00:01:00+00:00\n\
         ha 120 release 1 is deploying in `dev`; `ha` takes it at 1970-01-01T00:02:00+00:00 at the earliest\n\
         prod 180 release 1 is deploying in `dev`; `prod` takes it at 1970-01-01T00:03:00+00:00 at the earliest\n"
    );
    report(&mut queues, &flow, "dev", Report::Ready, second(80));
    deploy(&mut queues, &flow, &["ha", "prod"], second(120));
    assert_eq!(
        why_of(&queues, &flow, 1, 130),
        "dev - release 1 is deployed since 1970-01-01T00:01:20+00:00\n\
         ha - release 1 is deployed since 1970-01-01T00:02:00+00:00\n\
         prod - release 1 is deployed since 1970-01-01T00:02:00+00:00\n"
    );
    assert_eq!(why_of(&queues, &flow, 2, 130), "", "nobody knows it");
}

#[test]
fn times_are_those_of_the_environment() {
    let flow = mk_two(|prod| {
        let rule = Rule::from_json(&json!({"hour": 17, "minute": 0})).expect("a rule");
        prod.timeline = Timeline::new(rule, time_zone("Europe/Berlin").expect("a zone"));
    });
    let queues = mk_deployed(&flow);
    let now: Timestamp = "2026-03-28T17:00:00+01:00".parse().expect("an instant");
    assert_eq!(
        last(&queues, &flow, 1, now.as_second()),
        format!(
            "prod {} release 1 is queued; `prod` takes it at 2026-03-29T17:00:00+02:00",
            now.as_second() + 23 * 3600
        )
    );
}

#[test]
fn environment_that_deploys_something_takes_the_next_after_it() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_entered(&flow);
    tick(&mut queues, &flow, &["dev"], second(60));
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(61));
    assert_eq!(
        last(&queues, &flow, 2, 70),
        "dev 120 release 2 is queued behind release 1, which is being deployed; \
         `dev` takes it at 1970-01-01T00:02:00+00:00 at the earliest"
    );
}

#[test]
fn release_soaks_before_the_next_tick() {
    let flow = mk_two(|prod| prod.soak = SignedDuration::from_secs(90));
    let mut queues = mk_deployed(&flow);
    let soaks = "release 1 soaks in `dev` until 1970-01-01T00:02:30+00:00; \
                 `prod` takes it at 1970-01-01T00:03:00+00:00";
    assert_eq!(last(&queues, &flow, 1, 70), format!("prod 180 {soaks}"));
    queues.live(&flow, ("dev", 1), false, second(80));
    assert_eq!(
        last(&queues, &flow, 1, 90),
        "prod - release 1 soaks, and is not live in `dev`: `pathline release why a.b --release 1` says why; \
         `pathline release promote prod a.b --release 1 --now` deploys it all the same"
    );
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(91));
    deploy(&mut queues, &flow, &["dev"], second(120));
    assert_eq!(
        last(&queues, &flow, 1, 130),
        "prod - release 1 was replaced in `dev`; \
         `pathline release promote prod a.b --release 1 --now` deploys it all the same"
    );
}

#[test]
fn release_that_has_soaked_at_a_tick_is_taken_then() {
    let flow = mk_two(|prod| prod.soak = SignedDuration::from_secs(60));
    let queues = mk_deployed(&flow);
    assert!(last(&queues, &flow, 1, 70).starts_with("prod 120 "));
    let queues = mk_entered(&flow);
    assert_eq!(
        last(&queues, &flow, 1, 30),
        "prod 120 release 1 is queued in `dev`; `prod` takes it at 1970-01-01T00:02:00+00:00 at the earliest"
    );
}

#[test]
fn release_that_is_about_to_be_overtaken_has_no_time() {
    let flow = mk_two(|prod| prod.soak = SignedDuration::from_secs(90));
    let mut queues = mk_deployed(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(61));
    assert_eq!(
        last(&queues, &flow, 1, 70),
        "prod - release 1 soaks in `dev` until 1970-01-01T00:02:30+00:00, and release 2 takes its \
         place there before; `pathline release promote prod a.b --release 1 --now` deploys it all \
         the same"
    );
    let flow = mk_two(|prod| {
        let rule = Rule::from_json(&json!({"minute": 30})).expect("a rule");
        prod.timeline = Timeline::new(rule, time_zone("UTC").expect("a zone"));
    });
    let mut queues = mk_deployed(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(61));
    assert_eq!(
        last(&queues, &flow, 1, 70),
        "prod - release 1 is queued; release 2 takes its place in `prod`"
    );
    assert!(last(&queues, &flow, 2, 70).starts_with("prod 1800 "));
}

#[test]
fn freeze_is_named_with_its_end_and_its_reason() {
    let flow = mk_two(|prod| {
        prod.freezes = vec![Freeze {
            from: second(150),
            until: second(330),
            reason: "holidays".to_owned(),
        }];
    });
    let queues = mk_entered(&flow);
    assert!(
        last(&queues, &flow, 1, 30)
            .starts_with("prod 120 release 1 is queued in `dev`; `prod` takes"),
        "it comes before"
    );
    let frozen = "`prod` is frozen until 1970-01-01T00:05:30+00:00: holidays, \
                  and takes it at 1970-01-01T00:06:00+00:00";
    for (queues, now, there, at) in [
        (
            mk_entered(&flow),
            70,
            "release 1 is queued in `dev`",
            " at the earliest",
        ),
        (mk_deployed(&flow), 130, "release 1 is queued", ""),
        (mk_deployed(&flow), 200, "release 1 is queued", ""),
    ] {
        let expected = format!("prod 360 {there}; {frozen}{at}");
        assert_eq!(last(&queues, &flow, 1, now), expected);
    }
}

#[test]
fn holds_are_named_with_who_and_why_and_how_they_end() {
    let flow = mk_two(|_| {});
    let mut queues = mk_deployed(&flow);
    let mut halts = Holds::default();
    queues.hold("prod", mk_hold("broken", 7));
    let held = "`a.b` is held by ann since 1970-01-01T00:00:07+00:00 in `prod`: broken; \
                `pathline release resume prod a.b`";
    assert_eq!(
        last(&queues, &flow, 1, 70),
        format!("prod - release 1 is queued; {held}")
    );
    halts.hold("prod", mk_hold("an incident", 8));
    let halted = "`prod` is held by ann since 1970-01-01T00:00:08+00:00: an incident; \
                  `pathline release resume prod`";
    let answers = why(&queues, (&flow, &halts), 1, 70);
    let both = format!("prod - release 1 is queued; {halted}; {held}\n");
    assert!(answers.ends_with(&both), "{answers}");
    let answers = why(&mk_entered(&flow), (&flow, &halts), 1, 30);
    assert!(answers.ends_with(&format!("prod - release 1 is queued in `dev`; {halted}\n")));
}

#[test]
fn what_is_held_says_why_and_how_it_is_promoted() {
    let promote = "`pathline release promote prod a.b --release 2`";
    let check = |flow: &Flow, auto_deploy: bool, reason: &str| {
        let mut queues = mk_deployed(flow);
        let _held_only_where_it_is_promoted = queues.promote(flow, ("prod", None), second(60));
        deploy(&mut queues, flow, &["prod"], second(60));
        let mut release = mk_release(2, "1.1.0");
        release.configuration.vetos.auto_deploy = auto_deploy;
        queues.enter(flow, &release, second(61));
        if auto_deploy {
            assert_eq!(
                last(&queues, flow, 2, 70),
                format!(
                    "prod - release 2 is queued in `dev`; {reason}, and it will be held there; {promote}"
                )
            );
        } else {
            assert_eq!(
                last(&queues, flow, 2, 70),
                format!(
                    "prod - in `dev`: release 2 is held: {reason}; `pathline release promote dev a.b --release 2`"
                )
            );
            queues
                .promote(flow, ("dev", None), second(80))
                .expect("it is held");
        }
        deploy(&mut queues, flow, &["dev"], second(120));
        assert_eq!(
            last(&queues, flow, 2, 130),
            format!("prod - release 2 is held: {reason}; {promote}")
        );
    };
    let manual = mk_two(|prod| prod.promotion = Promotion::Manual);
    check(&manual, true, "`prod` is promoted by hand");
    let patches = mk_two(|prod| prod.accepts = Some(Level::Patch));
    let step = "it is a step of level minor, and `prod` accepts patch";
    check(&patches, true, step);
    let veto = "`a.b` is deployed by hand (`autoDeploy: false`)";
    check(&mk_two(|_| {}), false, veto);
}

#[test]
fn what_has_failed_says_why_and_what_became_of_the_rest() {
    let flow = mk_two(|prod| prod.on_failure = OnFailure::Restore);
    let mut queues = mk_deployed(&flow);
    deploy(&mut queues, &flow, &["prod"], second(60));
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(61));
    deploy(&mut queues, &flow, &["dev"], second(120));
    tick(&mut queues, &flow, &["prod"], second(120));
    let failed = || Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "prod", failed(), second(130));
    let again = "`pathline release promote prod a.b --release 2` tries again";
    let check = |queues: &Queues, restored: &str| {
        let expected = format!("prod - release 2 has failed: crash loop; {restored}; {again}");
        assert_eq!(last(queues, &flow, 2, 140), expected);
    };
    check(&queues, "release 1 is being restored");
    let mut not_restored = queues.clone();
    not_restored.report_restore(("prod", 2), 0, failed(), second(135));
    check(&not_restored, "release 1 could not be restored: crash loop");
    queues.report_restore(("prod", 2), 0, Report::Ready, second(135));
    check(&queues, "release 1 is restored");
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(141));
    deploy(&mut queues, &flow, &["dev", "prod"], second(180));
    assert_eq!(
        last(&queues, &flow, 2, 190),
        "prod never release 2 has failed: crash loop; release 3 has replaced it"
    );
}

#[test]
fn failure_stops_what_comes_after_it() {
    let flow = mk_two(|_| {});
    let mut queues = mk_entered(&flow);
    tick(&mut queues, &flow, &["dev"], second(60));
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(70));
    assert_eq!(
        last(&queues, &flow, 1, 80),
        "prod - in `dev`: release 1 has failed: crash loop; `pathline release promote dev a.b --release 1` tries again",
        "somebody may try again"
    );
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(81));
    assert_eq!(
        last(&queues, &flow, 1, 90),
        "prod never in `dev`: release 1 has failed: crash loop; release 2 has replaced it"
    );
}

#[test]
fn what_gets_nowhere_any_more_says_so() {
    let flow = mk_two(|_| {});
    let mut queues = mk_entered(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(2));
    assert_eq!(
        why_of(&queues, &flow, 1, 30),
        "dev never release 2 has taken the place of release 1\n\
         prod never in `dev`: release 2 has taken the place of release 1\n"
    );
    let mut omitting = mk_release(3, "1.0.0");
    omitting.configuration.vetos.omit_from_namespaces = vec!["prod".to_owned()];
    queues.enter(&flow, &omitting, second(3));
    assert_eq!(
        last(&queues, &flow, 3, 30),
        "prod never release 3 is queued in `dev`; `a.b` keeps out of `prod`"
    );
    deploy(&mut queues, &flow, &["dev"], second(60));
    assert_eq!(
        last(&queues, &flow, 3, 70),
        "prod never `a.b` keeps out of `prod`"
    );
    queues.enter(&flow, &mk_release(4, "1.0.0"), second(71));
    queues.delete(second(72));
    assert_eq!(
        why_of(&queues, &flow, 4, 80),
        "dev never the tracker was deleted\nprod never the tracker was deleted\n"
    );
}

#[test]
fn rollback_is_told_where_it_is_and_where_it_is_not() {
    let flow = mk_flow(&[("dev", 0), ("east", 1), ("west", 1)]);
    let mut queues = mk_deployed(&flow);
    deploy(&mut queues, &flow, &["east", "west"], second(60));
    queues.enter(&flow, &mk_release(2, "1.0.0"), second(61));
    deploy(&mut queues, &flow, &["dev"], second(120));
    let rollback = mk_rollback(3, "east", 1);
    queues.roll_back(&flow, &rollback, mk_hold("rolled back", 130), second(130));
    assert_eq!(
        why_of(&queues, &flow, 3, 140),
        "dev never release 3 is a rollback, of `east` alone\n\
         east - release 3 is being deployed since 1970-01-01T00:02:10+00:00; \
         `a.b` is held by ann since 1970-01-01T00:02:10+00:00 in `east`: rolled back; \
         `pathline release resume east a.b`\n\
         west never release 3 is a rollback, of `east` alone\n"
    );
    let answers = why_of(&queues, &flow, 2, 140);
    let replaced = "east never release 3, a rollback, came before release 2 could be deployed; \
                    `pathline release rollback east a.b --release 2` deploys its content\n";
    assert!(answers.contains(replaced), "{answers}");
}

#[test]
fn environment_without_ticks_takes_nothing() {
    let flow = mk_two(|prod| {
        let rule = Rule::from_json(&json!({"year": 1970, "month": 0, "date": 1, "hour": 0}));
        let zone = time_zone("UTC").expect("a zone");
        prod.timeline = Timeline::new(rule.expect("a rule"), zone);
    });
    let queues = mk_deployed(&flow);
    assert_eq!(
        last(&queues, &flow, 1, 3600),
        "prod - release 1 is queued; the timeline of `prod` has no tick that could take it"
    );
}

#[test]
fn environment_that_was_removed_and_made_again_takes_it_again() {
    let flow = mk_two(|_| {});
    let mut queues = mk_deployed(&flow);
    queues.advance(&mk_flow(&[("dev", 0)]), second(70));
    assert_eq!(
        last(&queues, &flow, 1, 80),
        "prod 120 release 1 is queued; `prod` takes it at 1970-01-01T00:02:00+00:00"
    );
}

#[test]
fn release_that_is_due_is_taken_at_the_tick_of_a_moment_ago_and_not_at_the_next_one() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    let earliest = |queues: &Queues, milliseconds| {
        let now = jiff::Timestamp::from_millisecond(milliseconds).expect("a time");
        queues.why((&flow, &Holds::default()), 1, now)[0].earliest
    };
    assert_eq!(earliest(&queues, 59_900), Some(second(60)));
    assert_eq!(
        earliest(&queues, 60_100),
        Some(second(60)),
        "nobody has taken it yet"
    );
    assert_eq!(
        earliest(&queues, 61_100),
        Some(second(120)),
        "the tick was missed"
    );
    let mut later = mk_queues();
    later.enter(
        &flow,
        &mk_release(1, "1.0.0"),
        second(60) + SignedDuration::from_millis(50),
    );
    assert_eq!(
        earliest(&later, 60_100),
        Some(second(120)),
        "it came after the tick"
    );
}

#[test]
fn hold_is_told_also_where_nothing_waits() {
    let flow = mk_two(|_| {});
    let mut queues = mk_deployed(&flow);
    queues.hold("dev", mk_hold("broken", 61));
    let held = "`a.b` is held by ann since 1970-01-01T00:01:01+00:00 in `dev`: broken; \
                `pathline release resume dev a.b`";
    let deployed = "release 1 is deployed since 1970-01-01T00:01:00+00:00";
    let answers = why_of(&queues, &flow, 1, 70);
    assert!(
        answers.starts_with(&format!("dev - {deployed}; {held}\n")),
        "{answers}"
    );
    let halts: Holds = [("dev".to_owned(), mk_hold("an audit", 62))]
        .into_iter()
        .collect();
    let halted = "`dev` is held by ann since 1970-01-01T00:01:02+00:00: an audit; \
                  `pathline release resume dev`";
    let answers = why(&queues, (&flow, &halts), 1, 70);
    assert!(
        answers.starts_with(&format!("dev - {deployed}; {halted}; {held}\n")),
        "{answers}"
    );
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(71));
    let answers = why(&queues, (&flow, &halts), 2, 80);
    assert!(
        answers.starts_with(&format!("dev - release 2 is queued; {halted}; {held}\n")),
        "{answers}"
    );
}

#[test]
fn release_is_replaced_by_the_next_one_that_was_deployed() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_deployed(&flow);
    for (number, at) in [(2, 120), (3, 180)] {
        queues.enter(&flow, &mk_release(number, "1.0.0"), second(61));
        deploy(&mut queues, &flow, &["dev"], second(at));
    }
    for (release, by) in [(1, 2), (2, 3)] {
        let replaced =
            format!("dev - release {release} was deployed; release {by} has replaced it");
        assert_eq!(last(&queues, &flow, release, 190), replaced);
    }
}
