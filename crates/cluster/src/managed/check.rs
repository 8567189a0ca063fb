//! The check that an applied object fits its schema well enough to be merged.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::fields::PathElement;
use crate::schema::{ListKind, Shape, Type, View};

/// Returns what keeps an applied object from being merged, each with its path.
pub(super) fn check(schema: View<'_>, applied: &Value) -> Vec<String> {
    let mut walk = Walk {
        path: Vec::new(),
        problems: Vec::new(),
    };
    walk.value(schema, applied);
    walk.problems
}

struct Walk {
    path: Vec<PathElement>,
    problems: Vec<String>,
}

impl Walk {
    fn report(&mut self, problem: impl std::fmt::Display) {
        let path: String = self.path.iter().map(ToString::to_string).collect();
        self.problems.push(format!("{path}: {problem}"));
    }

    fn value(&mut self, schema: View<'_>, value: &Value) {
        match (schema.shape(value), value) {
            (_, Value::Null) => {}
            (Shape::Map { .. }, Value::Object(fields)) => {
                for (name, value) in fields {
                    self.path.push(PathElement::field(name.as_str()));
                    match schema.child(name) {
                        Some(child) => self.value(child, value),
                        None => self.report("field not declared in schema"),
                    }
                    self.path.pop();
                }
            }
            (Shape::Map { .. }, other) => self.mismatch("map", other),
            (Shape::List(kind), Value::Array(items)) => self.items(schema, kind, items),
            (Shape::List(_), other) => self.mismatch("list", other),
            (Shape::Scalar, value) => self.scalar(schema, value),
        }
    }

    fn items(&mut self, schema: View<'_>, kind: &ListKind, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let position = PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX));
            let element = match kind {
                ListKind::Atomic => position,
                ListKind::Set | ListKind::Map(_) => match schema.element(item) {
                    Ok(element) => element,
                    Err(problem) => {
                        self.report(format_args!("element {index}: {problem}"));
                        continue;
                    }
                },
            };
            if !seen.insert(element.clone()) {
                self.report(format_args!("duplicate entries for key {element}"));
            }
            self.path.push(element);
            self.value(schema.item(), item);
            self.path.pop();
        }
    }

    fn scalar(&mut self, schema: View<'_>, value: &Value) {
        let expected = match schema.kind() {
            Some(Type::Integer | Type::Number) if !value.is_number() => "numeric (int or float)",
            Some(Type::String) if !value.is_string() => "string",
            Some(Type::Boolean) if !value.is_boolean() => "boolean",
            _ => return,
        };
        self.mismatch(expected, value);
    }

    fn mismatch(&mut self, expected: &str, value: &Value) {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "map",
        };
        self.report(format_args!("expected {expected}, got {found}"));
    }
}
