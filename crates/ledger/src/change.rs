//! What is recorded: everything new about one owner, in one piece.

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId, Derivation, Track};
use serde::{Deserialize, Serialize};

/// Names an owner. The uid tells it from others that had, or will have, the same name.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct OwnerRef {
    /// `Workload` or `Deliverable`.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The uid the cluster gave it.
    pub uid: String,
}

/// Everything new about one owner. It is recorded as a whole or not at all.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Whose it is.
    pub owner: &'a OwnerRef,
    /// All that is known of it now. What it says to be current becomes current in the ledger.
    pub track: &'a Track,
    /// The derivations that came to be known since the last change, in their order.
    pub derivations: &'a [Derivation],
    /// The values that arrived since the last change.
    pub arrivals: &'a [Arrived],
    /// When it was recorded.
    pub time: Timestamp,
}

/// A value of an owner's input that has arrived, or is live.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Arrived {
    /// The name of the input, such as `param:debug`.
    pub input: String,
    /// The value.
    pub artifact: Artifact,
    /// Whether it also runs, not only arrived.
    pub live: bool,
    /// The generation of the owner that carried it.
    pub generation: i64,
}

/// A change that was recorded, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Where it stands among all changes; later ones have greater numbers.
    pub sequence: i64,
    /// When it was recorded.
    pub time: Timestamp,
    /// Whose it is.
    pub owner: OwnerRef,
    /// What happened.
    pub what: What,
}

/// What happened to an owner, in short.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct What {
    /// What its resources made; cut short where it is very much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<MadeNow>,
    /// What arrived; cut short where it is very much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrived: Vec<ArrivedNow>,
    /// Whether the owner is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// What a resource made, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct MadeNow {
    /// The resource.
    pub resource: String,
    /// What it made; nothing for a sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
}

/// What arrived, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ArrivedNow {
    /// The name of the owner's input.
    pub input: String,
    /// Its value.
    pub artifact: ArtifactId,
    /// Whether it also runs.
    pub live: bool,
}
