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

    /// Returns what it means, and what to do about it.
    pub const fn message(self) -> &'static str {
        match self {
            Self::AuthFailed => {
                "a host refuses the credentials; give the tracker another token, or the registry another login"
            }
            Self::AwaitingContainer => {
                "the configuration waits for an image that its version selects; push one if there is none"
            }
            Self::ConfigInvalid => "the application file is not valid",
            Self::ConfigMissing => {
                "there is no application file at `sourcePath`; commit one, or point the tracker to it"
            }
            Self::ConfigQueued => "the configuration has changed, and waits until its image does",
            Self::ImageNotFound => {
                "the registry has no such repository, or does not show it; push an image, or give a login"
            }
            Self::RateLimited => {
                "a host wants fewer requests, and is asked again when it allows it"
            }
            Self::RefMissing => {
                "the repository has no such branch, tag or commit, or is not shown; check `repo`, the reference and the token"
            }
            Self::RegistryError => "the registry does not answer as it should, and is asked again",
            Self::SelectedTagGone => {
                "the version of the last release selects no image any more; what is released stays"
            }
            Self::SourceError => "the repository cannot be read, and is asked again",
            Self::VersionRegressed => {
                "the highest version is lower than the released one; what is released stays"
            }
            Self::WaitingForConfig => {
                "an image is ready, and is released as soon as the configuration can be read"
            }
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
