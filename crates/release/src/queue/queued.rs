//! Releases, as queues know them.

use serde::{Deserialize, Serialize};

use crate::release::{Image, Release};
use crate::vetos::Vetos;

/// The part of a release that decides on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct QueuedRelease {
    pub(super) content: Content,
    pub(super) vetos: Vetos,
    /// The environment that it is for, if it is a rollback.
    pub(super) only: Option<String>,
}

/// The content of a release: two of them may have the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) image: Image,
    config_hash: String,
}

impl QueuedRelease {
    pub(super) fn of(release: &Release) -> Self {
        Self {
            content: Content {
                image: release.image.clone(),
                config_hash: release.configuration.config_hash.clone(),
            },
            vetos: release.configuration.vetos.clone(),
            only: release.rollback.as_ref().map(|it| it.environment.clone()),
        }
    }
}
