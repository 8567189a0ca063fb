//! As much of JSON Schema as the document uses; what it does not know it does not let pass.

use serde_json::Value;

/// Keywords that only explain, or are too fine for an example to get wrong.
const SAYS_NOTHING: [&str; 9] = [
    "description",
    "format",
    "example",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "title",
    "writeOnly",
];

/// Returns what is wrong with a value, if something is.
pub(super) fn violation(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let schema = schema.as_object()?;
    let check = |(keyword, rule): (&String, &Value)| match keyword.as_str() {
        "$ref" => violation(document, resolve(document, rule), value),
        "allOf" => all(rule).find_map(|it| violation(document, it, value)),
        "oneOf" => {
            let fits = all(rule).filter(|it| violation(document, it, value).is_none());
            let fits = fits.count();
            (fits != 1).then(|| format!("{value} fits {fits} of {rule}"))
        }
        "type" => (!has_type(rule, value)).then(|| format!("{value} is no {rule}")),
        "enum" => (!all(rule).any(|it| it == value)).then(|| format!("{value} is not in {rule}")),
        "pattern" => {
            (rule == "^[0-9a-f]{64}$" && !is_digest(value)).then(|| format!("{value}: {rule}"))
        }
        "required" => {
            let missing = |name: &&Value| value.get(name.as_str().unwrap_or_default()).is_none();
            all(rule)
                .find(missing)
                .map(|name| format!("{value} lacks {name}"))
        }
        "properties" => {
            let rules = rule.as_object().expect("properties have names").iter();
            let mut given = rules.filter_map(|(name, rule)| Some((rule, value.get(name)?)));
            given.find_map(|(rule, value)| violation(document, rule, value))
        }
        "items" => value
            .as_array()?
            .iter()
            .find_map(|it| violation(document, rule, it)),
        "additionalProperties" => (rule != false).then(|| format!("unexpected {rule}")),
        known if SAYS_NOTHING.contains(&known) => None,
        unknown => Some(format!("nobody checks `{unknown}`")),
    };
    schema.iter().find_map(check)
}

fn resolve<'a>(document: &'a Value, reference: &Value) -> &'a Value {
    let pointer = reference.as_str().and_then(|it| it.strip_prefix('#'));
    let found = pointer.and_then(|pointer| document.pointer(pointer));
    found.unwrap_or_else(|| panic!("{reference} leads nowhere"))
}

fn all(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.as_array().expect("a list").iter()
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    match rule {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

fn is_digest(value: &Value) -> bool {
    let digits = value.as_str().unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
