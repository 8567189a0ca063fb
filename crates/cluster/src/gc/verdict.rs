//! The decision about one object, as the real garbage collector makes it.

use serde_json::Value;

use super::graph::{owners, uid};
use crate::deletion::{FOREGROUND, ORPHAN, Propagation, has_finalizer, is_deleting};

/// The state of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It exists, or cannot be said not to.
    Solid,
    /// It is gone.
    Gone,
    /// It is being deleted, and waits for its dependents to go first.
    Waiting,
}

/// The decision about an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Keep,
    /// Remove the references to these owners (by uid): others still own it.
    Release(Vec<String>),
    /// Delete it.
    Delete {
        /// The fate of its own dependents.
        propagation: Propagation,
        /// Whether it must stop holding up its owners first, because it waits for one of them.
        unblock: bool,
    },
    /// It waits for its dependents: see what is to be done about them.
    ExamineDependents,
    /// Its dependents are gone: let it go.
    LetGo,
    /// Release its dependents, then let it go.
    Orphan,
}

/// Decides about `item`, given how each of its owners is, in the order of its references, and the
/// objects that depend on it.
pub(super) fn judge(item: &Value, states: &[Owner], dependents: &[&Value]) -> Verdict {
    if is_deleting(item) {
        return judge_deleting(item, dependents);
    }
    if states.is_empty() {
        return Verdict::Keep;
    }
    if states.contains(&Owner::Solid) {
        let lost = owners(item)
            .zip(states)
            .filter(|(_, state)| **state != Owner::Solid);
        let lost: Vec<String> = lost.map(|(owner, _)| uid(owner).to_owned()).collect();
        return if lost.is_empty() {
            Verdict::Keep
        } else {
            Verdict::Release(lost)
        };
    }
    if states.contains(&Owner::Waiting) && !dependents.is_empty() {
        let unblock = dependents
            .iter()
            .any(|dependent| waits_for_dependents(dependent));
        return Verdict::Delete {
            propagation: Propagation::Foreground,
            unblock,
        };
    }
    let propagation = if has_finalizer(item, ORPHAN) {
        Propagation::Orphan
    } else if has_finalizer(item, FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    Verdict::Delete {
        propagation,
        unblock: false,
    }
}

fn judge_deleting(item: &Value, dependents: &[&Value]) -> Verdict {
    if has_finalizer(item, ORPHAN) {
        return Verdict::Orphan;
    }
    if !has_finalizer(item, FOREGROUND) {
        return Verdict::Keep;
    }
    let item_uid = item["metadata"]["uid"].as_str().unwrap_or_default();
    let blocks = |dependent: &&Value| {
        owners(dependent).any(|owner| uid(owner) == item_uid && owner["blockOwnerDeletion"] == true)
    };
    if dependents.iter().any(blocks) {
        Verdict::ExamineDependents
    } else {
        Verdict::LetGo
    }
}

/// Returns whether `object` is being deleted and waits for its dependents.
pub(super) fn waits_for_dependents(object: &Value) -> bool {
    is_deleting(object) && has_finalizer(object, FOREGROUND)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mk(owner_uids: &[&str]) -> Value {
        let owners: Vec<Value> = owner_uids
            .iter()
            .map(|uid| json!({"uid": uid, "blockOwnerDeletion": true}))
            .collect();
        json!({"metadata": {"uid": "item", "ownerReferences": owners}})
    }

    fn deleting(mut object: Value, finalizer: &str) -> Value {
        object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        object["metadata"]["finalizers"] = json!([finalizer]);
        object
    }

    fn delete(propagation: Propagation) -> Verdict {
        Verdict::Delete {
            propagation,
            unblock: false,
        }
    }

    #[test]
    fn an_object_without_owners_is_kept() {
        assert_eq!(judge(&mk(&[]), &[], &[]), Verdict::Keep);
    }

    #[test]
    fn an_object_whose_owners_are_all_gone_is_deleted() {
        let verdict = judge(&mk(&["a", "b"]), &[Owner::Gone, Owner::Gone], &[]);
        assert_eq!(verdict, delete(Propagation::Background));
    }

    #[test]
    fn an_object_that_still_has_an_owner_loses_only_the_references_to_the_others() {
        let states = [Owner::Gone, Owner::Solid, Owner::Waiting];
        let verdict = judge(&mk(&["a", "b", "c"]), &states, &[]);
        assert_eq!(verdict, Verdict::Release(vec!["a".into(), "c".into()]));
        assert_eq!(judge(&mk(&["b"]), &[Owner::Solid], &[]), Verdict::Keep);
    }

    #[test]
    fn foreground_deletion_goes_down_the_tree() {
        let grandchild = mk(&["item"]);
        let verdict = judge(&mk(&["a"]), &[Owner::Waiting], &[&grandchild]);
        assert_eq!(verdict, delete(Propagation::Foreground));
        let leaf = judge(&mk(&["a"]), &[Owner::Waiting], &[]);
        assert_eq!(
            leaf,
            delete(Propagation::Background),
            "a leaf has nothing to wait for"
        );
    }

    #[test]
    fn a_circle_of_foreground_deletions_is_broken() {
        let waiting = deleting(mk(&["item"]), FOREGROUND);
        let verdict = judge(&mk(&["a"]), &[Owner::Waiting], &[&waiting]);
        assert_eq!(
            verdict,
            Verdict::Delete {
                propagation: Propagation::Foreground,
                unblock: true
            }
        );
    }

    #[test]
    fn a_waiting_owner_goes_when_nothing_blocks_it() {
        let owner = deleting(mk(&[]), FOREGROUND);
        let mut dependent = mk(&["item"]);
        assert_eq!(
            judge(&owner, &[], &[&dependent]),
            Verdict::ExamineDependents
        );
        dependent["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = false.into();
        assert_eq!(judge(&owner, &[], &[&dependent]), Verdict::LetGo);
        assert_eq!(judge(&owner, &[], &[]), Verdict::LetGo);
    }

    #[test]
    fn orphaning_comes_before_everything_else_of_a_deleted_object() {
        let owner = deleting(mk(&["a"]), ORPHAN);
        assert_eq!(judge(&owner, &[Owner::Gone], &[]), Verdict::Orphan);
    }

    #[test]
    fn an_object_held_by_the_finalizers_of_others_is_left_alone() {
        let held = deleting(mk(&["a"]), "example.com/hold");
        assert_eq!(judge(&held, &[Owner::Gone], &[]), Verdict::Keep);
    }
}
