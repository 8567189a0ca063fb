//! The body of every answer that is not the one asked for.

use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

/// The body of every error.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Problem {
    /// The problem.
    pub error: ProblemDetail,
}

/// A problem, for programs and for people.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ProblemDetail {
    /// One word that programs may rely on, such as `not-found` or `scope-too-small`.
    pub code: String,
    /// A sentence that says what went wrong, for people.
    pub message: String,
    /// The next thing to do, if there is something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The fields of the body that are wrong, in their order; with `invalid` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<FieldProblem>,
}

/// A field of a body that is wrong.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct FieldProblem {
    /// The field.
    pub field: String,
    /// One word that programs may rely on, such as `required` or `malformed`.
    pub code: String,
    /// A sentence for people. It never repeats a value.
    pub message: String,
}
