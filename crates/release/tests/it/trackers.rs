//! Trackers beyond the table: generations, replays, what nobody asked, settling, and identities of releases.

use jiff::SignedDuration;
use pathline_release::tracker::{
    Condition, ImageQuery, Phase, RegistryProblem, SourceProblem, SourceRead, Tracker,
};

use crate::support::{mk_configuration, mk_cycle, mk_image, mk_release, second};

fn mk_tracker() -> Tracker {
    Tracker::new(SignedDuration::ZERO)
}

#[test]
fn c03_a_cycle_that_was_applied_already_changes_nothing() {
    let mut tracker = mk_tracker();
    let configuration = mk_configuration("C1", "latest");
    let image = Some(mk_image("latest", "D1"));
    let source = SourceRead::Read(configuration.clone());
    let cycle = mk_cycle(&tracker, &[(&configuration, image)], source);
    assert!(tracker.observe(cycle.clone(), second(1)).release.is_some());
    let before = tracker.clone();
    let again = tracker.observe(cycle, second(2));
    assert!(again.is_discarded && again.release.is_none());
    assert_eq!(tracker, before);
}

#[test]
fn c11_answers_for_an_older_generation_are_discarded() {
    let mut tracker = mk_tracker();
    let configuration = mk_configuration("C1", "latest");
    let source = SourceRead::Read(configuration.clone());
    let image = Some(mk_image("latest", "D1"));
    let under_way = mk_cycle(&tracker, &[(&configuration, image)], source);
    tracker.point_elsewhere();
    assert_eq!(tracker.basis().generation, 2);
    assert!(tracker.observe(under_way, second(1)).is_discarded);
}

#[test]
fn c12_answers_for_a_deleted_tracker_are_discarded() {
    let mut tracker = mk_tracker();
    let configuration = mk_configuration("C1", "latest");
    let source = SourceRead::Read(configuration.clone());
    let image = Some(mk_image("latest", "D1"));
    let under_way = mk_cycle(&tracker, &[(&configuration, image)], source);
    tracker.delete();
    let outcome = tracker.observe(under_way, second(1));
    assert!(outcome.is_discarded && outcome.release.is_none() && tracker.is_deleted());
}

#[test]
fn p01_cycles_in_which_nothing_changed_have_nothing_to_store() {
    let mut tracker = mk_tracker();
    let configuration = mk_configuration("C1", "latest");
    let image = || Some(mk_image("latest", "D1"));
    let source = SourceRead::Read(configuration.clone());
    let cycle = mk_cycle(&tracker, &[(&configuration, image())], source);
    assert!(tracker.observe(cycle, second(1)).has_changed);
    for time in 2..102 {
        let cycle = mk_cycle(
            &tracker,
            &[(&configuration, image())],
            SourceRead::Unchanged,
        );
        let outcome = tracker.observe(cycle, second(time));
        assert!(!outcome.has_changed && outcome.release.is_none());
    }
}

#[test]
fn p01_another_order_of_answers_is_nothing_to_store() {
    let mut tracker = mk_tracker();
    let (released, pending) = (
        mk_configuration("C1", "latest"),
        mk_configuration("C2", "next"),
    );
    let image = || Some(mk_image("latest", "D1"));
    let source = SourceRead::Read(released.clone());
    let cycle = mk_cycle(&tracker, &[(&released, image())], source);
    tracker.observe(cycle, second(1));
    let source = SourceRead::Read(pending.clone());
    let answers = [(&released, image()), (&pending, None)];
    let cycle = mk_cycle(&tracker, &answers, source);
    assert!(tracker.observe(cycle, second(2)).has_changed);
    for answers in [
        &[(&pending, None), (&released, image())][..],
        &[(&released, image())],
        &[],
    ] {
        let cycle = mk_cycle(&tracker, answers, SourceRead::Unchanged);
        assert!(!tracker.observe(cycle, second(3)).has_changed);
    }
}

#[test]
fn p03_a_commit_that_leaves_the_file_alone_queues_nothing() {
    let mut tracker = mk_tracker();
    let configuration = mk_configuration("C1", "latest");
    let image = || Some(mk_image("latest", "D1"));
    let source = SourceRead::Read(configuration.clone());
    let cycle = mk_cycle(&tracker, &[(&configuration, image())], source);
    tracker.observe(cycle, second(1));
    let mut newer = configuration.clone();
    newer.commit = "another".to_owned();
    let cycle = mk_cycle(
        &tracker,
        &[(&configuration, image())],
        SourceRead::Read(newer.clone()),
    );
    let outcome = tracker.observe(cycle, second(2));
    assert!(outcome.has_changed && outcome.release.is_none() && tracker.pending().is_none());
    assert_eq!(tracker.source(), Some(&newer));
}

#[test]
fn label_that_is_new_is_asked_for_in_another_cycle() {
    let mut tracker = mk_tracker();
    let configuration = mk_configuration("C1", "latest");
    // The registry was asked before anybody knew the label.
    let cycle = mk_cycle(&tracker, &[], SourceRead::Read(configuration.clone()));
    let outcome = tracker.observe(cycle, second(1));
    assert_eq!(outcome.unasked, Some(ImageQuery::of(&configuration)));
    assert!(outcome.release.is_none());
    assert_eq!(tracker.queries(None), [ImageQuery::of(&configuration)]);
    let image = Some(mk_image("latest", "D1"));
    let cycle = mk_cycle(&tracker, &[(&configuration, image)], SourceRead::Unchanged);
    let outcome = tracker.observe(cycle, second(2));
    assert_eq!(
        (outcome.unasked, outcome.release.map(|it| it.number)),
        (None, Some(1))
    );
}

#[test]
fn change_settles_before_it_is_released_and_then_as_it_is_by_then() {
    let mut tracker = Tracker::new(SignedDuration::from_secs(30));
    let (first, second_one) = (
        mk_configuration("C1", "latest"),
        mk_configuration("C2", "latest"),
    );
    let image = |digest| Some(mk_image("latest", digest));
    let cycle = mk_cycle(
        &tracker,
        &[(&first, image("D1"))],
        SourceRead::Read(first.clone()),
    );
    let outcome = tracker.observe(cycle, second(0));
    assert_eq!(
        (outcome.read_again_at, outcome.release),
        (Some(second(30)), None)
    );
    let source = SourceRead::Read(second_one.clone());
    let cycle = mk_cycle(&tracker, &[(&second_one, image("D2"))], source);
    let outcome = tracker.observe(cycle, second(29));
    assert_eq!(
        (outcome.read_again_at, outcome.release),
        (Some(second(30)), None)
    );
    let cycle = mk_cycle(
        &tracker,
        &[(&second_one, image("D2"))],
        SourceRead::Unchanged,
    );
    let release = tracker
        .observe(cycle, second(30))
        .release
        .expect("it has settled");
    assert_eq!(release.configuration.config_hash, "C2");
    assert_eq!(release.image.digest, "D2");
}

#[test]
fn tracker_is_ingesting_until_it_has_read_something_and_degraded_while_it_cannot() {
    let mut tracker = mk_tracker();
    assert_eq!(tracker.phase(), Phase::Ingesting);
    let failed = SourceRead::Problem(SourceProblem::AuthFailed);
    let mut cycle = mk_cycle(&tracker, &[], failed);
    cycle.registry.problem = Some(RegistryProblem::RateLimited);
    tracker.observe(cycle, second(1));
    let conditions: Vec<_> = tracker.conditions().collect();
    let expected = [Condition::AuthFailed, Condition::RateLimited].map(|it| (it, second(1)));
    assert_eq!(conditions, expected);
    assert_eq!(tracker.phase(), Phase::Degraded);
    let configuration = mk_configuration("C1", "latest");
    let source = SourceRead::Read(configuration.clone());
    let cycle = mk_cycle(&tracker, &[(&configuration, None)], source);
    tracker.observe(cycle, second(2));
    assert_eq!(
        tracker.phase(),
        Phase::Tracking,
        "waiting for an image is no trouble"
    );
}

#[test]
fn condition_keeps_the_time_since_which_it_holds() {
    let mut tracker = mk_tracker();
    for time in 1..4 {
        let missing = SourceRead::Problem(SourceProblem::RefMissing);
        let cycle = mk_cycle(&tracker, &[], missing);
        let outcome = tracker.observe(cycle, second(time));
        assert_eq!(outcome.has_changed, time == 1);
    }
    let conditions: Vec<_> = tracker.conditions().collect();
    assert_eq!(conditions, [(Condition::RefMissing, second(1))]);
}

#[test]
fn ids_of_releases_differ_with_every_part() {
    let release = mk_release(1, "1.0.0");
    let id = release.id("uid");
    assert_eq!(id.len(), 64);
    assert_eq!(release.id("uid"), id);
    assert_ne!(release.id("another uid"), id);
    let mut other = release;
    other.image.tag = "1.0.0D1".to_owned();
    other.image.digest = String::new();
    assert_ne!(other.id("uid"), id, "parts have their lengths");
}

#[test]
fn image_repository_that_is_not_there_yet_keeps_no_other_image_back() {
    let mut tracker = mk_tracker();
    let released = mk_configuration("C1", "stable");
    let mut pending = mk_configuration("C2", "~1.0.0");
    pending.repository = "registry.example/elsewhere".to_owned();
    let image = |digest| Some(mk_image("stable", digest));
    let source = SourceRead::Read(released.clone());
    let cycle = mk_cycle(&tracker, &[(&released, image("D1"))], source);
    tracker.observe(cycle, second(1));
    let source = SourceRead::Read(pending);
    let mut cycle = mk_cycle(&tracker, &[(&released, image("D2"))], source);
    cycle.registry.problem = Some(RegistryProblem::NotFound);
    let release = tracker.observe(cycle, second(2)).release;
    let release = release.expect("the released configuration, with its new image");
    assert_eq!(release.configuration, released);
    assert_eq!(release.image.digest, "D2");
    assert!(tracker.pending().is_some(), "the other one still waits");
}

#[test]
fn time_to_settle_may_change_while_a_tracker_lives() {
    let mut tracker = mk_tracker();
    tracker.settle_for(SignedDuration::from_secs(20));
    let configuration = mk_configuration("C1", "latest");
    let image = || Some(mk_image("latest", "D1"));
    let source = SourceRead::Read(configuration.clone());
    let cycle = mk_cycle(&tracker, &[(&configuration, image())], source.clone());
    let outcome = tracker.observe(cycle, second(1));
    assert_eq!(
        (outcome.release, outcome.read_again_at),
        (None, Some(second(21)))
    );
    tracker.settle_for(SignedDuration::ZERO);
    let cycle = mk_cycle(&tracker, &[(&configuration, image())], source);
    assert!(tracker.observe(cycle, second(2)).release.is_some());
}

#[test]
fn configuration_that_was_brought_along_waits_and_blames_nobody() {
    let mut tracker = mk_tracker();
    tracker.bring_along(mk_configuration("C1", "latest"), second(1));
    let conditions: Vec<_> = tracker.conditions().map(|(it, _)| it).collect();
    assert_eq!(conditions, [Condition::AwaitingContainer]);
    assert_eq!(
        tracker.basis().version,
        1,
        "answers from before do not count"
    );
    assert!(tracker.last_release().is_none());
}
