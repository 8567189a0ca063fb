//! What every answer says that is not the one asked for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every error.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Problem {
    /// What went wrong.
    pub error: ProblemDetail,
}

/// What went wrong, for programs and for people.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ProblemDetail {
    /// One word that programs may rely on, such as `not-found` or `scope-too-small`.
    pub code: String,
    /// What went wrong, for people.
    pub message: String,
    /// What to do next, if there is something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
