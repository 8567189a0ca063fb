//! Releases on request: a configuration that waits, with the image that is released.

use jiff::SignedDuration;
use pathline_release::tracker::{
    Condition, Cycle, NotRequested, RegistryProblem, SourceRead, Tracker,
};
use pathline_release::{Cause, Configuration, Image};

use crate::support::{mk_configuration, mk_cycle, mk_image, second};

/// The images that configurations select.
type Images<'a> = &'a [(&'a Configuration, Option<Image>)];

/// Returns a tracker after cycles: each with a configuration, and the images for it and for the one before.
fn mk_tracker(cycles: &[(&Configuration, Images<'_>)]) -> Tracker {
    let mut tracker = Tracker::new(SignedDuration::ZERO);
    for (at, (source, answers)) in (1..).zip(cycles) {
        let source = SourceRead::Read((*source).clone());
        let cycle = mk_cycle(&tracker, answers, source);
        tracker.observe(cycle, second(at));
    }
    tracker
}

#[test]
fn configuration_that_waits_is_released_with_the_image_that_is() {
    let (first, next) = (
        mk_configuration("C1", "latest"),
        mk_configuration("C2", "latest"),
    );
    let image = || Some(mk_image("latest", "D1"));
    let mut tracker = mk_tracker(&[(&first, &[(&first, image())]), (&next, &[(&next, image())])]);
    assert_eq!(tracker.conditions().count(), 1, "it waits");
    let under_way = mk_cycle(&tracker, &[], SourceRead::Unchanged);
    let release = tracker.request(second(3)).expect("it waits");
    assert_eq!((release.number, release.previous), (2, Some(1)));
    assert_eq!(release.cause, Cause::Requested);
    assert_eq!(release.configuration, next);
    assert_eq!(Some(release.image.clone()), image());
    assert_eq!(tracker.last_release(), Some(&release));
    assert_eq!(tracker.pending(), None);
    assert_eq!(tracker.conditions().count(), 0);
    assert!(tracker.observe(under_way, second(4)).is_discarded);
    let cycle = mk_cycle(&tracker, &[(&next, image())], SourceRead::Unchanged);
    let outcome = tracker.observe(cycle, second(5));
    assert!(!outcome.has_changed, "no poll has anything to add");
    assert_eq!(tracker.request(second(6)), Err(NotRequested::Nothing));
}

#[test]
fn configuration_whose_label_selects_nothing_says_what_it_waits_for() {
    let (first, next) = (
        mk_configuration("C1", "1.2.3"),
        mk_configuration("C2", "1.2.4"),
    );
    let image = Some(mk_image("1.2.3", "D1"));
    let mut tracker = mk_tracker(&[
        (&first, &[(&first, image.clone())]),
        (&next, &[(&first, image), (&next, None)]),
    ]);
    let before = tracker.clone();
    let refused = tracker.request(second(3)).expect_err("there is none");
    assert_eq!(
        refused.to_string(),
        "the configuration waits for an image that its version `1.2.4` selects in \
         `registry.example/a/b`"
    );
    assert_eq!(tracker, before, "nothing has changed");
    let waits = tracker
        .conditions()
        .any(|(it, _)| it == Condition::AwaitingContainer);
    assert!(waits);
}

#[test]
fn configuration_whose_label_selects_another_image_names_its_tag() {
    let (first, next) = (mk_configuration("C1", "1.x"), mk_configuration("C2", "1.x"));
    let mut tracker = mk_tracker(&[
        (&first, &[(&first, Some(mk_image("1.2.4", "D2")))]),
        (&next, &[(&next, Some(mk_image("1.2.3", "D1")))]),
    ]);
    let refused = tracker.request(second(3)).expect_err("it is a lower one");
    assert_eq!(
        refused.to_string(),
        "the version `1.x` of the configuration selects `1.2.3` (D1), and release 1 has `1.2.4` \
         (D2): it waits for `1.2.3`"
    );
}

#[test]
fn first_release_takes_whatever_its_label_selects() {
    let first = mk_configuration("C1", "latest");
    let image = mk_image("latest", "D1");
    let mut tracker = Tracker::new(SignedDuration::from_secs(60));
    let source = SourceRead::Read(first.clone());
    let cycle = mk_cycle(&tracker, &[(&first, Some(image.clone()))], source);
    assert_eq!(
        tracker.observe(cycle, second(1)).release,
        None,
        "it settles"
    );
    let release = tracker.request(second(2)).expect("it waits");
    assert_eq!((release.number, release.previous), (1, None));
    assert_eq!((release.cause, release.image), (Cause::Requested, image));
}

#[test]
fn what_the_registry_answered_last_counts_while_it_does_not_answer() {
    let (first, next) = (
        mk_configuration("C1", "latest"),
        mk_configuration("C2", "latest"),
    );
    let image = Some(mk_image("latest", "D1"));
    let mut tracker = mk_tracker(&[(&first, &[(&first, image)])]);
    let mut cycle: Cycle = mk_cycle(&tracker, &[], SourceRead::Read(next));
    cycle.registry.problem = Some(RegistryProblem::Failed);
    tracker.observe(cycle, second(2));
    assert!(tracker.request(second(3)).is_ok());
    let still = tracker.conditions().map(|(it, _)| it);
    assert_eq!(still.collect::<Vec<_>>(), [Condition::RegistryError]);
}

#[test]
fn deleted_tracker_releases_nothing() {
    let mut tracker = Tracker::new(SignedDuration::ZERO);
    tracker.delete();
    assert_eq!(tracker.request(second(1)), Err(NotRequested::Deleted));
}
