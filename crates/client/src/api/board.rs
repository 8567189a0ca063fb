//! The board: where the releases of all trackers are.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

/// A page of the board, by the names of trackers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Board {
    /// The environments, in the order in which releases go through them.
    pub environments: Vec<String>,
    /// The trackers.
    pub items: Vec<BoardRow>,
    /// The `continue` of the next page; absent after the last.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "continue")]
    pub next: Option<String>,
}

/// The releases of one tracker.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct BoardRow {
    /// The name of the tracker.
    pub tracker: String,
    /// Its place in each environment; empty while it has no release.
    pub environments: Vec<BoardCell>,
}

/// The releases of a tracker in one environment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct BoardCell {
    /// The environment.
    pub environment: String,
    /// The release that is deployed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed: Option<u64>,
    /// The release that is told about: the one that is being deployed, else one that waits, else the newest one.
    pub release: u64,
    /// The tag of its image.
    pub tag: String,
    /// The state of it there; absent if it has not got there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Since when it is in that state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub since: Option<Timestamp>,
    /// The reason why it is not deployed yet, in words.
    pub sentence: String,
    /// The earliest instant at which it is taken there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub earliest: Option<Timestamp>,
    /// Whether it gets there no more.
    pub never: bool,
    /// Whether it is live now, where it is what was deployed last; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
}
