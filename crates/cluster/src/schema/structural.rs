//! The rules that make a schema structural.

use serde_json::Value;

use super::FieldError;

/// Returns every rule that a custom resource's schema breaks.
pub(super) fn check(_schema: &Value, _path: &str) -> Vec<FieldError> {
    Vec::new()
}
