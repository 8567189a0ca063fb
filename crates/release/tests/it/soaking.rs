//! Soaking: a release is live for a time before the next environment takes it.

use jiff::SignedDuration;
use pathline_release::queue::{Environment, Flow, Live, Queues, Report};

use crate::support::{deploy, listed, mk_queues, mk_release, report, second, tick};

/// Returns a flow: environments, each with its position and its soak in seconds.
fn mk_flow(environments: &[(&str, u32, i64)]) -> Flow {
    let environments = environments.iter();
    let environments = environments.map(|(name, position, soak)| Environment {
        soak: SignedDuration::from_secs(*soak),
        ..Environment::new(name, *position)
    });
    Flow::new(environments.collect()).expect("names differ")
}

/// Returns a flow of two environments, of which the second one wants releases to soak for 100 s.
fn mk_two() -> Flow {
    mk_flow(&[("dev", 0, 0), ("prod", 1, 100)])
}

/// Returns queues with one release, which is deployed in the first environment at second 60.
fn mk_deployed(flow: &Flow) -> Queues {
    let mut queues = mk_queues();
    queues.enter(flow, &mk_release(1, "1.0.0"), second(1));
    deploy(&mut queues, flow, &["dev"], second(60));
    queues
}

fn live_of(queues: &Queues, release: u64) -> Live {
    let entry = queues.entry("dev", release).expect("it is there");
    entry.live.clone()
}

#[test]
fn release_has_no_entry_before_it_has_soaked() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    assert_eq!(queues.next_soak(&flow, second(60)), Some(second(160)));
    assert_eq!(queues.advance(&flow, second(159)), []);
    assert_eq!(listed(&queues, &flow), "dev.1=deployed");
    queues.advance(&flow, second(160));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=queued");
    assert_eq!(queues.next_soak(&flow, second(160)), None);
    assert_eq!(queues.advance(&flow, second(161)), [], "it is there");
}

#[test]
fn tick_at_the_instant_at_which_a_release_has_soaked_takes_it() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    tick(&mut queues, &flow, &["prod"], second(160));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=deploying");
}

#[test]
fn time_counts_only_while_the_release_is_live() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    queues.live(&flow, ("dev", 1), false, second(100));
    queues.live(&flow, ("dev", 1), false, second(110));
    assert_eq!(queues.next_soak(&flow, second(120)), None);
    assert_eq!(queues.advance(&flow, second(1000)), []);
    queues.live(&flow, ("dev", 1), true, second(1000));
    queues.live(&flow, ("dev", 1), true, second(1010));
    assert_eq!(queues.next_soak(&flow, second(1010)), Some(second(1060)));
    queues.advance(&flow, second(1060));
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=queued");
}

#[test]
fn what_had_soaked_before_it_was_interrupted_has() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    let entered = queues.live(&flow, ("dev", 1), false, second(170));
    assert_eq!(entered.len(), 1, "nobody called at second 160");
    assert_eq!(listed(&queues, &flow), "dev.1=deployed prod.1=queued");
}

#[test]
fn newer_release_does_not_displace_an_older_one_that_has_soaked() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    queues.advance(&flow, second(160));
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(161));
    deploy(&mut queues, &flow, &["dev"], second(180));
    tick(&mut queues, &flow, &["prod"], second(240));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed dev.2=deployed prod.1=deploying"
    );
}

#[test]
fn release_that_is_replaced_while_it_soaks_stays_behind() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(61));
    tick(&mut queues, &flow, &["dev"], second(120));
    assert_eq!(
        live_of(&queues, 1),
        Live {
            counted: SignedDuration::from_secs(60),
            since: None
        }
    );
    assert_eq!(
        queues.live(&flow, ("dev", 1), true, second(121)),
        [],
        "the other one is being deployed over it"
    );
    assert_eq!(queues.next_soak(&flow, second(121)), None);
    report(&mut queues, &flow, "dev", Report::Ready, second(130));
    assert_eq!(queues.next_soak(&flow, second(130)), Some(second(230)));
    queues.advance(&flow, second(1000));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed dev.2=deployed prod.2=queued"
    );
}

#[test]
fn release_that_is_live_again_after_another_one_failed_goes_on_soaking() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(61));
    tick(&mut queues, &flow, &["dev"], second(120));
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(130));
    assert_eq!(queues.next_soak(&flow, second(130)), None);
    queues.live(&flow, ("dev", 1), true, second(140));
    assert_eq!(queues.next_soak(&flow, second(140)), Some(second(180)));
}

#[test]
fn release_soaks_in_all_environments_of_a_position() {
    let flow = mk_flow(&[
        ("dev", 0, 0),
        ("east", 1, 0),
        ("west", 1, 0),
        ("prod", 2, 100),
    ]);
    let mut queues = mk_deployed(&flow);
    deploy(&mut queues, &flow, &["east"], second(120));
    assert_eq!(queues.next_soak(&flow, second(120)), None);
    deploy(&mut queues, &flow, &["west"], second(180));
    assert_eq!(queues.next_soak(&flow, second(180)), Some(second(280)));
    queues.live(&flow, ("east", 1), false, second(190));
    assert_eq!(queues.next_soak(&flow, second(190)), None);
    queues.live(&flow, ("east", 1), true, second(200));
    assert_eq!(queues.next_soak(&flow, second(200)), Some(second(280)));
}

#[test]
fn environments_of_a_position_may_want_different_soaks() {
    let flow = mk_flow(&[("dev", 0, 0), ("canary", 1, 0), ("stable", 1, 100)]);
    let mut queues = mk_deployed(&flow);
    assert_eq!(listed(&queues, &flow), "dev.1=deployed canary.1=queued");
    queues.advance(&flow, second(160));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed canary.1=queued stable.1=queued"
    );
}

#[test]
fn what_is_skipped_does_not_count_and_the_position_before_does() {
    let flow = mk_flow(&[("dev", 0, 0), ("ha", 1, 50), ("prod", 2, 100)]);
    let mut release = mk_release(1, "1.0.0");
    release.configuration.vetos.omit_from_namespaces = vec!["ha".to_owned()];
    let mut queues = mk_queues();
    queues.enter(&flow, &release, second(1));
    deploy(&mut queues, &flow, &["dev"], second(60));
    assert_eq!(
        listed(&queues, &flow),
        "dev.1=deployed ha.1=skipped",
        "nothing soaks for what is skipped"
    );
    queues.advance(&flow, second(160));
    assert!(listed(&queues, &flow).ends_with("prod.1=queued"));
}

#[test]
fn release_that_is_skipped_everywhere_before_has_nothing_to_soak_in() {
    let flow = mk_two();
    let mut release = mk_release(1, "1.0.0");
    release.configuration.vetos.omit_from_namespaces = vec!["dev".to_owned()];
    let mut queues = mk_queues();
    queues.enter(&flow, &release, second(1));
    assert_eq!(listed(&queues, &flow), "dev.1=skipped prod.1=queued");
}

#[test]
fn first_environment_has_nothing_to_soak_in() {
    let flow = mk_flow(&[("dev", 0, 100)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    assert_eq!(listed(&queues, &flow), "dev.1=queued");
}

#[test]
fn soak_that_becomes_shorter_is_over_earlier() {
    let mut queues = mk_deployed(&mk_two());
    let shorter = mk_flow(&[("dev", 0, 0), ("prod", 1, 10)]);
    assert_eq!(queues.next_soak(&shorter, second(65)), Some(second(70)));
    queues.advance(&shorter, second(80));
    assert_eq!(listed(&queues, &shorter), "dev.1=deployed prod.1=queued");
}

#[test]
fn time_in_which_nobody_watched_does_not_count() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    queues.checkpoint(second(90));
    let checked = Live {
        counted: SignedDuration::from_secs(30),
        since: Some(second(90)),
    };
    assert_eq!(live_of(&queues, 1), checked);
    assert_eq!(queues.next_soak(&flow, second(90)), Some(second(160)));
    queues.restarted(second(500));
    assert_eq!(
        live_of(&queues, 1).counted,
        checked.counted,
        "from the checkpoint on it is lost"
    );
    assert_eq!(queues.next_soak(&flow, second(500)), Some(second(570)));
}

#[test]
fn count_that_stands_still_stands_still_after_a_restart() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    queues.live(&flow, ("dev", 1), false, second(70));
    let before = live_of(&queues, 1);
    queues.checkpoint(second(90));
    queues.restarted(second(100));
    assert_eq!(live_of(&queues, 1), before);
}

#[test]
fn changes_are_all_entries_that_are_not_as_they_were() {
    let flow = mk_two();
    let mut queues = mk_deployed(&flow);
    let changes = |queues: &Queues, before: &Queues| {
        let changes = queues.changes(before);
        let changes = changes.map(|(environment, release, _)| format!("{environment}.{release}"));
        changes.collect::<Vec<_>>().join(" ")
    };
    let before = queues.clone();
    assert_eq!(changes(&queues, &before), "");
    queues.enter(&flow, &mk_release(2, "1.0.1"), second(61));
    assert_eq!(changes(&queues, &before), "dev.2");
    tick(&mut queues, &flow, &["dev"], second(120));
    assert_eq!(
        changes(&queues, &before),
        "dev.1 dev.2",
        "a count has ended"
    );
}
