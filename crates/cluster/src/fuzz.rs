//! The targets of fuzzing: every reader of foreign bytes, with the laws it must keep.
//!
//! The targets in `crates/cluster/fuzz` call these functions; the test below replays the corpus that
//! is committed there, so that what was found once stays fixed without a fuzzer at hand. None of
//! them returns anything: to break a law is to panic.

use std::sync::LazyLock;

use http::{Method, Uri};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::{ListOptions, parse_request};
use crate::fields::FieldSet;
use crate::managed::{self, Writer};
use crate::schema::{Schema, strict};
use crate::selector::{FieldSelector, LabelSelector};
use crate::{builtin, patch, protobuf};

/// Reads a request: a line with its method and URI, then its body.
pub fn request(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |&byte| byte == b'\n');
    let line = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (method, uri) = line.split_once(' ').unwrap_or(("GET", &line));
    if let (Ok(method), Ok(uri)) = (Method::from_bytes(method.as_bytes()), uri.parse::<Uri>())
        && let Ok(request) = parse_request(&method, &uri)
        && let Ok(options) = ListOptions::parse(&request.query)
    {
        selector(&options.labels.to_string());
        selector(&options.fields);
    }
    body(parts.next().unwrap_or_default());
}

/// Reads a body as protobuf: what is read is an object of a kind that is known.
pub fn protobuf(bytes: &[u8]) {
    if let Ok(object) = protobuf::decode(bytes) {
        let kind = object["kind"].as_str().unwrap_or_default();
        assert!(protobuf::knows(kind), "the kind {kind} is known");
        body(object.to_string().as_bytes());
    }
}

/// Reads a body as JSON and as YAML: what is read prints and reads back equal.
pub fn body(bytes: &[u8]) {
    for document in [strict::json(bytes), strict::yaml(bytes)]
        .into_iter()
        .flatten()
    {
        let printed = document.value.to_string();
        let again = strict::json(printed.as_bytes()).expect("what was read can be read again");
        assert_eq!(again.value, document.value, "a value survives printing");
        assert!(
            again.duplicates.is_empty(),
            "printing leaves no field twice"
        );
    }
}

/// Reads selectors: what is read prints and reads back equal.
pub fn selectors(bytes: &[u8]) {
    selector(&String::from_utf8_lossy(bytes));
}

fn selector(text: &str) {
    if let Ok(selector) = LabelSelector::parse(text) {
        assert_eq!(LabelSelector::parse(&selector.to_string()), Ok(selector));
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        assert_eq!(FieldSelector::parse(&selector.to_string()), Ok(selector));
    }
}

/// Reads a set of fields: what is read prints and reads back equal.
pub fn fields(bytes: &[u8]) {
    let Some(value) = value(bytes) else { return };
    if let Ok(set) = FieldSet::from_fields_v1(&value) {
        assert_eq!(
            FieldSet::from_fields_v1(&set.to_fields_v1()),
            Ok(set.clone())
        );
        assert_eq!(set.paths().into_iter().collect::<FieldSet>(), set);
    }
}

/// Applies `[target, patch]` in every way a patch can be meant.
pub fn patches(bytes: &[u8]) {
    let Some([target, patch]) = pair(bytes) else {
        return;
    };
    let merged = patch::merge(target.clone(), &patch);
    assert_eq!(
        patch::merge(merged.clone(), &patch),
        merged,
        "merging twice changes nothing more"
    );
    if let Ok(patched) = patch::json(&target, &patch) {
        assert!(
            strict::check_depth(&patched).is_ok(),
            "a patch cannot nest without bound"
        );
    }
    for kind in builtin::kinds() {
        // Most patches fit no kind; that they are refused without a panic is the point.
        drop(patch::strategic(kind.schema(), target.clone(), &patch));
    }
}

/// Compiles `[schema, object]` and completes the object by the schema.
pub fn schema(bytes: &[u8]) {
    let Some([openapi, mut object]) = pair(bytes) else {
        return;
    };
    let Ok(schema) = Schema::compile(&openapi, "schema") else {
        return;
    };
    complete(&schema, &mut object);
}

fn complete(schema: &Schema, object: &mut Value) {
    schema.prune(object);
    schema.fill_defaults(object);
    let once = object.clone();
    assert!(
        schema.prune(object).is_empty(),
        "pruning leaves nothing to prune"
    );
    schema.fill_defaults(object);
    assert_eq!(*object, once, "defaults are filled in once");
    for error in schema.validate(object) {
        assert!(!error.to_string().is_empty(), "every error says something");
    }
}

/// Applies `[one, other]` to a Deployment and to a custom resource, as two managers.
pub fn apply(bytes: &[u8]) {
    static OPEN: LazyLock<Schema> = LazyLock::new(|| {
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        Schema::compile(&open, "schema").expect("an open object is structural")
    });
    let Some([one, other]) = pair(bytes) else {
        return;
    };
    let deployments = builtin::find("apps", "deployments")
        .expect("built in")
        .schema();
    for schema in [deployments, &*OPEN] {
        let Ok(live) = managed::apply(schema, None, &one, &writer("one"), false) else {
            continue;
        };
        let Ok(live) = managed::apply(schema, Some(&live), &other, &writer("other"), true) else {
            continue;
        };
        let again =
            |live: &Value| managed::apply(schema, Some(live), &other, &writer("other"), true);
        // An apply that owns nothing leaves no record; what is there is put on record by the next.
        let recorded = again(&live).expect("what was applied can be applied again");
        assert_eq!(again(&recorded).ok(), Some(recorded), "an apply settles");
        let updated = managed::update(schema, Some(&live), one.clone(), &writer("one"));
        assert_eq!(
            updated.is_object(),
            one.is_object(),
            "an update keeps what it is given"
        );
    }
}

fn writer(manager: &str) -> Writer {
    Writer {
        manager: manager.to_owned(),
        subresource: None,
        api_version: "apps/v1".to_owned(),
        time: Timestamp::UNIX_EPOCH,
        has_status: true,
    }
}

fn value(bytes: &[u8]) -> Option<Value> {
    strict::json(bytes).ok().map(|document| document.value)
}

fn pair(bytes: &[u8]) -> Option<[Value; 2]> {
    match value(bytes)? {
        Value::Array(items) => <[Value; 2]>::try_from(items).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_committed_corpus_keeps_every_law() {
        type Target = fn(&[u8]);
        let targets: [(&str, Target); 8] = [
            ("request", request),
            ("body", body),
            ("protobuf", protobuf),
            ("selectors", selectors),
            ("fields", fields),
            ("patches", patches),
            ("schema", schema),
            ("apply", apply),
        ];
        for (name, target) in targets {
            let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("fuzz/corpus")
                .join(name);
            let inputs = fs::read_dir(&corpus).expect("every target has a corpus");
            let mut count = 0;
            for input in inputs {
                target(&fs::read(input.expect("listed").path()).expect("readable"));
                count += 1;
            }
            assert!(count > 0, "the corpus of {name} is not empty");
        }
    }
}
