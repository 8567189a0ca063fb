//! Releases: an image by digest, with the configuration that belongs to it.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::label::Label;
use crate::vetos::Vetos;

/// The configuration of an application, as one commit has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    /// The hash of all that the file says about the application.
    pub config_hash: String,
    /// The label: which image it belongs to.
    pub label: Label,
    /// The repository of the image, with its registry.
    pub repository: String,
    /// The commit that it was read from first.
    pub commit: String,
    /// The blob of the file.
    pub blob: String,
    /// The environments that it keeps out of, or wants to be promoted into by hand.
    #[serde(default)]
    pub vetos: Vetos,
}

/// An image: a tag of a repository, and the manifest that it names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// The repository, with its registry.
    pub repository: String,
    /// The tag; of an image that was asked for by its digest, the digest.
    pub tag: String,
    /// The digest of the top-level manifest.
    pub digest: String,
}

/// The reason for a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It is the first one.
    Initial,
    /// The same tag, or the same version, has other content.
    ContainerUpdated,
    /// There is a higher version.
    VersionCreated,
    /// The configuration names another label, and that is no higher version.
    LabelChanged,
    /// Somebody wanted the configuration without waiting for another image.
    Requested,
    /// Somebody has rolled an environment back.
    Rollback,
}

/// A configuration and the image it is released with. Numbered from 1 for each tracker, and immutable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The number.
    pub number: u64,
    /// The configuration.
    pub configuration: Configuration,
    /// The image.
    pub image: Image,
    /// The reason.
    pub cause: Cause,
    /// The number of the release that it was compared with; rollbacks are not.
    pub previous: Option<u64>,
    /// The time at which it was formed.
    pub at: Timestamp,
    /// The environment that it is for, if it is a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<Rollback>,
}

/// The part of a release that only a rollback has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollback {
    /// The environment that it is for, and that alone.
    pub environment: String,
    /// The number of the release whose content it has.
    pub to: u64,
}

impl Configuration {
    /// Tells whether two configurations say the same, from whichever commits they are.
    pub fn is_same(&self, other: &Self) -> bool {
        self.config_hash == other.config_hash && self.is_same_label(other)
    }

    /// Tells whether two configurations want images by the same label of the same repository.
    pub fn is_same_label(&self, other: &Self) -> bool {
        self.label == other.label && self.repository == other.repository
    }
}

impl Release {
    /// Returns the id: a hash of what is released for which tracker.
    ///
    /// `tracker_uid` is new whenever a tracker is made, so that numbers which begin anew make other ids.
    pub fn id(&self, tracker_uid: &str) -> String {
        let mut hash = Sha256::new();
        let number = self.number.to_string();
        for part in [
            tracker_uid,
            &number,
            &self.configuration.config_hash,
            &self.image.repository,
            &self.image.tag,
            &self.image.digest,
        ] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hex(&hash.finalize())
    }
}

impl Cause {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::ContainerUpdated => "container_updated",
            Self::VersionCreated => "version_created",
            Self::LabelChanged => "label_changed",
            Self::Requested => "requested",
            Self::Rollback => "rollback",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
