//! Events in their two groups, which are one collection.

use serde_json::{Map, Value};

/// The fields that core/v1 and events.k8s.io/v1 name differently, the core name first.
const RENAMED: &[(&str, &str)] = &[
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// Turns an events.k8s.io/v1 Event into a core/v1 one; a core one stays as it is.
pub(crate) fn core_event(event: Value) -> Value {
    renamed(event, "v1", |&(core, new)| (new, core))
}

/// Turns a core/v1 Event into an events.k8s.io/v1 one; a new one stays as it is.
pub(crate) fn new_event(event: Value) -> Value {
    renamed(event, "events.k8s.io/v1", |&(core, new)| (core, new))
}

fn renamed(
    mut event: Value,
    api_version: &str,
    direction: fn(&(&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    let is_other = event.get("apiVersion").and_then(Value::as_str) != Some(api_version);
    if let (true, Value::Object(fields)) = (is_other, &mut event) {
        rename(fields, RENAMED.iter().map(direction));
        fields.insert("apiVersion".to_owned(), Value::from(api_version));
    }
    event
}

fn rename<'a>(fields: &mut Map<String, Value>, names: impl Iterator<Item = (&'a str, &'a str)>) {
    for (from, to) in names {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_goes_to_the_other_group_and_back() {
        let core = json!({
            "apiVersion": "v1", "kind": "Event", "reason": "Made", "message": "made it", "count": 2,
            "involvedObject": {"name": "x"}, "reportingComponent": "here", "source": {}
        });
        let new = new_event(core.clone());
        assert_eq!(new["note"], "made it");
        assert_eq!(new["regarding"]["name"], "x");
        assert_eq!(new["apiVersion"], "events.k8s.io/v1");
        assert_eq!(new.get("message"), None);
        assert_eq!(new_event(new.clone()), new);
        assert_eq!(core_event(new), core);
    }
}
