//! Trackers: they watch one application, and know when configuration and image are both ready.
//!
//! A [`Tracker`] is a state machine. Each [`Cycle`] brings what a registry and a repository answered, and
//! [`Tracker::observe`] says what follows: at most one [`Release`]. A changed configuration waits (`pending`) until
//! an image that its own label selects appears; an image that changes is released with the configuration that is
//! released, or with the one that waits for it. Everything is compared with the state, never with events, so that
//! whatever happens between two cycles, or while Pathline is down, is found by the next one.

mod by_hand;
mod condition;
mod decision;
mod observation;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use self::by_hand::NotRequested;
pub use self::condition::Condition;
use self::decision::{Candidate, cause, is_regressed, may_follow};
pub use self::observation::{
    Basis, Cycle, ImageAnswer, ImageQuery, RegistryProblem, RegistryRead, SourceProblem, SourceRead,
};
use crate::clauses::{Clause, Clauses};
use crate::release::{Configuration, Image, Release};

/// The state of one tracker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tracker {
    generation: u64,
    version: u64,
    /// The configuration as the repository has it; nothing while it has none that can be read.
    source: Option<Configuration>,
    /// The reason why it has none.
    source_problem: Option<SourceProblem>,
    /// The images that the labels of the released and of the pending configuration select.
    images: Vec<ImageAnswer>,
    last_release: Option<Release>,
    /// The highest number that a release has; not stored before there were rollbacks, which are not `last_release`.
    #[serde(default)]
    numbered: u64,
    pending: Option<Pending>,
    conditions: BTreeMap<Condition, Timestamp>,
    /// The time since which a release is held back, to see whether more changes.
    settling_since: Option<Timestamp>,
    settle: SignedDuration,
    is_deleted: bool,
    #[serde(skip)]
    clauses: Clauses,
}

/// A configuration that waits for its image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The configuration.
    pub configuration: Configuration,
    /// The time since which it waits.
    pub since: Timestamp,
}

/// The progress of a tracker as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Neither a configuration nor a problem is known yet.
    Ingesting,
    /// All is well.
    Tracking,
    /// Some condition keeps it from doing its work.
    Degraded,
}

/// The consequences of one cycle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether the answers belong to another state, and were not looked at.
    pub is_discarded: bool,
    /// Whether anything changed that has to be stored.
    pub has_changed: bool,
    /// The release that was formed.
    pub release: Option<Release>,
    /// The configuration that waited and is replaced by a newer one.
    pub replaced: Option<Configuration>,
    /// The time at which both sides should be read again, for a change to settle.
    pub read_again_at: Option<Timestamp>,
    /// A question that nobody asked in this cycle, since the configuration is new: the cycle has to be run again,
    /// with it.
    pub unasked: Option<ImageQuery>,
}

/// Queries
impl Tracker {
    /// Returns the tracker of an application that nobody has looked at; changes are released when they have settled
    /// for a time.
    pub fn new(settle: SignedDuration) -> Self {
        Self {
            generation: 1,
            settle,
            ..Self::default()
        }
    }

    /// Returns the state that answers have to be for.
    pub fn basis(&self) -> Basis {
        Basis {
            generation: self.generation,
            version: self.version,
        }
    }

    /// Returns the questions for a registry, given a configuration that was just read.
    pub fn queries(&self, read: Option<&Configuration>) -> Vec<ImageQuery> {
        let released = self.last_release.as_ref().map(|it| &it.configuration);
        let pending = self.pending.as_ref().map(|it| &it.configuration);
        let mut queries: Vec<ImageQuery> = Vec::new();
        for configuration in [released, pending, read].into_iter().flatten() {
            let query = ImageQuery::of(configuration);
            if !queries.contains(&query) {
                queries.push(query);
            }
        }
        queries
    }

    /// Returns the release that was formed last, and that what comes is compared with: no rollback is.
    pub fn last_release(&self) -> Option<&Release> {
        self.last_release.as_ref()
    }

    /// Returns the configuration that waits.
    pub fn pending(&self) -> Option<&Pending> {
        self.pending.as_ref()
    }

    /// Returns the configuration as the repository has it.
    pub fn source(&self) -> Option<&Configuration> {
        self.source.as_ref()
    }

    /// Returns the image that a question selected when it was asked last; nothing if there was none, or nobody has asked.
    pub fn answer(&self, query: &ImageQuery) -> Option<&Image> {
        let known = self.images.iter().find(|it| it.query == *query)?;
        known.selected.as_ref()
    }

    /// Tells whether the file was read and is not valid.
    pub fn has_invalid_source(&self) -> bool {
        self.source_problem == Some(SourceProblem::ConfigInvalid)
    }

    /// Returns what holds since the last cycle, by name, each with the time since which it holds.
    pub fn conditions(&self) -> impl Iterator<Item = (Condition, Timestamp)> {
        self.conditions.iter().map(|(it, since)| (*it, *since))
    }

    /// Returns the progress as a whole.
    pub fn phase(&self) -> Phase {
        if self.conditions.keys().any(|it| it.is_trouble()) {
            Phase::Degraded
        } else if self.source.is_none() {
            Phase::Ingesting
        } else {
            Phase::Tracking
        }
    }

    /// Tells whether it was deleted.
    pub fn is_deleted(&self) -> bool {
        self.is_deleted
    }

    #[cfg(feature = "clauses")]
    pub(crate) fn clauses_mut(&mut self) -> &mut Clauses {
        &mut self.clauses
    }

    fn selected(&self, configuration: &Configuration) -> Option<&ImageAnswer> {
        self.images.iter().find(|it| it.is_for(configuration))
    }

    fn image_of(&self, configuration: &Configuration) -> Option<&Image> {
        self.selected(configuration)?.selected.as_ref()
    }
}

/// Transitions
impl Tracker {
    /// Takes the answers of a cycle, and says what follows.
    pub fn observe(&mut self, cycle: Cycle, at: Timestamp) -> Outcome {
        let is_current = self
            .clauses
            .holds(Clause::Basis, cycle.basis == self.basis());
        if self.is_deleted || !is_current {
            return Outcome {
                is_discarded: true,
                ..Outcome::default()
            };
        }
        let before = self.clone();
        let mut outcome = Outcome::default();
        let registry_problem = cycle.registry.problem;
        let asked = cycle.registry.answers;
        self.learn(&asked);
        let source_problem = self.read(cycle.source);
        if source_problem.is_none() {
            outcome.replaced = self.queue_source(at);
        }
        let is_read = self
            .clauses
            .holds(Clause::SourceRead, source_problem.is_none());
        let is_answered = self
            .clauses
            .holds(Clause::RegistryRead, registry_problem.is_none());
        // What is not there is an answer, to that question: it keeps nothing back that another one selects.
        let is_answered = is_answered || registry_problem == Some(RegistryProblem::NotFound);
        let is_asked = |query: &ImageQuery| asked.iter().any(|it| it.query == *query);
        let unasked = self.queries(None).into_iter().find(|it| !is_asked(it));
        outcome.unasked = unasked.filter(|_| registry_problem.is_none());
        let candidate = self.candidate();
        let is_fresh = candidate.is_some_and(|it| is_asked(&ImageQuery::of(it.configuration)));
        if candidate.is_none() {
            self.settling_since = None;
        } else if is_read && is_answered && is_fresh {
            outcome.read_again_at = self.settles_at(at);
            if outcome.read_again_at.is_none() {
                outcome.release = self.form(at);
            }
        }
        self.forget_images();
        let is_ready = registry_problem.is_none() && !is_read && self.candidate().is_some();
        let mut conditions = self.standing_conditions();
        conditions.extend(registry_problem.map(Condition::from));
        conditions.extend(source_problem.map(Condition::from));
        conditions.extend(is_ready.then_some(Condition::WaitingForConfig));
        self.set_conditions(&conditions, at);
        outcome.has_changed = *self != before;
        self.version += u64::from(outcome.has_changed);
        outcome
    }

    /// Points the tracker to another repository, path or reference: what was read there is forgotten, answers that
    /// are under way are discarded, and what is released stays the measure of what comes.
    pub fn point_elsewhere(&mut self) {
        self.generation += 1;
        self.source = None;
        self.source_problem = None;
    }

    /// Lets changes settle for a time from now on, before they are released.
    pub fn settle_for(&mut self, settle: SignedDuration) {
        self.settle = settle;
    }

    /// Takes a configuration that somebody brought along, until the repository has been read. Nothing is released of it
    /// before that, since nobody has asked a registry.
    pub fn bring_along(&mut self, configuration: Configuration, at: Timestamp) {
        self.source = Some(configuration);
        self.queue_source(at);
        let conditions = self.standing_conditions();
        self.set_conditions(&conditions, at);
        self.version += 1;
    }

    /// Ends the tracking. What waits is dropped.
    pub fn delete(&mut self) {
        self.is_deleted = true;
        self.pending = None;
        self.settling_since = None;
        self.conditions.clear();
    }

    fn learn(&mut self, answers: &[ImageAnswer]) {
        for answer in answers {
            // In its place: another order of answers is no change.
            match self.images.iter_mut().find(|it| it.query == answer.query) {
                Some(known) => known.clone_from(answer),
                None => self.images.push(answer.clone()),
            }
        }
    }

    /// Takes the answer of the repository; returns why there is no configuration in it.
    fn read(&mut self, read: SourceRead) -> Option<SourceProblem> {
        match read {
            SourceRead::Unchanged => return self.source_problem,
            SourceRead::Read(configuration) => {
                self.source = Some(configuration);
                self.source_problem = None;
            }
            SourceRead::Problem(problem) if problem.is_lasting() => {
                self.source = None;
                self.source_problem = Some(problem);
            }
            SourceRead::Problem(problem) => return Some(problem),
        }
        self.source_problem
    }

    /// Lets the configuration of the repository wait, unless it is the released one; returns the one that waited
    /// instead.
    fn queue_source(&mut self, at: Timestamp) -> Option<Configuration> {
        let source = self.source.as_ref()?;
        let is_released = |last: &Release| source.is_same(&last.configuration);
        let is_released = self.last_release.as_ref().is_some_and(is_released);
        let is_pending = |it: &Pending| it.configuration.is_same(source);
        if is_released && !self.clauses.is_dropped(Clause::Reverted) {
            return self.pending.take().map(|it| it.configuration);
        } else if self.pending.as_ref().is_some_and(is_pending) {
            return None;
        }
        let pending = Pending {
            configuration: source.clone(),
            since: at,
        };
        self.pending.replace(pending).map(|it| it.configuration)
    }

    /// Finds what can be released: the pending configuration with an image of its label, or the released one with
    /// another image.
    fn candidate(&self) -> Option<Candidate<'_>> {
        let last = self.last_release.as_ref();
        let pending = self.pending.as_ref().map(|it| &it.configuration);
        let of_label = |configuration| {
            let image = self.image_of(configuration);
            let is_dropped = self.clauses.is_dropped(Clause::OwnLabel);
            image.or_else(|| self.image_of(&last.filter(|_| is_dropped)?.configuration))
        };
        let pending = pending.and_then(|configuration| {
            let image = of_label(configuration)?;
            let may = |last| may_follow(last, configuration, image, self.clauses);
            last.is_none_or(may).then_some(Candidate {
                configuration,
                image,
                is_pending: true,
            })
        });
        pending.or_else(|| {
            let last = last?;
            let configuration = &last.configuration;
            let image = self.image_of(configuration)?;
            may_follow(last, configuration, image, self.clauses).then_some(Candidate {
                configuration,
                image,
                is_pending: false,
            })
        })
    }

    /// Returns the time at which what can be released has settled, if that is still to come.
    fn settles_at(&mut self, at: Timestamp) -> Option<Timestamp> {
        let since = *self.settling_since.get_or_insert(at);
        let settled = since.checked_add(self.settle).unwrap_or(Timestamp::MAX);
        (settled > at).then_some(settled)
    }

    fn form(&mut self, at: Timestamp) -> Option<Release> {
        let candidate = self.candidate()?;
        let last = self.last_release.as_ref();
        let previous = last.map(|it| it.number);
        let release = Release {
            number: self.next_number(),
            configuration: candidate.configuration.clone(),
            image: candidate.image.clone(),
            cause: cause(last, candidate.image),
            previous,
            at,
            rollback: None,
        };
        if candidate.is_pending {
            self.pending = None;
        }
        self.settling_since = None;
        self.numbered = release.number;
        self.last_release = Some(release.clone());
        Some(release)
    }

    /// Forgets answers to questions that nobody asks any more.
    fn forget_images(&mut self) {
        let queries = self.queries(None);
        self.images.retain(|it| queries.contains(&it.query));
    }

    fn standing_conditions(&self) -> BTreeSet<Condition> {
        let pending = self.pending.as_ref().map(|it| &it.configuration);
        let mut conditions: BTreeSet<_> = pending
            .map(|it| match self.image_of(it) {
                Some(_) => Condition::ConfigQueued,
                None => Condition::AwaitingContainer,
            })
            .into_iter()
            .collect();
        if let Some(last) = &self.last_release {
            let selected = self.selected(&last.configuration);
            conditions.extend(selected.and_then(|answer| match &answer.selected {
                None => Some(Condition::SelectedTagGone),
                Some(image) => is_regressed(last, image).then_some(Condition::VersionRegressed),
            }));
        }
        conditions
    }

    fn set_conditions(&mut self, conditions: &BTreeSet<Condition>, at: Timestamp) {
        self.conditions.retain(|it, _| conditions.contains(it));
        for condition in conditions {
            self.conditions.entry(*condition).or_insert(at);
        }
    }
}
