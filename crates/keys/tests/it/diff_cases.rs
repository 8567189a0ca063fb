//! The diff algebra cases that were run through the C library.

use std::fmt::Write as _;

use pathline_keys::change::ComposeError;
use pathline_keys::{Change, ChangeSet, KeyRef, KeySet, Name, short_name};
use serde_json::{Value, json};

use crate::cases;

fn shown(key: KeyRef<'_>) -> String {
    let mut text = format!("{}={:?}", key.name(), key.value());
    for (name, value) in key.metadata().iter() {
        write!(text, " {}={value}", short_name(name)).expect("a string takes everything");
    }
    text
}

fn assert_same(id: &str, result: &ChangeSet, expected: &ChangeSet) {
    let lines = |changes: &ChangeSet| -> Vec<_> {
        let shown = |key: Option<KeyRef<'_>>| key.map(shown);
        changes
            .iter()
            .map(|c| (shown(c.old()), shown(c.current())))
            .collect()
    };
    assert_eq!(lines(result), lines(expected), "{id}");
}

fn parent(case: &Value) -> Option<Name> {
    case["parent"]
        .as_str()
        .map(|name| name.parse().expect("a valid parent"))
}

fn argument(case: &Value) -> Name {
    case["arg"]
        .as_str()
        .and_then(|name| name.parse().ok())
        .expect("a valid argument")
}

fn calculate(id: &str, case: &Value) {
    let (old, new) = (cases::key_set(&case["old"]), cases::key_set(&case["new"]));
    let below = parent(case);
    let changes = KeySet::diff(&old, &new, below.as_ref());
    if id == "D021" {
        assert!(changes.is_empty(), "X5: absent and empty are the same");
        return;
    }
    assert_same(id, &changes, &cases::change_set(&case["expect"]));
    assert_eq!(json!(changes.is_empty()), case["expect"]["empty"], "{id}");
    assert_eq!(changes.parent(), below.as_ref(), "{id}");
    if case["undo_restores_old"] == true {
        let undone = changes
            .reverse()
            .apply(&new)
            .expect("undoing what was just done");
        assert!(
            KeySet::diff(&undone, &old, below.as_ref()).is_empty(),
            "{id}"
        );
    }
    for flags in case["flags"].as_array().expect("flags") {
        let name: Name = flags["n"]
            .as_str()
            .and_then(|n| n.parse().ok())
            .expect("a valid name");
        assert_flags(
            id,
            changes.get(&name).expect("a flagged key is modified"),
            flags,
        );
    }
}

fn assert_flags(id: &str, change: Change<'_>, flags: &Value) {
    assert_eq!(
        json!(u8::from(change.value_changed())),
        flags["value_changed"],
        "{id}"
    );
    assert_eq!(
        json!(u8::from(change.only_meta_changed())),
        flags["only_meta"],
        "{id}"
    );
    let meta = change.meta_changes();
    let list = |entries: &[(&Name, &str)]| -> Value {
        entries
            .iter()
            .map(|(n, v)| json!({"n": n.to_string(), "v": v}))
            .collect()
    };
    assert_eq!(list(&meta.added), flags["meta_added"], "{id}");
    assert_eq!(list(&meta.removed), flags["meta_removed"], "{id}");
    let modified: Vec<_> = meta
        .modified
        .iter()
        .map(|(name, old, _)| (*name, *old))
        .collect();
    assert_eq!(list(&modified), flags["meta_modified_old"], "{id}");
}

fn append(id: &str, case: &Value) {
    let target = cases::change_set(&case["target"]);
    let mut source = cases::change_set(&case["source"]);
    if let Some(parent) = parent(case) {
        source = source.below(&parent);
    }
    let result = target.compose(&source);
    let warned = !case["warnings"].as_array().expect("warnings").is_empty();
    assert_eq!(
        warned,
        matches!(id, "A043" | "A046" | "A052" | "A053"),
        "{id}"
    );
    if warned {
        let refused = result.expect_err("a typed error instead of a warning");
        assert!(
            matches!(refused, ComposeError::Transition { .. }),
            "{id}: {refused}"
        );
        assert_eq!(refused.name().to_string(), "user:/t/k", "{id}");
        assert_eq!(
            target,
            cases::change_set(&case["target"]),
            "{id}: the target is unchanged"
        );
    } else {
        let result = result.unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_same(id, &result, &cases::change_set(&case["expect"]));
    }
}

#[test]
fn diffs_compose_filter_and_undo_as_in_the_shared_cases() {
    let Some(lines) = cases::read("keys diff", "elektra-diff.jsonl") else {
        return;
    };
    let mut count = 0;
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).expect("a JSON object a line");
        let id = case["id"].as_str().expect("an id");
        let mut input = cases::change_set(&case["input"]);
        match case["op"].as_str().expect("an operation") {
            "calculate" => calculate(id, &case),
            "append" => append(id, &case),
            "remove_same_or_below" => {
                let rest = input.without_below(&argument(&case));
                assert_same(id, &rest, &cases::change_set(&case["expect"]));
            }
            "remove_other" => {
                let kept = input.below(&argument(&case));
                assert_same(id, &kept, &cases::change_set(&case["expect"]));
                assert_eq!(kept.parent(), Some(&argument(&case)), "{id}");
            }
            "remove_key" => {
                let rest = input.without(&argument(&case));
                assert_same(id, &rest, &cases::change_set(&case["expect"]));
            }
            "cut" => {
                let cut = input.cut(&argument(&case));
                assert_same(id, &cut, &cases::change_set(&case["expect_cut"]));
                assert_same(id, &input, &cases::change_set(&case["expect_rest"]));
                assert_eq!(cut.parent(), Some(&argument(&case)), "{id}");
            }
            "undo" => {
                let undo = cases::change_set(&case["diff"]).reverse();
                let result = undo.apply(&cases::key_set(&case["keyset"])).expect(id);
                assert_eq!(result, cases::key_set(&case["expect"]), "{id}");
            }
            other => panic!("unknown operation {other}"),
        }
        count += 1;
    }
    assert!(count >= 66, "only {count} cases");
}
