//! A value of an object that knows where it stands.

use pathline_jsonpath::FieldPath;
use serde_json::Value;

use super::{Refusal, Rule, Severity};

/// A value, and the path that leads to it. Null is absent, as everywhere in the API.
#[derive(Debug, Clone)]
pub(in crate::admission) struct Node<'v> {
    pub(in crate::admission) value: &'v Value,
    pub(in crate::admission) path: FieldPath,
}

impl<'v> Node<'v> {
    pub(in crate::admission) fn root(value: &'v Value) -> Self {
        Self {
            value,
            path: FieldPath::default(),
        }
    }

    /// Returns a member, if it is there and not null.
    pub(in crate::admission) fn get(&self, field: &str) -> Option<Self> {
        let value = self.value.get(field).filter(|value| !value.is_null())?;
        Some(Self {
            value,
            path: self.path.field(field),
        })
    }

    /// Returns the member, or this node if it is not there: the nearest place to point at.
    pub(in crate::admission) fn nearest(&self, field: &str) -> Self {
        self.get(field).unwrap_or_else(|| self.clone())
    }

    /// Returns the text of a member. The API takes an empty text for none.
    pub(in crate::admission) fn text(&self, field: &str) -> Option<&'v str> {
        self.value
            .get(field)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    }

    /// Returns the items of a member that is a list.
    pub(in crate::admission) fn items(&self, field: &str) -> Vec<Self> {
        let Some(list) = self.get(field) else {
            return Vec::new();
        };
        let items = list.value.as_array().into_iter().flatten().enumerate();
        items
            .map(|(index, value)| Self {
                value,
                path: list.path.index(index),
            })
            .collect()
    }

    /// Says whether a member is absent, or an empty list or object.
    pub(in crate::admission) fn is_empty(&self, field: &str) -> bool {
        match self.value.get(field) {
            None | Some(Value::Null) => true,
            Some(Value::Array(list)) => list.is_empty(),
            Some(Value::Object(map)) => map.is_empty(),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => false,
        }
    }

    /// Refuses the object because of this value.
    pub(in crate::admission) fn refuse(&self, rule: Rule, message: impl Into<String>) -> Refusal {
        Refusal {
            rule,
            severity: Severity::Error,
            message: message.into(),
            path: self.path.clone(),
        }
    }
}
