//! The conditions by which a namespace that cannot go says what is left in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::store::Stored;

/// Returns `namespace` with conditions that name what is left in it and who holds that, as the
/// real namespace controller reports it.
pub(super) fn report(namespace: &Value, left: &[Arc<Stored>], now: Timestamp) -> Value {
    let mut kinds = BTreeMap::new();
    let mut finalizers = BTreeMap::new();
    for item in left {
        *kinds
            .entry(item.key.collection.to_string())
            .or_insert(0_usize) += 1;
        let held_by = item.object()["metadata"]["finalizers"]
            .as_array()
            .into_iter()
            .flatten();
        for finalizer in held_by.filter_map(Value::as_str) {
            *finalizers.entry(finalizer.to_owned()).or_insert(0_usize) += 1;
        }
    }
    let mut reported = namespace.clone();
    set(
        &mut reported,
        "NamespaceContentRemaining",
        "SomeResourcesRemain",
        &format!("still in the namespace: {}", counted(&kinds)),
        now,
    );
    if !finalizers.is_empty() {
        set(
            &mut reported,
            "NamespaceFinalizersRemaining",
            "SomeFinalizersRemain",
            &format!("waiting for finalizers: {}", counted(&finalizers)),
            now,
        );
    }
    reported
}

fn counted(counts: &BTreeMap<String, usize>) -> String {
    let counts = counts
        .iter()
        .map(|(what, count)| format!("{what} ({count})"));
    counts.collect::<Vec<_>>().join(", ")
}

/// Sets a condition to True. Only a condition that was not True before gets a new time.
fn set(namespace: &mut Value, kind: &str, reason: &str, message: &str, now: Timestamp) {
    if !namespace["status"]["conditions"].is_array() {
        namespace["status"]["conditions"] = json!([]);
    }
    let Some(conditions) = namespace["status"]["conditions"].as_array_mut() else {
        return;
    };
    let mut condition = json!({
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    });
    match conditions
        .iter_mut()
        .find(|condition| condition["type"] == kind)
    {
        Some(known) => {
            if known["status"] == "True" {
                condition["lastTransitionTime"] = known["lastTransitionTime"].take();
            }
            *known = condition;
        }
        None => conditions.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Collection, Key};

    fn mk_held(name: &str, finalizers: &Value) -> Arc<Stored> {
        let key = Key::new(&Collection::new("example.com", "widgets"), "shop", name);
        let object = json!({"metadata": {"finalizers": finalizers}});
        Arc::new(Stored::new(key, 1, object))
    }

    #[test]
    fn the_namespace_says_what_is_left_and_who_holds_it() {
        let left = [
            mk_held("a", &json!(["x/y"])),
            mk_held("b", &json!(["x/y", "z"])),
        ];
        let reported = report(&json!({}), &left, Timestamp::UNIX_EPOCH);
        assert_eq!(
            reported["status"]["conditions"],
            json!([
                {"type": "NamespaceContentRemaining", "status": "True",
                 "reason": "SomeResourcesRemain",
                 "message": "still in the namespace: widgets.example.com (2)",
                 "lastTransitionTime": "1970-01-01T00:00:00Z"},
                {"type": "NamespaceFinalizersRemaining", "status": "True",
                 "reason": "SomeFinalizersRemain",
                 "message": "waiting for finalizers: x/y (2), z (1)",
                 "lastTransitionTime": "1970-01-01T00:00:00Z"},
            ])
        );
        let again = report(&reported, &left, Timestamp::now());
        assert_eq!(
            again, reported,
            "nothing new is said when nothing has changed"
        );
    }
}
