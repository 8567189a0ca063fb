//! Replaced values: who has set anew what an apply has set, by what the cluster says about who manages which field.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::api::DynamicObject;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_client::api::{Impossible, ReplacedBy};
use pathline_lineage::wait;
use serde_json::Value;

use super::result;

/// Says that an owner says something again that an apply has removed, if it does.
pub(super) fn set_again(
    kind: OwnerKind,
    object: &DynamicObject,
    removed: &[String],
) -> Option<Impossible> {
    let value = serde_json::to_value(object).ok()?;
    let said = Owner::read(kind, value).ok()?.said();
    let input = wait::set_again(removed, said.keys())?;
    let by = by_whom(object, input);
    let who = by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
    let message = format!(
        "the removal of {input} was superseded: it was set again{who}; remove it again and wait again"
    );
    Some(Impossible {
        input: Some(input.clone()),
        by,
        ..result::impossible("superseded", message)
    })
}

/// Finds out who manages an input of an owner: the newest of those who manage the most of its way.
pub(super) fn by_whom(object: &DynamicObject, input: &str) -> Option<ReplacedBy> {
    let entries = object.metadata.managed_fields.iter().flatten();
    let entries = entries.filter(|it| it.subresource.as_deref().unwrap_or_default().is_empty());
    let depths = entries.map(|entry| (depth(entry, input), entry));
    let time = |entry: &ManagedFieldsEntry| entry.time.as_ref().map(|it| it.0);
    let best = depths.max_by_key(|(depth, entry)| (*depth, time(entry)));
    let (_, entry) = best.filter(|(depth, _)| *depth > 1)?;
    Some(ReplacedBy {
        manager: entry.manager.clone().unwrap_or_default(),
        time: time(entry).map(|time| time.to_string()),
    })
}

/// Returns how much of the way to an input somebody manages.
fn depth(entry: &ManagedFieldsEntry, input: &str) -> usize {
    let Some(fields) = &entry.fields_v1 else {
        return 0;
    };
    match input.split_once(':') {
        Some(("param", name)) => depth_of_param(&fields.0, name),
        Some(("field", path)) => depth_of_field(&fields.0, path),
        _ => 0,
    }
}

/// A list of params is managed as a whole, or by their names.
fn depth_of_param(fields: &Value, name: &str) -> usize {
    let Some(params) = fields.pointer("/f:spec/f:params") else {
        return 0;
    };
    let item = format!("k:{}", serde_json::json!({ "name": name }));
    match params.get(item) {
        Some(_) => 3,
        None if params.as_object().is_some_and(|it| !it.is_empty()) => 0,
        None => 2,
    }
}

/// Follows a dotted path; names may have dots themselves.
fn depth_of_field(fields: &Value, path: &str) -> usize {
    let path = path.split('[').next().unwrap_or(path);
    let ends = path.match_indices('.').map(|(at, _)| at);
    let depths = ends.chain([path.len()]).filter_map(|end| {
        let inner = fields.get(format!("f:{}", &path[..end]))?;
        let rest = path[end..].trim_start_matches('.');
        let below = if rest.is_empty() {
            0
        } else {
            depth_of_field(inner, rest)
        };
        Some(1 + below)
    });
    depths.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mk_object() -> DynamicObject {
        let entry = |manager: &str, second: u8, fields: Value| {
            json!({
                "manager": manager, "operation": "Apply", "apiVersion": "carto.run/v1alpha1",
                "time": format!("2026-01-02T03:04:0{second}Z"), "fieldsType": "FieldsV1", "fieldsV1": fields,
            })
        };
        let labels = json!({"f:app.kubernetes.io/name": {}});
        let object = json!({"metadata": {"name": "a", "managedFields": [
            entry("early", 1, json!({"f:spec": {"f:params": {}}})),
            entry("late", 2, json!({"f:spec": {"f:params": {}, "f:source": {"f:git": {"f:url": {}}}}})),
            entry("other", 3, json!({"f:metadata": {"f:labels": labels}, "f:spec": {"f:source": {"f:image": {}}}})),
        ]}});
        serde_json::from_value(object).expect("an object")
    }

    #[test]
    fn who_manages_the_field_has_replaced_it() {
        for (input, manager) in [
            ("param:debug", Some("late")),
            ("field:spec.source.git.url", Some("late")),
            ("field:spec.source.image", Some("other")),
            (
                "field:metadata.labels.app.kubernetes.io/name",
                Some("other"),
            ),
            ("field:spec.env[0].name", None),
        ] {
            let by = by_whom(&mk_object(), input).map(|by| by.manager);
            assert_eq!(by.as_deref(), manager, "{input}");
        }
    }

    #[test]
    fn what_was_removed_and_is_there_again_was_superseded() {
        let mut object = mk_object();
        let removed = ["param:debug".to_owned(), "field:spec.source".to_owned()];
        let again = |object: &DynamicObject| set_again(OwnerKind::Workload, object, &removed);
        object.data = json!({"spec": {"params": [{"name": "debugger", "value": 1}]}});
        assert!(again(&object).is_none());
        object.data = json!({"spec": {"source": {"git": {"url": "u"}}}});
        let impossible = again(&object).expect("it is there again");
        assert_eq!(impossible.input.as_deref(), Some("field:spec.source"));
        assert!(
            impossible.message.contains("applied by"),
            "{}",
            impossible.message
        );
    }
}
