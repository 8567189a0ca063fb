//! Conditions: what keeps a tracker from forming a release, or is worth knowing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::observation::{RegistryProblem, SourceProblem};

/// Something that holds of a tracker since its last cycle. The order is that of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Condition {
    /// A host refuses the credentials.
    AuthFailed,
    /// A configuration waits for an image that is not there.
    AwaitingContainer,
    /// The file is not valid.
    ConfigInvalid,
    /// The file is not there.
    ConfigMissing,
    /// A configuration waits until its image changes.
    ConfigQueued,
    /// The repository of the image is not there.
    ImageNotFound,
    /// A host wants fewer requests.
    RateLimited,
    /// The branch, tag or commit is not there.
    RefMissing,
    /// The registry could not be read.
    RegistryError,
    /// The label of the last release selects nothing any more.
    SelectedTagGone,
    /// The repository could not be read.
    SourceError,
    /// The label of the last release selects a lower version than was released.
    VersionRegressed,
    /// An image is ready, and the configuration could not be read with it.
    WaitingForConfig,
}

impl Condition {
    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthFailed => "AuthFailed",
            Self::AwaitingContainer => "AwaitingContainer",
            Self::ConfigInvalid => "ConfigInvalid",
            Self::ConfigMissing => "ConfigMissing",
            Self::ConfigQueued => "ConfigQueued",
            Self::ImageNotFound => "ImageNotFound",
            Self::RateLimited => "RateLimited",
            Self::RefMissing => "RefMissing",
            Self::RegistryError => "RegistryError",
            Self::SelectedTagGone => "SelectedTagGone",
            Self::SourceError => "SourceError",
            Self::VersionRegressed => "VersionRegressed",
            Self::WaitingForConfig => "WaitingForConfig",
        }
    }

    /// Tells whether the tracker is degraded by it: a configuration that waits is as it should be.
    pub const fn is_trouble(self) -> bool {
        !matches!(self, Self::AwaitingContainer | Self::ConfigQueued)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<RegistryProblem> for Condition {
    fn from(problem: RegistryProblem) -> Self {
        match problem {
            RegistryProblem::NotFound => Self::ImageNotFound,
            RegistryProblem::AuthFailed => Self::AuthFailed,
            RegistryProblem::RateLimited => Self::RateLimited,
            RegistryProblem::Failed => Self::RegistryError,
        }
    }
}

impl From<SourceProblem> for Condition {
    fn from(problem: SourceProblem) -> Self {
        match problem {
            SourceProblem::RefMissing => Self::RefMissing,
            SourceProblem::ConfigMissing => Self::ConfigMissing,
            SourceProblem::ConfigInvalid => Self::ConfigInvalid,
            SourceProblem::AuthFailed => Self::AuthFailed,
            SourceProblem::RateLimited => Self::RateLimited,
            SourceProblem::Failed => Self::SourceError,
        }
    }
}
