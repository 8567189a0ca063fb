//! Observations: the answers of a registry and of a repository in one cycle.

use serde::{Deserialize, Serialize};

use crate::label::Label;
use crate::release::{Configuration, Image};

/// The answers of one cycle: the registry's, and then the repository's.
///
/// The order matters: a configuration that was committed before an image was pushed is then always seen with it, or
/// before it. An answer of the repository that is older than the registry's must not be part of the same cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The state that the questions were asked for; answers to another one are discarded.
    pub basis: Basis,
    /// The registry's answers.
    pub registry: RegistryRead,
    /// The repository's answer.
    pub source: SourceRead,
}

/// The state of a tracker that a cycle belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The generation: how often the tracker was pointed elsewhere.
    pub generation: u64,
    /// The version: how often an observation has changed something.
    pub version: u64,
}

/// A question to a registry: which image does a label select?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageQuery {
    /// The repository, with its registry.
    pub repository: String,
    /// The label.
    pub label: Label,
}

/// A registry's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageAnswer {
    /// The question.
    pub query: ImageQuery,
    /// The image, or that there is none.
    pub selected: Option<Image>,
}

/// The registry's half of a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryRead {
    /// The answers that are known.
    pub answers: Vec<ImageAnswer>,
    /// The reason why the reading did not succeed.
    pub problem: Option<RegistryProblem>,
}

/// The reason why reading from a registry did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryProblem {
    /// The repository is not there.
    NotFound,
    /// The credentials are refused.
    AuthFailed,
    /// There were too many requests.
    RateLimited,
    /// Anything else.
    Failed,
}

/// The repository's half of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceRead {
    /// Nothing has changed since it was read last.
    Unchanged,
    /// The file was read.
    Read(Configuration),
    /// It could not be read.
    Problem(SourceProblem),
}

/// The reason why reading the file did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceProblem {
    /// The branch, tag or commit is not there.
    RefMissing,
    /// The file is not there.
    ConfigMissing,
    /// The file is not valid.
    ConfigInvalid,
    /// The credentials are refused.
    AuthFailed,
    /// There were too many requests.
    RateLimited,
    /// Anything else.
    Failed,
}

impl SourceProblem {
    /// Tells whether this is how the repository is, and not how the reading went: then it lasts as long as nothing
    /// changes there.
    pub(super) fn is_lasting(self) -> bool {
        matches!(
            self,
            Self::RefMissing | Self::ConfigMissing | Self::ConfigInvalid
        )
    }
}

impl ImageQuery {
    /// Returns the question that a configuration asks.
    pub fn of(configuration: &Configuration) -> Self {
        Self {
            repository: configuration.repository.clone(),
            label: configuration.label.clone(),
        }
    }

    fn is_of(&self, configuration: &Configuration) -> bool {
        self.repository == configuration.repository && self.label == configuration.label
    }
}

impl ImageAnswer {
    /// Tells whether this answers the question that a configuration asks.
    pub(super) fn is_for(&self, configuration: &Configuration) -> bool {
        self.query.is_of(configuration)
    }
}
