//! Trackers: the applications whose repository and image are followed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::EnvironmentHold;

/// The body that makes a tracker, or replaces what one reads.
///
/// Fields that only answers have are ignored, so that an answer can be edited and sent back; any other is an error.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TrackerRequest {
    /// The name, `GROUP.NAME`; may be left out where the path has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 127))]
    pub id: Option<String>,
    /// The secret that the repository is read with; empty for none. It is in no answer. Where it is left out in a
    /// replacement, the stored one stays, as long as the repository does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 512, write_only))]
    pub token: Option<String>,
    /// The repository: `https://HOST/OWNER/NAME`, or `OWNER/NAME` on github.com.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The application file in it, or the directory of `fathomable.yaml`; empty for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 1024))]
    pub source_path: Option<String>,
    /// The tag that is followed; of `tag`, `branch` and `commit` at most one. None of them is the default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 244))]
    pub tag: Option<String>,
    /// The branch that is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 244))]
    pub branch: Option<String>,
    /// The commit that is read: 40 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = "^[0-9a-f]{40}$"))]
    pub commit: Option<String>,
}

/// A tracker, without its secret.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tracker {
    /// The name, `GROUP.NAME`.
    pub id: String,
    /// The group of the application.
    pub group: String,
    /// The name of the application in its group.
    pub name: String,
    /// The repository.
    pub repo: String,
    /// The application file in it, or the directory of `fathomable.yaml`.
    pub source_path: String,
    /// The tag that is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The branch that is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the repository is read with a secret.
    pub has_token: bool,
    /// The number of times that the secret was given.
    pub token_version: u64,
    /// The number of times that the tracker was pointed to a repository, path or reference.
    pub generation: u64,
    /// When it was made.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub created_at: Timestamp,
    /// The token whose bearer made it.
    pub created_by: String,
    /// When it was replaced last.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub updated_at: Timestamp,
    /// The token whose bearer replaced it last.
    pub updated_by: String,
    /// The state of the application, as far as it is known.
    pub status: TrackerStatus,
}

/// The state of a tracker: what its repository and its registry say, and what followed from that.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TrackerStatus {
    /// `ingesting` until the first answers, `tracking`, or `degraded` while something is wrong.
    pub phase: String,
    /// The conditions that hold.
    pub conditions: Vec<TrackerCondition>,
    /// The keys of the application file that mean nothing, at most 20 of them; in the answer about one tracker only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<TrackerWarning>,
    /// The configuration as the repository has it; absent until it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceState>,
    /// The image that the label of the configuration selects; absent until the registry was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageState>,
    /// The configuration that waits for its image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingConfiguration>,
    /// The release that was formed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_release: Option<ReleaseRef>,
    /// The queues of the environments, in the order in which a release goes through them.
    pub environments: Vec<QueueState>,
    /// The polls, as far as the Pathline that answers makes them: times are kept in memory until something changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<PollState>,
}

/// A condition of a tracker.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TrackerCondition {
    /// The name, such as `ConfigQueued` or `AuthFailed`.
    #[serde(rename = "type")]
    pub of_type: String,
    /// A sentence that says what it means, and what to do.
    pub message: String,
    /// Since when it holds.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub since: Timestamp,
}

/// A key of the application file that means nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TrackerWarning {
    /// The path of the key in the file, such as `shop.web.environmnet`.
    pub path: String,
    /// The line of the key, in the file of `source.commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column of the key, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// A sentence for people.
    pub message: String,
}

/// The configuration as the repository has it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceState {
    /// The commit that it was read from first.
    pub commit: String,
    /// The blob of the file.
    pub blob: String,
    /// The hash of all that the file says about the application.
    pub config_hash: String,
}

/// The image that a label selects.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImageState {
    /// The repository, with its registry.
    pub repository: String,
    /// The label, as the application file has it.
    pub label: String,
    /// The kind of the label: `digest`, `pinned`, `follow` or `fixed`.
    pub kind: String,
    /// The tag; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The digest of the manifest; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A configuration that waits for its image.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PendingConfiguration {
    /// The hash of it.
    pub config_hash: String,
    /// The commit that has it.
    pub commit: String,
    /// Since when it waits.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub since: Timestamp,
    /// The image that it waits for: a repository and a label.
    pub waiting_for: String,
}

/// A release, in short.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReleaseRef {
    /// The id.
    pub id: String,
    /// The number among those of its tracker.
    pub number: u64,
    /// The image, by digest.
    pub image: String,
    /// The tag of the image; of one that was asked for by its digest, the digest.
    pub tag: String,
    /// When it was formed.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
}

/// The queue of one environment: the numbers of releases.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct QueueState {
    /// The environment.
    pub name: String,
    /// The release that is deployed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed: Option<u64>,
    /// The release that is being deployed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deploying: Option<u64>,
    /// The release that waits for the next tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<u64>,
    /// The release that waits to be promoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<u64>,
    /// The release that has failed, unless a newer one was deployed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// The hold of the tracker there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<EnvironmentHold>,
    /// The next instant at which something is taken; absent if there is none, or while the tracker or the environment
    /// is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub next_tick: Option<Timestamp>,
}

/// The polls of a tracker.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PollState {
    /// When repository and registry were asked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub observed_at: Option<Timestamp>,
    /// When they are asked next.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub next_poll_at: Timestamp,
    /// The number of polls that failed since the last one that did not.
    pub failures: u32,
    /// The seconds between two polls; more than were asked for where a budget holds no more.
    pub interval_seconds: u64,
    /// The last failure, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
}
