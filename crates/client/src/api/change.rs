//! The events of `/stream`.

use jiff::Timestamp;
use pathline_lineage::ArtifactId;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::OwnerRef;

/// The data of the event `change`: something new is known of an owner.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Change {
    /// The place of the change among all; also the id of the event, to go on from.
    pub sequence: i64,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
    /// The owner whose change it is.
    pub owner: OwnerRef,
    /// The artifacts that its resources made; the first of them, where they are very many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<MadeNow>,
    /// The inputs that arrived; the first of them, where they are very many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrived: Vec<ArrivedNow>,
    /// Whether the owner is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// The data of the event `tracker`: something has happened to a tracker.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct TrackerEvent {
    /// The place of the change among all; also the id of the event, to go on from.
    pub sequence: i64,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
    /// The name of the tracker, `GROUP.NAME`.
    pub tracker: String,
    /// The uid of the tracker: another one of the same name has another.
    pub uid: String,
    /// The event: `created`, `replaced` or `deleted`; `released`, where somebody has had a release of it; `hinted`, where a sender says that something may have
    /// changed, or `wanted`, where somebody wants it to be looked at; `observed`, where its status has changed.
    pub what: String,
    /// The token, or the sender, that did it; absent where Pathline itself has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The data of the event `release`: a tracker has formed one.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ReleaseEvent {
    /// The place of the change among all; also the id of the event, to go on from.
    pub sequence: i64,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
    /// The id of the release, for `GET /releases/{id}`.
    pub id: String,
    /// The name of its tracker.
    pub tracker: String,
    /// The number among those of its tracker.
    pub number: u64,
    /// The reason: `initial`, `container_updated`, `version_created`, `label_changed`, `requested` or `rollback`.
    pub cause: String,
    /// The image, by digest.
    pub image: String,
    /// The token that has asked for it; absent where Pathline itself has formed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The data of the event `move`: a release is in another state in an environment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct MoveEvent {
    /// The place of the change among all; also the id of the event, to go on from.
    pub sequence: i64,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
    /// The id of the release, for `GET /releases/{id}`.
    pub id: String,
    /// The name of its tracker.
    pub tracker: String,
    /// The number among those of its tracker.
    pub number: u64,
    /// The environment.
    pub environment: String,
    /// The state before; absent if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The state from then on: `queued`, `held`, `deploying`, `deployed`, `failed`, `superseded`, `skipped` or
    /// `cancelled`.
    pub to: String,
    /// The token that did it; absent where it followed by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason, as somebody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The data of the event `hold`: an environment, or a tracker in it, takes nothing any more, or takes something again.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct HoldEvent {
    /// The place of the change among all; also the id of the event, to go on from.
    pub sequence: i64,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
    /// The environment.
    pub environment: String,
    /// The name of the tracker; absent for the environment as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracker: Option<String>,
    /// The event: `held` or `resumed`.
    pub what: String,
    /// The token that did it.
    pub by: String,
    /// The reason, as somebody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The data of the event `begin`, with which every stream begins.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Begin {
    /// Changes after this one are told.
    pub sequence: i64,
}

/// An artifact that a resource made, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct MadeNow {
    /// The resource of the blueprint.
    pub resource: String,
    /// The artifact that it made; absent where the object itself is the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::artifact_id, required = false))]
    pub artifact: Option<ArtifactId>,
}

/// An input that arrived, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ArrivedNow {
    /// The name of the owner's input.
    pub input: String,
    /// Its value.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::artifact_id))]
    pub artifact: ArtifactId,
    /// Whether it also runs.
    pub live: bool,
}
