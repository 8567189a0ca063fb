//! Changes of lineage: everything new about one owner, in one piece.

use jiff::Timestamp;
use pathline_lineage::{Arrived, ArtifactId, Derivation, OwnerLineage};
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
    /// The owner it belongs to.
    pub owner: &'a OwnerRef,
    /// All that is known of it now. What it says to be current becomes current in the ledger.
    pub lineage: &'a OwnerLineage,
    /// The derivations that came to be known since the last change, in their order.
    pub derivations: &'a [Derivation],
    /// The values that arrived since the last change.
    pub arrivals: &'a [Arrived],
    /// The time at which it was recorded.
    pub time: Timestamp,
}

/// A change that was recorded, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its number among all changes; later ones have greater numbers.
    pub sequence: i64,
    /// The time at which it was recorded.
    pub time: Timestamp,
    /// The owner it belongs to.
    pub owner: OwnerRef,
    /// The difference that it made.
    pub what: What,
}

/// The difference that a change made to an owner, in short.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct What {
    /// The outputs of its resources; cut short where it is very much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<MadeNow>,
    /// The values that arrived; cut short where it is very much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrived: Vec<ArrivedNow>,
    /// Whether the owner is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// An output of a resource, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct MadeNow {
    /// The resource.
    pub resource: String,
    /// The output; nothing for a sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
}

/// A value that arrived, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ArrivedNow {
    /// The name of the owner's input.
    pub input: String,
    /// Its value.
    pub artifact: ArtifactId,
    /// Whether it also runs.
    pub live: bool,
}
