//! Decisions: which configuration may be released with which image.

use std::cmp::Ordering;

use crate::clauses::{Clause, Clauses};
use crate::label::compare_tags;
use crate::release::{Cause, Configuration, Image, Release};

/// A configuration and an image that are ready to be released together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) image: &'a Image,
    /// Whether the configuration is the pending one.
    pub(super) is_pending: bool,
}

/// Tells whether an image may follow the one of the last release, with a configuration.
pub(super) fn may_follow(
    last: &Release,
    configuration: &Configuration,
    image: &Image,
    clauses: Clauses,
) -> bool {
    // A configuration alone is never released: it waits for an image that was made for it.
    let has_moved = clauses.holds(Clause::ImageMoved, *image != last.image);
    has_moved
        && (!configuration.is_same_label(&last.configuration) || is_allowed(last, image, clauses))
}

/// Tells whether an image that the same label selects may follow: anything but a lower version.
fn is_allowed(last: &Release, image: &Image, clauses: Clauses) -> bool {
    image.tag == last.image.tag
        || match compare_tags(&image.tag, &last.image.tag) {
            None | Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => image.digest != last.image.digest,
            Some(Ordering::Less) => clauses.is_dropped(Clause::NoDowngrade),
        }
}

/// Tells whether a registry went back: the label of the last release selects a lower version now.
pub(super) fn is_regressed(last: &Release, image: &Image) -> bool {
    compare_tags(&image.tag, &last.image.tag) == Some(Ordering::Less)
}

/// Returns the reason for a release after another one.
pub(super) fn cause(last: Option<&Release>, image: &Image) -> Cause {
    let Some(last) = last else {
        return Cause::Initial;
    };
    let is_same_repository = image.repository == last.image.repository;
    let has_new_content = image.digest != last.image.digest;
    match compare_tags(&image.tag, &last.image.tag) {
        Some(Ordering::Greater) => Cause::VersionCreated,
        Some(Ordering::Equal) if is_same_repository && has_new_content => Cause::ContainerUpdated,
        _ if is_same_repository && image.tag == last.image.tag => Cause::ContainerUpdated,
        _ => Cause::LabelChanged,
    }
}
