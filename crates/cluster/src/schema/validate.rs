//! Validation, in Kubernetes' words.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::format;
use super::node::{Bound, Node, Range, Rules, Type, View};
use super::{ErrorKind, FieldError, lists};
use crate::fields::same_value;

/// The path of errors that the API server does not attribute to a field.
const NO_PATH: &str = "<nil>";

/// Returns everything about an object that its schema forbids.
pub(super) fn validate(schema: View<'_>, object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    value(schema, object, "", &mut errors);
    lists::check(schema, object, "", &mut errors);
    errors
}

fn value(schema: View<'_>, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let node = schema.node();
    if value.is_null() && node.nullable {
        return;
    }
    if let Some(expected) = mismatch(node, value) {
        errors.push(wrong_type(path, expected, value));
        allowed(&node.rules, value, path, errors);
        return;
    }
    rules(&node.rules, value, path, errors);
    match value {
        Value::Object(fields) => object(schema, fields, path, errors),
        Value::Array(items) => {
            if let Some(item_schema) = schema.items() {
                for (index, item) in items.iter().enumerate() {
                    self::value(item_schema, item, &format!("{path}[{index}]"), errors);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the name of the type that a value should have and has not.
fn mismatch(node: &Node, value: &Value) -> Option<&'static str> {
    if node.int_or_string {
        let is_quantity = node.rules.format.as_deref() == Some("quantity");
        let fits =
            Type::Integer.admits(value) || value.is_string() || (is_quantity && value.is_number());
        return (!fits).then_some("integer,string");
    }
    let expected = node.kind?;
    (!expected.admits(value)).then(|| expected.name())
}

fn wrong_type(path: &str, expected: &str, value: &Value) -> FieldError {
    let found = type_name(value);
    let detail = format!("{path} in body must be of type {expected}: {found:?}");
    FieldError::new(
        ErrorKind::TypeInvalid,
        path,
        Some(&Value::from(found)),
        &detail,
    )
}

fn type_name(value: &Value) -> &'static str {
    let types = [
        Type::Object,
        Type::Array,
        Type::String,
        Type::Integer,
        Type::Number,
        Type::Boolean,
    ];
    types
        .into_iter()
        .find(|kind| kind.admits(value))
        .map_or("null", Type::name)
}

fn object(schema: View<'_>, fields: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    if schema.node().embedded_resource {
        for name in ["apiVersion", "kind"] {
            if fields.get(name).is_none_or(|value| value == "") {
                errors.push(FieldError::required(below(path, name), ""));
            }
        }
    }
    for (name, field) in fields {
        if let Some(child) = schema.property(name).or_else(|| schema.additional()) {
            value(child, field, &below(path, name), errors);
        }
    }
}

/// Checks what `allOf` and its kin, or a node itself, demand of a value.
fn rules(rules: &Rules, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(expected) = rules.kind.filter(|kind| !kind.admits(value)) {
        errors.push(wrong_type(path, expected.name(), value));
        return;
    }
    junctors(rules, value, path, errors);
    match value {
        Value::String(text) => string(rules, text, path, errors),
        Value::Number(number) => self::number(rules, number, path, errors),
        Value::Array(items) => array(rules, items, path, errors),
        Value::Object(fields) => map(rules, fields, path, errors),
        Value::Null | Value::Bool(_) => {}
    }
    allowed(rules, value, path, errors);
}

fn allowed(rules: &Rules, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let allowed = &rules.allowed;
    if !allowed.is_empty() && !allowed.iter().any(|other| same_value(other, value)) {
        errors.push(FieldError::not_supported(path, value, allowed));
    }
}

fn junctors(rules: &Rules, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let problems_of = |nested: &Rules| {
        let mut problems = Vec::new();
        self::rules(nested, value, path, &mut problems);
        problems
    };
    let composite = |detail: &str| {
        let detail = format!("{path:?} must {detail}");
        FieldError::invalid(NO_PATH, &Value::from(""), &detail)
    };
    let all: Vec<FieldError> = rules.all_of.iter().flat_map(problems_of).collect();
    if !all.is_empty() {
        errors.extend(all);
        errors.push(composite("validate all the schemas (allOf)"));
    }
    if !rules.any_of.is_empty() {
        let tried: Vec<Vec<FieldError>> = rules.any_of.iter().map(problems_of).collect();
        if tried.iter().all(|problems| !problems.is_empty()) {
            errors.push(composite("validate at least one schema (anyOf)"));
            errors.extend(nearest(tried));
        }
    }
    if !rules.one_of.is_empty() {
        let tried: Vec<Vec<FieldError>> = rules.one_of.iter().map(problems_of).collect();
        let only_one = "validate one and only one schema (oneOf). Found";
        match tried.iter().filter(|problems| problems.is_empty()).count() {
            0 => {
                errors.push(composite(&format!("{only_one} none valid")));
                errors.extend(nearest(tried));
            }
            1 => {}
            several => {
                errors.push(composite(&format!(
                    "{only_one} {several} valid alternatives"
                )));
            }
        }
    }
    if rules
        .not
        .as_deref()
        .is_some_and(|not| problems_of(not).is_empty())
    {
        errors.push(composite("not validate the schema (not)"));
    }
}

/// Returns the problems of the alternative that came nearest.
fn nearest(tried: Vec<Vec<FieldError>>) -> Vec<FieldError> {
    tried.into_iter().min_by_key(Vec::len).unwrap_or_default()
}

/// Of length and pattern the API server reports only the first that fails.
fn string(rules: &Rules, text: &str, path: &str, errors: &mut Vec<FieldError>) {
    let value = Value::from(text);
    let length = text.chars().count() as u64;
    if let Some(most) = rules.length.most.filter(|&most| length > most) {
        errors.push(FieldError::too_long(path, most));
    } else if let Some(least) = rules.length.least.filter(|&least| length < least) {
        let detail = format!("{path} in body should be at least {least} chars long");
        errors.push(FieldError::invalid(path, &value, &detail));
    } else if let Some(pattern) = rules
        .pattern
        .as_ref()
        .filter(|pattern| !pattern.matches(text))
    {
        let detail = format!("{path} in body should match '{}'", pattern.source());
        errors.push(FieldError::invalid(path, &value, &detail));
    }
    if let Some(format) = rules
        .format
        .as_deref()
        .filter(|format| !format::admits(format, text))
    {
        let detail = format!("{path} in body must be of type {format}: {text:?}");
        errors.push(FieldError::new(
            ErrorKind::TypeInvalid,
            path,
            Some(&value),
            &detail,
        ));
    }
}

fn number(rules: &Rules, number: &Number, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(format) = rules
        .format
        .as_deref()
        .filter(|format| !format::admits_integer(format, number))
    {
        let detail =
            format!("Checked value must be of type integer with format {format} in {path}");
        errors.push(FieldError::invalid(NO_PATH, &Value::from(""), &detail));
    }
    let mut fail = |detail: String| {
        let detail = format!("{path} in body should be {detail}");
        errors.push(FieldError::invalid(
            path,
            &Value::Number(number.clone()),
            &detail,
        ));
    };
    if let Some(factor) = rules
        .multiple_of
        .filter(|&factor| !is_multiple(number, factor))
    {
        fail(format!("a multiple of {factor}"));
    }
    if let Some(bound) = rules
        .maximum
        .as_ref()
        .filter(|b| is_beyond(number, b, Ordering::Greater))
    {
        let or_equal = if bound.exclusive { "" } else { " or equal to" };
        fail(format!("less than{or_equal} {}", plain(&bound.limit)));
    }
    if let Some(bound) = rules
        .minimum
        .as_ref()
        .filter(|b| is_beyond(number, b, Ordering::Less))
    {
        let or_equal = if bound.exclusive { "" } else { " or equal to" };
        fail(format!("greater than{or_equal} {}", plain(&bound.limit)));
    }
}

fn is_beyond(number: &Number, bound: &Bound, direction: Ordering) -> bool {
    let order = compare(number, &bound.limit);
    order == direction || (bound.exclusive && order == Ordering::Equal)
}

fn compare(a: &Number, b: &Number) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a
            .as_f64()
            .partial_cmp(&b.as_f64())
            .unwrap_or(Ordering::Equal),
    }
}

fn is_multiple(number: &Number, factor: f64) -> bool {
    number
        .as_f64()
        .is_none_or(|number| (number / factor).fract() == 0.0)
}

/// Prints a bound without a trailing `.0`.
fn plain(limit: &Number) -> String {
    let text = limit.to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn array(rules: &Rules, items: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    count(rules.items_count, items.len(), "items", path, errors);
    if let Some(nested) = &rules.items {
        for (index, item) in items.iter().enumerate() {
            self::rules(nested, item, &format!("{path}[{index}]"), errors);
        }
    }
}

fn map(rules: &Rules, fields: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    count(
        rules.properties_count,
        fields.len(),
        "properties",
        path,
        errors,
    );
    for name in rules
        .required
        .iter()
        .filter(|name| !fields.contains_key(*name))
    {
        errors.push(FieldError::required(below(path, name), ""));
    }
    for (name, value) in fields {
        if let Some(nested) = rules.properties.get(name).or(rules.additional.as_deref()) {
            self::rules(nested, value, &below(path, name), errors);
        }
    }
}

fn count(range: Range, actual: usize, what: &str, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(most) = range.most.filter(|&most| actual as u64 > most) {
        errors.push(FieldError::too_many(path, actual, most));
    }
    if let Some(least) = range.least.filter(|&least| (actual as u64) < least) {
        let detail = format!("{path} in body should have at least {least} {what}");
        errors.push(FieldError::invalid(path, &Value::from(actual), &detail));
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
