//! Releases that somebody asks for.

use jiff::Timestamp;

use super::{Condition, Tracker};
use crate::clauses::Clause;
use crate::release::{Cause, Image, Release, Rollback};

/// Says why a configuration is not released at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRequested {
    /// No configuration waits.
    #[error("no configuration waits: the released one is that of the repository")]
    Nothing,
    /// There is no image for it.
    #[error(
        "the configuration waits for an image that its version `{label}` selects in `{repository}`"
    )]
    NoImage {
        /// The label of the configuration.
        label: String,
        /// The repository of the image.
        repository: String,
    },
    /// Its label selects another image than the one that is released.
    #[error(
        "the version `{label}` of the configuration selects `{}` ({}), and release {release} has `{}` ({}): \
         it waits for `{}`",
        selected.tag, selected.digest, present.tag, present.digest, selected.tag
    )]
    OtherImage {
        /// The label of the configuration.
        label: String,
        /// The image that it selects.
        selected: Box<Image>,
        /// The image of the last release.
        present: Box<Image>,
        /// The number of the last release.
        release: u64,
    },
    /// The tracker was deleted.
    #[error("the tracker was deleted")]
    Deleted,
}

impl Tracker {
    /// Releases the configuration that waits with the image that is released, without waiting for another one.
    ///
    /// # Errors
    /// If none waits, or if its own label does not select that image, by what the registry has answered last.
    pub fn request(&mut self, at: Timestamp) -> Result<Release, NotRequested> {
        if self.is_deleted {
            return Err(NotRequested::Deleted);
        }
        let image = self.requested_image()?;
        let pending = self.pending.take().ok_or(NotRequested::Nothing)?;
        let release = Release {
            number: self.next_number(),
            configuration: pending.configuration,
            image,
            cause: Cause::Requested,
            previous: self.last_release.as_ref().map(|it| it.number),
            at,
            rollback: None,
        };
        self.settling_since = None;
        self.numbered = release.number;
        self.last_release = Some(release.clone());
        self.forget_images();
        self.conditions.remove(&Condition::ConfigQueued);
        self.conditions.remove(&Condition::AwaitingContainer);
        // Cycles that are under way would form a release of the same number.
        self.version += 1;
        Ok(release)
    }

    /// Returns the image that the pending configuration could be released with now.
    fn requested_image(&self) -> Result<Image, NotRequested> {
        let pending = self.pending.as_ref().map(|it| &it.configuration);
        let pending = pending.ok_or(NotRequested::Nothing)?;
        let last = self.last_release.as_ref();
        if let Some(last) = last.filter(|_| self.clauses.is_dropped(Clause::Present)) {
            return Ok(last.image.clone());
        }
        let none = || NotRequested::NoImage {
            label: pending.label.as_str().to_owned(),
            repository: pending.repository.clone(),
        };
        let selected = self.image_of(pending).ok_or_else(none)?.clone();
        match last.filter(|it| it.image != selected) {
            None => Ok(selected),
            Some(last) => Err(NotRequested::OtherImage {
                label: pending.label.as_str().to_owned(),
                selected: Box::new(selected),
                present: Box::new(last.image.clone()),
                release: last.number,
            }),
        }
    }

    /// Forms a release with the content of an older one, for one environment alone.
    ///
    /// What comes next is compared with the same release as before: no poll undoes a rollback.
    pub fn roll_back(&mut self, environment: &str, to: &Release, at: Timestamp) -> Release {
        let number = self.next_number();
        let release = Release {
            number,
            cause: Cause::Rollback,
            previous: self.last_release.as_ref().map(|it| it.number),
            at,
            rollback: Some(Rollback {
                environment: environment.to_owned(),
                to: to.number,
            }),
            ..to.clone()
        };
        self.numbered = number;
        if self.clauses.is_dropped(Clause::Measure) {
            self.last_release = Some(release.clone());
        }
        // Cycles that are under way would form a release of the same number.
        self.version += 1;
        release
    }

    /// Returns the number of the next release.
    pub(super) fn next_number(&self) -> u64 {
        let last = self.last_release.as_ref().map(|it| it.number);
        let last = last.unwrap_or_default();
        let numbered = match self.clauses.is_dropped(Clause::Numbers) {
            false => self.numbered,
            true => 0,
        };
        last.max(numbered) + 1
    }
}
