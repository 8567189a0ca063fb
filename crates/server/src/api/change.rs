//! What `/stream` tells.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{OwnerRef, schemas};

/// Something new is known of an owner: ask for it to see what.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The place of the change among all; also the id of the event, to go on from.
    pub sequence: i64,
    /// What happened, such as `recorded` or `gone`.
    pub what: String,
    /// Whose change it is.
    pub owner: OwnerRef,
    /// When it was recorded.
    #[schema(schema_with = schemas::time)]
    pub time: Timestamp,
}
