//! What `/stream` tells.

use jiff::Timestamp;
use pathline_ledger as ledger;
use pathline_lineage::ArtifactId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{OwnerRef, schemas};

/// The data of the event `change`: something new is known of an owner.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Change {
    /// The place of the change among all; also the id of the event, to go on from.
    pub sequence: i64,
    /// When it was recorded.
    #[schema(schema_with = schemas::time)]
    pub time: Timestamp,
    /// Whose change it is.
    pub owner: OwnerRef,
    /// What its resources made; the first of it, where it is very much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<MadeNow>,
    /// Which of its inputs arrived; the first of them, where they are very many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrived: Vec<ArrivedNow>,
    /// Whether the owner is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// The data of the event `begin`, with which every stream begins.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Begin {
    /// Changes after this one are told.
    pub sequence: i64,
}

/// What a resource made, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct MadeNow {
    /// The resource of the blueprint.
    pub resource: String,
    /// What it made; absent where the object itself is the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::artifact_id, required = false)]
    pub artifact: Option<ArtifactId>,
}

/// What arrived, in short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ArrivedNow {
    /// The name of the owner's input.
    pub input: String,
    /// Its value.
    #[schema(schema_with = schemas::artifact_id)]
    pub artifact: ArtifactId,
    /// Whether it also runs.
    pub live: bool,
}

impl From<ledger::Recorded> for Change {
    fn from(recorded: ledger::Recorded) -> Self {
        let ledger::What {
            made,
            arrived,
            gone,
        } = recorded.what;
        Self {
            sequence: recorded.sequence,
            time: recorded.time,
            owner: OwnerRef::from(recorded.owner),
            made: made.into_iter().map(MadeNow::from).collect(),
            arrived: arrived.into_iter().map(ArrivedNow::from).collect(),
            gone,
        }
    }
}

impl From<ledger::MadeNow> for MadeNow {
    fn from(made: ledger::MadeNow) -> Self {
        Self {
            resource: made.resource,
            artifact: made.artifact,
        }
    }
}

impl From<ledger::ArrivedNow> for ArrivedNow {
    fn from(arrived: ledger::ArrivedNow) -> Self {
        Self {
            input: arrived.input,
            artifact: arrived.artifact,
            live: arrived.live,
        }
    }
}
