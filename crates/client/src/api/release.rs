//! Releases: an image by digest, with the configuration that belongs to it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

/// A release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// The id: a hash of what is released for which tracker.
    pub id: String,
    /// The name of its tracker.
    pub tracker: String,
    /// The number among those of its tracker.
    pub number: u64,
    /// The number of the release before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<u64>,
    /// The reason: `initial`, `container_updated`, `version_created`, `label_changed`, `requested` or `rollback`.
    pub cause: String,
    /// The token whose bearer asked for it; absent where it followed from what was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The configuration, and where it was read.
    pub from: ReleaseSource,
    /// The image.
    pub image: ReleaseImage,
    /// When it was formed.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
    /// The state of it in each environment.
    pub entries: Vec<ReleaseEntry>,
}

/// A release, and what its configuration changes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReleaseDetail {
    /// The release.
    #[serde(flatten)]
    pub release: Release,
    /// The differences from the configuration of the release before, key by key; all keys are added by the first release.
    pub changes: Vec<KeyChange>,
}

/// The configuration of a release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReleaseSource {
    /// The commit that the configuration was read from first.
    pub commit: String,
    /// The blob of the file.
    pub blob: String,
    /// The hash of all that the file says about the application.
    pub config_hash: String,
}

/// The image of a release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReleaseImage {
    /// The repository, with its registry.
    pub repository: String,
    /// The tag; of an image that was asked for by its digest, the digest.
    pub tag: String,
    /// The digest of the top-level manifest.
    pub digest: String,
    /// The commit that the image says it was built from (`org.opencontainers.image.revision`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The repository that it says it was built from (`org.opencontainers.image.source`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A release in one environment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReleaseEntry {
    /// The environment.
    pub environment: String,
    /// The state: `queued`, `held`, `deploying`, `deployed`, `failed`, `superseded`, `skipped` or `cancelled`.
    pub state: String,
    /// Since when it is in that state.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub since: Timestamp,
    /// The release that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<u64>,
    /// The release that was deployed there after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<u64>,
    /// After a failure, where the environment restores: `pending`, `done`, or the reason why it could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<String>,
    /// The reason of a failure, how far a deployment has got, or a note about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One key of a configuration that differs.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct KeyChange {
    /// The name of the key.
    pub key: String,
    /// `added`, `modified` or `removed`.
    pub change: String,
    /// The value before. A secret is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value from now on. A secret is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Whether the value is a secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// A page of releases, the newest first.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ReleasePage {
    /// The releases.
    pub items: Vec<Release>,
    /// The `continue` of the next page; absent after the last.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "continue")]
    pub next: Option<String>,
}
