//! Deletion: a delete leaves an object alone, sets its deletion timestamp, or removes it.
//!
//! One rule for everyone who deletes: the API's verbs, the garbage collector and the namespace
//! controller. It is that of the real API server's generic store, with the two kinds that differ:
//! a namespace waits for its `spec.finalizers`, a pod on a node for its grace period.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::store::Change;

/// The finalizer of an object whose dependents go first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are to be released first.
pub(crate) const ORPHAN: &str = "orphan";

/// The fate of the dependents of a deleted object (`propagationPolicy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are collected after the object is gone.
    Background,
    /// They are collected first.
    Foreground,
    /// They stay, without this owner.
    Orphan,
}

/// The options of a delete.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deletion {
    /// The fate of its dependents; if absent, what its finalizers already say, or
    /// [`Propagation::Background`].
    pub(crate) propagation: Option<Propagation>,
    /// The seconds that a pod has to stop; if absent, what the pod says.
    pub(crate) grace_seconds: Option<i64>,
}

/// The effect of a delete on the object.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Nothing: it is being deleted already, and something still holds it.
    Wait,
    /// Store this state: it is marked as being deleted, and something holds it.
    Mark(Value),
    /// Remove it; this is its last state.
    Remove(Value),
}

impl Outcome {
    /// Returns the change to write, if any.
    pub(crate) fn into_change(self) -> Option<Change> {
        match self {
            Self::Wait => None,
            Self::Mark(object) => Some(Change::Put(object)),
            Self::Remove(object) => Some(Change::Remove(object)),
        }
    }
}

/// Decides what deleting `object` does.
pub(crate) fn delete(object: &Value, how: Deletion, now: Timestamp) -> Outcome {
    let mut marked = object.clone();
    let finalizers = finalizers_for(object, how.propagation);
    set_finalizers(&mut marked, &finalizers);
    mark(&mut marked, grace(object, how.grace_seconds), now);
    if !is_held(&marked) {
        return Outcome::Remove(if finalizers.is_empty() && !is_deleting(object) {
            object.clone()
        } else {
            marked
        });
    }
    if marked == *object {
        Outcome::Wait
    } else {
        Outcome::Mark(marked)
    }
}

/// Turns the result of an update into the change to write: an object that is being deleted is
/// removed as soon as nothing holds it any more.
pub(crate) fn settle(updated: Value) -> Change {
    if is_deleting(&updated) && !is_held(&updated) {
        Change::Remove(updated)
    } else {
        Change::Put(updated)
    }
}

/// Returns whether `object` is marked as being deleted.
pub(crate) fn is_deleting(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// Returns whether `object` has the finalizer `name`.
pub(crate) fn has_finalizer(object: &Value, name: &str) -> bool {
    finalizers(object).any(|finalizer| finalizer == name)
}

/// Returns `object` without the finalizer `name`.
pub(crate) fn without_finalizer(object: &Value, name: &str) -> Value {
    let mut released = object.clone();
    let left: Vec<&str> = finalizers(object)
        .filter(|finalizer| *finalizer != name)
        .collect();
    set_finalizers(&mut released, &left);
    released
}

fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    object["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn set_finalizers(object: &mut Value, finalizers: &[&str]) {
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".into(), json!(finalizers));
    }
}

/// Returns the finalizers after a delete: those of others, and the one of the propagation policy.
fn finalizers_for(object: &Value, propagation: Option<Propagation>) -> Vec<&str> {
    let policy = match propagation {
        Some(Propagation::Background) => None,
        Some(Propagation::Foreground) => Some(FOREGROUND),
        Some(Propagation::Orphan) => Some(ORPHAN),
        None if has_finalizer(object, ORPHAN) => Some(ORPHAN),
        None if has_finalizer(object, FOREGROUND) => Some(FOREGROUND),
        None => None,
    };
    let others = finalizers(object).filter(|name| *name != ORPHAN && *name != FOREGROUND);
    others.chain(policy).collect()
}

/// Marks `object` as being deleted. A mark that is there is only ever brought forward.
fn mark(object: &mut Value, grace_seconds: i64, now: Timestamp) {
    let marked_before = is_deleting(object);
    let left = object["metadata"]["deletionGracePeriodSeconds"]
        .as_i64()
        .unwrap_or(0);
    if marked_before && grace_seconds >= left {
        return;
    }
    let is_namespace = is(object, "Namespace");
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    let end = now.saturating_add(SignedDuration::from_secs(grace_seconds));
    let end = end
        .unwrap_or(now)
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    metadata.insert("deletionTimestamp".into(), end.into());
    if let (false, Some(generation)) = (marked_before, metadata.get("generation")) {
        let generation = generation.as_i64().unwrap_or(0) + 1;
        metadata.insert("generation".into(), generation.into());
    }
    if is_namespace {
        object["status"]["phase"] = "Terminating".into();
    } else {
        metadata.insert("deletionGracePeriodSeconds".into(), grace_seconds.into());
    }
}

/// Returns how long the object has to stop: nothing but a pod that runs on a node takes time.
fn grace(object: &Value, asked: Option<i64>) -> i64 {
    let spec = &object["spec"];
    let on_a_node = spec["nodeName"]
        .as_str()
        .is_some_and(|node| !node.is_empty());
    let ended = matches!(
        object["status"]["phase"].as_str(),
        Some("Succeeded" | "Failed")
    );
    if !is(object, "Pod") || !on_a_node || ended {
        return 0;
    }
    let seconds = asked
        .or_else(|| spec["terminationGracePeriodSeconds"].as_i64())
        .unwrap_or(30);
    // As in the real server, a negative period means the shortest one.
    if seconds < 0 { 1 } else { seconds }
}

fn is_held(object: &Value) -> bool {
    let some = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    some(&object["metadata"]["finalizers"])
        || object["metadata"]["deletionGracePeriodSeconds"]
            .as_i64()
            .is_some_and(|left| left > 0)
        || (is(object, "Namespace") && some(&object["spec"]["finalizers"]))
}

/// Returns whether `object` is of a core kind.
fn is(object: &Value, kind: &str) -> bool {
    object["kind"] == kind && object["apiVersion"] == "v1"
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const MARK: &str = "1970-01-01T00:00:00Z";

    fn mk_config_map(metadata: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    }

    fn with(propagation: Propagation) -> Deletion {
        Deletion {
            propagation: Some(propagation),
            ..Deletion::default()
        }
    }

    #[test]
    fn an_object_that_nothing_holds_is_removed_as_it_is() {
        let object = mk_config_map(&json!({"name": "a"}));
        assert_eq!(
            delete(&object, Deletion::default(), NOW),
            Outcome::Remove(object)
        );
    }

    #[test]
    fn a_finalizer_turns_the_delete_into_a_mark_that_counts_as_a_new_generation() {
        let object = mk_config_map(&json!({"name": "a", "generation": 1, "finalizers": ["x/y"]}));
        let Outcome::Mark(marked) = delete(&object, Deletion::default(), NOW) else {
            panic!("the finalizer must hold the object");
        };
        assert_eq!(
            marked["metadata"],
            json!({"name": "a", "generation": 2, "finalizers": ["x/y"],
                   "deletionTimestamp": MARK, "deletionGracePeriodSeconds": 0})
        );
        assert_eq!(delete(&marked, Deletion::default(), NOW), Outcome::Wait);
    }

    #[test]
    fn the_propagation_policy_becomes_a_finalizer_and_replaces_the_other_one() {
        let object = mk_config_map(&json!({"name": "a", "finalizers": ["orphan", "x/y"]}));
        let Outcome::Mark(marked) = delete(&object, with(Propagation::Foreground), NOW) else {
            panic!("foreground deletion waits for the dependents");
        };
        assert_eq!(
            marked["metadata"]["finalizers"],
            json!(["x/y", "foregroundDeletion"])
        );
        let Outcome::Mark(orphaning) = delete(&object, Deletion::default(), NOW) else {
            panic!("a finalizer that is there already stays in force");
        };
        assert_eq!(
            orphaning["metadata"]["finalizers"],
            json!(["x/y", "orphan"])
        );
    }

    #[test]
    fn background_deletion_overrules_a_policy_finalizer() {
        let object = mk_config_map(&json!({"name": "a", "finalizers": ["foregroundDeletion"]}));
        let outcome = delete(&object, with(Propagation::Background), NOW);
        assert!(
            matches!(outcome, Outcome::Remove(_)),
            "nothing else holds it: {outcome:?}"
        );
    }

    #[test]
    fn dropping_the_last_finalizer_of_a_marked_object_removes_it() {
        let marked = mk_config_map(&json!({"name": "a", "deletionTimestamp": MARK,
            "deletionGracePeriodSeconds": 0, "finalizers": ["x/y"]}));
        assert!(
            matches!(settle(marked.clone()), Change::Put(_)),
            "the finalizer holds it"
        );
        assert!(matches!(
            settle(without_finalizer(&marked, "x/y")),
            Change::Remove(_)
        ));
        let unmarked = mk_config_map(&json!({"name": "a"}));
        assert!(
            matches!(settle(unmarked), Change::Put(_)),
            "nobody deleted it"
        );
    }

    #[test]
    fn a_namespace_becomes_terminating_and_waits_for_its_contents() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
        let Outcome::Mark(mut marked) = delete(&namespace, Deletion::default(), NOW) else {
            panic!("the namespace waits for its contents");
        };
        assert_eq!(marked["status"]["phase"], "Terminating");
        marked["spec"]["finalizers"] = json!([]);
        assert!(matches!(settle(marked), Change::Remove(_)));
    }

    #[test]
    fn a_pod_on_a_node_stays_until_it_is_deleted_without_grace() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
            "spec": {"nodeName": "n", "terminationGracePeriodSeconds": 5}});
        let Outcome::Mark(marked) = delete(&pod, Deletion::default(), NOW) else {
            panic!("the node has to stop the pod first");
        };
        assert_eq!(
            marked["metadata"]["deletionTimestamp"],
            "1970-01-01T00:00:05Z"
        );
        assert_eq!(delete(&marked, Deletion::default(), NOW), Outcome::Wait);
        let now = Deletion {
            grace_seconds: Some(0),
            ..Deletion::default()
        };
        assert!(matches!(delete(&marked, now, NOW), Outcome::Remove(_)));
    }

    #[test]
    fn a_pod_that_runs_nowhere_is_removed_at_once() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
            "spec": {"terminationGracePeriodSeconds": 5}});
        assert!(matches!(
            delete(&pod, Deletion::default(), NOW),
            Outcome::Remove(_)
        ));
    }
}
