//! Outcomes of questions to hosts: what went wrong, and when the host may be asked again.

use jiff::Timestamp;
use pathline_release::poll::{Ending, Failure};
use pathline_release::tracker::{RegistryProblem, SourceProblem};
use pathline_remote::registry::{RegistryError, RegistryErrorKind};
use pathline_remote::source::{SourceError, SourceErrorKind};

use super::metrics::PollOutcome;

/// A question that a host did not answer.
#[derive(Clone, Debug)]
pub(super) struct Trouble<P> {
    pub(super) problem: P,
    /// The reason, in words that have no secrets.
    pub(super) message: String,
    /// The time before which the host does not want to be asked.
    pub(super) not_before: Option<Timestamp>,
    /// Whether the host was not asked at all, since it had said so before.
    pub(super) is_held: bool,
}

impl<P> Trouble<P> {
    /// Returns the time at which the host can be asked that was not: nothing has failed, so nothing is added to it.
    fn held_until(&self) -> Option<Ending> {
        self.not_before.filter(|_| self.is_held).map(Ending::Again)
    }
}

/// Returns the problem behind an error of a registry.
pub(super) fn of_registry(error: &RegistryError) -> RegistryProblem {
    match error.kind {
        RegistryErrorKind::NotFound => RegistryProblem::NotFound,
        RegistryErrorKind::AuthFailed => RegistryProblem::AuthFailed,
        RegistryErrorKind::RateLimited => RegistryProblem::RateLimited,
        RegistryErrorKind::Failed => RegistryProblem::Failed,
    }
}

/// Returns the problem behind an error of a repository.
pub(super) fn of_source(error: &SourceError) -> SourceProblem {
    match error.kind {
        SourceErrorKind::RefMissing => SourceProblem::RefMissing,
        SourceErrorKind::FileMissing { .. } => SourceProblem::ConfigMissing,
        SourceErrorKind::TooLarge { .. } => SourceProblem::ConfigInvalid,
        SourceErrorKind::AuthFailed => SourceProblem::AuthFailed,
        SourceErrorKind::RateLimited => SourceProblem::RateLimited,
        SourceErrorKind::Failed => SourceProblem::Failed,
    }
}

/// Returns the word of the metrics for a problem of a registry.
pub(super) fn counted_registry(problem: RegistryProblem) -> PollOutcome {
    match problem {
        RegistryProblem::NotFound => PollOutcome::Missing,
        RegistryProblem::AuthFailed => PollOutcome::Refused,
        RegistryProblem::RateLimited => PollOutcome::Limited,
        RegistryProblem::Failed => PollOutcome::Failed,
    }
}

/// Returns the word of the metrics for a problem of a repository.
pub(super) fn counted_source(problem: SourceProblem) -> PollOutcome {
    match problem {
        SourceProblem::RefMissing | SourceProblem::ConfigMissing => PollOutcome::Missing,
        SourceProblem::AuthFailed => PollOutcome::Refused,
        SourceProblem::RateLimited => PollOutcome::Limited,
        SourceProblem::ConfigInvalid | SourceProblem::Failed => PollOutcome::Failed,
    }
}

impl Trouble<RegistryProblem> {
    /// Returns how a round ends that met this.
    pub(super) fn ending(&self) -> Ending {
        if let Some(held) = self.held_until() {
            return held;
        }
        let is_refused = matches!(
            self.problem,
            RegistryProblem::NotFound | RegistryProblem::AuthFailed
        );
        failed(is_refused, self.not_before)
    }
}

impl Trouble<SourceProblem> {
    /// Returns how a round ends that met this; a file that is not valid was read as it should be.
    pub(super) fn ending(&self) -> Option<Ending> {
        if let Some(held) = self.held_until() {
            return Some(held);
        }
        let is_refused = match self.problem {
            SourceProblem::ConfigInvalid => return None,
            SourceProblem::RefMissing
            | SourceProblem::ConfigMissing
            | SourceProblem::AuthFailed => true,
            SourceProblem::RateLimited | SourceProblem::Failed => false,
        };
        Some(failed(is_refused, self.not_before))
    }
}

fn failed(is_refused: bool, not_before: Option<Timestamp>) -> Ending {
    Ending::Failed {
        failure: match is_refused {
            true => Failure::Refused,
            false => Failure::Passing,
        },
        not_before,
    }
}
