//! The invariants of trackers.

use pathline_release::label::Kind;
use pathline_release::tracker::{
    Cycle, ImageQuery, Outcome, Pending, RegistryProblem, SourceRead, Tracker,
};
use pathline_release::{Cause, Release, Version};

use super::counts::Counts;
use super::world::{Source, World};

/// The releases of a history so far, which invariants compare with what follows.
#[derive(Default)]
pub(super) struct Checker {
    releases: Vec<Release>,
}

pub(super) type Checked = Result<(), String>;

pub(super) fn require(holds: bool, broken: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(broken()) }
}

impl Checker {
    /// Checks what followed from a cycle; `before` is the tracker before it.
    pub(super) fn observed(
        &mut self,
        world: &World,
        (before, tracker): (&Tracker, &Tracker),
        (cycle, outcome): (&Cycle, &Outcome),
        counts: &mut Counts,
    ) -> Checked {
        let is_stale = cycle.basis != before.basis() || before.is_deleted();
        require(outcome.is_discarded == is_stale, || {
            "a stale cycle counts".into()
        })?;
        counts.discarded += u64::from(is_stale);
        let is_read = match cycle.source {
            SourceRead::Unchanged => before.source().is_some(),
            SourceRead::Read(_) => true,
            SourceRead::Problem(_) => false,
        };
        let is_good = is_read && cycle.registry.problem.is_none() && !is_stale;
        if let Some(release) = &outcome.release {
            // What is not there is an answer; the one that counts is that about the released image.
            let query = ImageQuery::of(&release.configuration);
            let is_answered = cycle.registry.problem == Some(RegistryProblem::NotFound)
                && cycle.registry.answers.iter().any(|it| it.query == query);
            let is_good = is_good || is_read && is_answered && !is_stale;
            require(is_good, || "9.5: a release without both answers".into())?;
            self.released(world, release)?;
            counts.releases += 1;
        }
        if is_good {
            self.settled(world, tracker, outcome.release.is_some())?;
        }
        Ok(())
    }

    /// Checks a release that somebody asked for; `pending` is what waited before.
    pub(super) fn requested(&mut self, release: &Release, pending: Option<&Pending>) -> Checked {
        let pending = pending.map(|it| &it.configuration);
        require(pending == Some(&release.configuration), || {
            "9: a configuration that did not wait".into()
        })?;
        let label = &release.configuration.label;
        let tag = release.image.tag.as_str();
        let is_selected = label.choose([tag], None) == Some(tag)
            && release.configuration.repository == release.image.repository;
        require(is_selected, || "3: the label selects another image".into())?;
        let previous = self.previous().map(|it| &it.image);
        require(previous.is_none_or(|it| *it == release.image), || {
            "a request does not change the image".into()
        })?;
        self.formed(release)
    }

    /// Checks a rollback.
    pub(super) fn rolled_back(&mut self, release: &Release) -> Checked {
        let rollback = release.rollback.as_ref();
        let to = rollback.and_then(|it| self.releases.iter().find(|to| to.number == it.to));
        let is_same = to.is_some_and(|it| {
            it.image == release.image && it.configuration == release.configuration
        });
        require(is_same && release.cause == Cause::Rollback, || {
            "a rollback has the content of another release".into()
        })?;
        self.formed(release)
    }

    /// Returns the last release that is no rollback.
    fn previous(&self) -> Option<&Release> {
        let mut newest_first = self.releases.iter().rev();
        newest_first.find(|it| it.cause != Cause::Rollback)
    }

    fn formed(&mut self, release: &Release) -> Checked {
        let number = self.releases.last().map_or(1, |it| it.number + 1);
        require(release.number == number, || {
            "1: numbers follow each other".into()
        })?;
        self.releases.push(release.clone());
        Ok(())
    }

    fn released(&mut self, world: &World, release: &Release) -> Checked {
        let previous = self.previous();
        let (label, image) = (&release.configuration.label, &release.image);
        if label.kind() != Kind::Follow {
            require(image.tag == label.as_str(), || {
                "3: the tag is the label".into()
            })?;
        }
        let query = ImageQuery::of(&release.configuration);
        let selected = world.select(&query, previous.map(|it| &it.image));
        require(selected.as_ref() == Some(image), || {
            "3: the label selects another image".into()
        })?;
        let is_current =
            matches!(&world.source, Source::Readable(it) if it.is_same(&release.configuration));
        let is_former = previous.is_some_and(|it| it.configuration.is_same(&release.configuration));
        require(is_current || is_former, || {
            "9: a configuration from nowhere".into()
        })?;
        if let Some(previous) = previous {
            require(*image != previous.image, || {
                "2: the image did not move".into()
            })?;
            let is_same_label = previous.configuration.is_same_label(&release.configuration);
            let versions = (
                Version::parse(&previous.image.tag),
                Version::parse(&image.tag),
            );
            if let (true, (Some(from), Some(to))) = (is_same_label, versions) {
                require(to.cmp_precedence(&from).is_ge(), || {
                    "D11: a downgrade".into()
                })?;
            }
        }
        self.formed(release)
    }

    /// Checks that nothing is left to be done after a good cycle; one that has released something may leave something
    /// for the next.
    fn settled(&self, world: &World, tracker: &Tracker, has_released: bool) -> Checked {
        let Source::Readable(source) = &world.source else {
            return Ok(());
        };
        let last = tracker.last_release();
        let is_released = last.is_some_and(|it| it.configuration.is_same(source));
        let pending = tracker.pending().map(|it| &it.configuration);
        match pending {
            None => require(is_released, || "9.5: a configuration is lost".into()),
            Some(pending) => {
                require(!is_released, || "D6: what is released waits".into())?;
                require(pending.is_same(source), || "D5: an older one waits".into())?;
                let selected = world.select(&ImageQuery::of(pending), last.map(|it| &it.image));
                let is_waiting = match (&selected, last) {
                    (None, _) => true,
                    (Some(_), None) => false,
                    (Some(image), Some(last)) => {
                        *image == last.image || last.configuration.is_same_label(pending)
                    }
                };
                require(is_waiting || has_released, || {
                    "9.5: an image that is there is waited for".into()
                })
            }
        }
    }
}
