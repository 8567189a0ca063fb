use serde_json::json;

use super::*;
use crate::builtin;

fn patched(plural: &str, target: Value, patch: &Value) -> Value {
    let group = if plural == "deployments" { "apps" } else { "" };
    let kind = builtin::find(group, plural).expect("a built-in kind");
    strategic(kind.schema(), target, patch).expect("the patch applies")
}

#[test]
fn a_config_map_merges_its_data() {
    let target = json!({"data": {"a": "1", "b": "2"}, "metadata": {"annotations": {"x": "y"}}});
    let patch = json!({"data": {"a": null, "c": "3"}, "metadata": {"annotations": {"x": "z"}}});
    let expected = json!({"data": {"b": "2", "c": "3"}, "metadata": {"annotations": {"x": "z"}}});
    assert_eq!(patched("configmaps", target, &patch), expected);
}

#[test]
fn finalizers_are_a_set_and_owners_go_by_uid() {
    let target = json!({"metadata": {
        "finalizers": ["a", "b"],
        "ownerReferences": [{"uid": "1", "name": "one"}, {"uid": "2", "name": "two"}]
    }});
    let patch = json!({"metadata": {
        "$deleteFromPrimitiveList/finalizers": ["a"],
        "$setElementOrder/finalizers": ["c", "b"],
        "finalizers": ["c"],
        "ownerReferences": [{"$patch": "delete", "uid": "1"}, {"uid": "2", "controller": true}]
    }});
    let expected = json!({"metadata": {
        "finalizers": ["c", "b"],
        "ownerReferences": [{"uid": "2", "name": "two", "controller": true}]
    }});
    assert_eq!(patched("secrets", target, &patch), expected);
}

#[test]
fn directives_replace_delete_and_retain() {
    let target = json!({"data": {"a": "1"}, "metadata": {"labels": {"x": "1", "y": "2"}}});
    let replace = json!({"data": {"$patch": "replace", "b": "2"}});
    let expected = json!({"data": {"b": "2"}, "metadata": {"labels": {"x": "1", "y": "2"}}});
    assert_eq!(patched("configmaps", target.clone(), &replace), expected);
    let delete = json!({"data": {"$patch": "delete"}});
    assert_eq!(
        patched("configmaps", target.clone(), &delete)["data"],
        json!({})
    );
    let retain = json!({"metadata": {"labels": {"$retainKeys": ["y", "z"], "z": "3"}}});
    let kept = patched("configmaps", target, &retain);
    assert_eq!(kept["metadata"]["labels"], json!({"y": "2", "z": "3"}));
}

#[test]
fn containers_merge_by_name_in_the_wanted_order() {
    let target = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "web", "image": "web:1", "env": [{"name": "A", "value": "1"}]},
        {"name": "injected", "image": "proxy:1"},
        {"name": "log", "image": "log:1"}
    ]}}}});
    let patch = json!({"spec": {"template": {"spec": {
        "$setElementOrder/containers": [{"name": "new"}, {"name": "web"}, {"name": "log"}],
        "containers": [
            {"name": "web", "image": "web:2", "env": [{"name": "B", "value": "2"}]},
            {"name": "new", "image": "new:1"}
        ]
    }}}});
    let result = patched("deployments", target, &patch);
    let expected = json!([
        {"name": "new", "image": "new:1"},
        {"name": "web", "image": "web:2",
         "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]},
        {"name": "injected", "image": "proxy:1"},
        {"name": "log", "image": "log:1"}
    ]);
    assert_eq!(result["spec"]["template"]["spec"]["containers"], expected);
}

#[test]
fn malformed_directives_are_refused() {
    let schema = builtin::find("apps", "deployments")
        .expect("built in")
        .schema();
    let cases = [
        json!([]),
        json!({"metadata": {"$patch": "explode"}}),
        json!({"metadata": {"$setElementOrder/finalizers": "x"}}),
        json!({"metadata": {"ownerReferences": [{"name": "no uid"}]}}),
        json!({"metadata": {"ownerReferences": ["text"]}}),
    ];
    for patch in cases {
        let result = strategic(schema, json!({}), &patch);
        assert!(
            matches!(result, Err(Error::Malformed(_))),
            "{patch}: {result:?}"
        );
    }
}
