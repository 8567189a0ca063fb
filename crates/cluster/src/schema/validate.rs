//! Validation.

use serde_json::Value;

use super::FieldError;
use super::node::View;

/// Returns everything about a value that its schema forbids.
pub(super) fn validate(_schema: View<'_>, _value: &Value) -> Vec<FieldError> {
    Vec::new()
}
