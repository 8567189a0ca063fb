//! The JSON Schema of the application file: it is published, and says what the reader says.

use std::fs;

use pathline_release::application::{Application, schema};
use serde_json::Value;

use crate::applications::{SHOP, mk_name};

/// Returns whether a value has the types that a schema gives it; as much of JSON Schema as the schema here uses.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(&reference[1..]).expect("a definition");
        return fits(value, target, root);
    }
    let is_of = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => value.is_null(),
    };
    let has_type = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is_of),
        kind => is_of(kind),
    };
    let required = schema["required"].as_array().into_iter().flatten();
    let has_required = required
        .filter_map(Value::as_str)
        .all(|it| value.get(it).is_some());
    let options = schema["oneOf"].as_array();
    let has_one =
        options.is_none_or(|it| it.iter().filter(|it| fits(value, it, root)).count() == 1);
    let members = value.as_object().into_iter().flatten();
    let members_fit = members.into_iter().all(|(key, value)| {
        let known = schema["properties"].get(key);
        known
            .or_else(|| schema.get("additionalProperties"))
            .is_none_or(|it| fits(value, it, root))
    });
    let items = value.as_array().into_iter().flatten();
    let items_fit = items
        .into_iter()
        .all(|it| schema.get("items").is_none_or(|of| fits(it, of, root)));
    has_type && has_required && has_one && members_fit && items_fit
}

#[test]
fn schema_fits_files_that_are_read_and_not_those_that_are_refused() {
    let schema = schema();
    let to_json =
        |text: &str| pathline_document::Format::Yaml.read(text).expect("YAML")[0].to_json();
    assert!(fits(&to_json(SHOP), &schema, &schema));
    for wrong in [
        "shop: {web: {version: 1.10}}",
        "shop: {web: {}}",
        "shop: {web: {version: a, imageTag: b}}",
        "shop: {web: {version: a, vetos: {autoDeploy: 'no'}}}",
        "shop: {web: {version: a, environment: {file: {config: {x: {data: [{value: x}]}}}}}}",
        "shop: {web: {version: a, repository: {image: {auth: {username: bot}}}}}",
        "shop: {web: {version: a, in: {prod: {environment: {variable: {A: []}}}}}}",
    ] {
        assert!(
            Application::read(wrong, &mk_name("shop.web")).is_err(),
            "{wrong}"
        );
        assert!(!fits(&to_json(wrong), &schema, &schema), "{wrong}");
    }
}

#[test]
fn published_schema_is_the_one_of_the_reader() {
    let path = pathline_testkit::repository_root().join("docs/fathomable.schema.json");
    let text = serde_json::to_string_pretty(&schema()).expect("a schema") + "\n";
    let published = fs::read_to_string(&path).unwrap_or_default();
    if published != text {
        let fresh =
            std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fathomable.schema.json");
        fs::write(&fresh, text).expect("a scratch file");
        panic!(
            "the schema is out of date; `cp {} {}`",
            fresh.display(),
            path.display()
        );
    }
}
