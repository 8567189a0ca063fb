//! Queues beyond the table: siblings, levels, promotion and time-outs.

use jiff::SignedDuration;
use pathline_release::Level;
use pathline_release::queue::{
    EntryState, Environment, Flow, InvalidFlow, NotPromoted, Queues, READY_TIMEOUT, Report,
};

use crate::support::{deploy, listed, mk_flow, mk_queues, mk_release, second, tick};

#[test]
fn release_goes_on_when_all_environments_of_a_position_have_it() {
    let flow = mk_flow(&[("dev", 0), ("ha-east", 1), ("ha-west", 1), ("prod", 5)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &flow, &["dev", "ha-east"], second(60));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed ha-east.1=deployed ha-west.1=queued"
    );
    deploy(&mut queues, &flow, &["ha-west"], second(60));
    assert!(listed(&queues, &flow).ends_with("ha-west.1=deployed prod.1=queued"));
}

#[test]
fn release_above_the_level_of_an_environment_is_held_until_it_is_promoted() {
    let mut environments = vec![Environment::new("dev", 0), Environment::new("prod", 1)];
    environments[1].accepts = Some(Level::Patch);
    let flow = Flow::new(environments).expect("names differ");
    let mut queues = mk_queues();
    for (number, tag) in [(1, "1.0.0"), (2, "1.0.1"), (3, "1.1.0")] {
        queues.enter(&flow, &mk_release(number, tag), second(1));
        deploy(&mut queues, &flow, &["dev"], second(60));
        if number < 3 {
            deploy(&mut queues, &flow, &["prod"], second(60));
        }
    }
    assert!(listed(&queues, &flow).ends_with("prod.1=deployed prod.2=deployed prod.3=held"));
    assert!(
        tick(&mut queues, &flow, &["prod"], second(60)).is_empty(),
        "no tick takes it"
    );
    queues
        .promote(&flow, ("prod", None), second(60))
        .expect("it is held");
    deploy(&mut queues, &flow, &["prod"], second(60));
    assert!(listed(&queues, &flow).ends_with("prod.3=deployed"));
}

#[test]
fn levels_are_those_of_versions_and_of_tags_that_are_none() {
    for (from, to, level) in [
        ("1.0.0", "v1.0.0", Level::Digest),
        ("1.0.0-rc.1", "1.0.0", Level::Patch),
        ("1.0.1", "1.0.0", Level::Patch),
        ("1.0.0", "1.1.0", Level::Minor),
        ("1.9.0", "2.0.0", Level::Major),
        ("latest", "latest", Level::Digest),
        ("latest", "1.0.0", Level::Major),
        ("main", "next", Level::Major),
    ] {
        assert_eq!(Level::between(from, to), level, "{from} -> {to}");
    }
    assert!(
        Level::Digest < Level::Patch && Level::Patch < Level::Minor && Level::Minor < Level::Major
    );
}

#[test]
fn failed_release_is_tried_again_by_hand_and_reports_of_the_first_attempt_are_not_heard() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &flow, &["dev"], second(2));
    let failed = Report::Failed("crash loop".to_owned());
    queues.report(&flow, ("dev", 1), 0, failed, second(3));
    let entry = queues.entry("dev", 1).expect("it is there").clone();
    assert_eq!(
        (entry.state, entry.message.as_deref()),
        (EntryState::Failed, Some("crash loop"))
    );
    queues
        .promote(&flow, ("dev", Some(1)), second(4))
        .expect("it failed");
    tick(&mut queues, &flow, &["dev"], second(5));
    assert!(
        queues
            .report(&flow, ("dev", 1), 0, Report::Ready, second(6))
            .is_empty()
    );
    queues.report(&flow, ("dev", 1), 1, Report::Ready, second(7));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=queued");
}

#[test]
fn promotion_is_refused_with_the_reason() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    let promote = |queues: &mut Queues, release| {
        let promoted = queues.promote(&flow, ("dev", release), second(9));
        promoted.expect_err("it is refused").to_string()
    };
    assert_eq!(
        promote(&mut queues, None),
        "no release waits to be promoted in `dev`"
    );
    let mut held = mk_release(1, "1.0.0");
    held.configuration.vetos.auto_deploy = false;
    queues.enter(&flow, &held, second(1));
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(2));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=superseded dev.2=queued",
        "what is newer is queued"
    );
    assert_eq!(
        promote(&mut queues, Some(1)),
        "release 1 is superseded in `dev`"
    );
    tick(&mut queues, &flow, &["dev"], second(3));
    queues.report(
        &flow,
        ("dev", 2),
        0,
        Report::Failed(String::new()),
        second(4),
    );
    queues.enter(&flow, &mk_release(3, "1.0.2"), second(5));
    assert_eq!(
        promote(&mut queues, Some(2)),
        "release 3 is newer, and queued in `dev`"
    );
    queues.delete(second(6));
    assert_eq!(
        queues.promote(&flow, ("dev", Some(2)), second(9)),
        Err(NotPromoted::Deleted)
    );
}

#[test]
fn older_held_release_can_be_promoted_while_a_newer_one_is_held() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    for number in 1..=2 {
        let mut held = mk_release(number, "1.0.0");
        held.configuration.vetos.auto_deploy = false;
        queues.enter(&flow, &held, second(1));
    }
    queues
        .promote(&flow, ("dev", Some(1)), second(2))
        .expect("it is held");
    assert_eq!(listed(&queues, &flow), "dev.1=queued dev.2=held");
    queues
        .promote(&flow, ("dev", None), second(3))
        .expect("it is held");
    assert_eq!(listed(&queues, &flow), "dev.1=superseded dev.2=queued");
}

#[test]
fn deployment_that_is_not_ready_in_time_has_failed() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(0));
    tick(&mut queues, &flow, &["dev"], second(1));
    let timeout = READY_TIMEOUT;
    assert_eq!(timeout, SignedDuration::from_mins(15));
    assert!(queues.expire(&flow, second(0) + timeout).is_empty());
    queues.expire(&flow, second(1) + timeout);
    let entry = queues.entry("dev", 1).expect("it is there");
    assert_eq!(
        (entry.state, entry.message.as_deref()),
        (EntryState::Failed, Some("not ready after 15m"))
    );
    assert_eq!(listed(&queues, &flow), "dev.1=failed");
}

#[test]
fn release_that_is_overtaken_on_the_way_is_superseded_where_it_arrives() {
    let flow = mk_flow(&[("dev", 0), ("ha", 1), ("prod", 2)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, &flow, &["dev"], second(60));
    tick(&mut queues, &flow, &["ha"], second(60));
    let mut quick = mk_release(2, "1.0.1");
    quick.configuration.vetos.omit_from_namespaces = vec!["ha".to_owned()];
    queues.enter(&flow, &quick, second(3));
    deploy(&mut queues, &flow, &["dev", "prod"], second(60));
    queues.report(&flow, ("ha", 1), 0, Report::Ready, second(70));
    assert!(listed(&queues, &flow).ends_with("prod.1=superseded prod.2=deployed"));
    let entry = queues.entry("prod", 1).expect("it is there");
    assert_eq!(entry.superseded_by, Some(2));
}

#[test]
fn environment_keeps_applications_out_by_group_by_name_and_by_both() {
    for (rule, is_omitted) in [
        ("a", true),
        ("*.b", true),
        ("a.b", true),
        ("b", false),
        ("*.a", false),
        ("a.c", false),
    ] {
        let mut dev = Environment::new("dev", 0);
        dev.omits = vec![rule.to_owned()];
        let flow = Flow::new(vec![dev]).expect("one name");
        let mut queues = mk_queues();
        queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
        let expected = if is_omitted {
            "dev.1=skipped"
        } else {
            "dev.1=queued"
        };
        assert_eq!(listed(&queues, &flow), expected, "{rule}");
    }
}

#[test]
fn names_of_environments_are_there_once() {
    let environments = vec![Environment::new("dev", 0), Environment::new("dev", 1)];
    assert_eq!(Flow::new(environments), Err(InvalidFlow("dev".to_owned())));
    let mut queues = mk_queues();
    let nowhere = Flow::default();
    assert!(
        queues
            .enter(&nowhere, &mk_release(1, "1.0.0"), second(1))
            .is_empty()
    );
}
