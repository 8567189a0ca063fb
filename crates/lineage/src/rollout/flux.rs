//! Objects that Flux applied: inventories of Kustomizations and HelmReleases.
//!
//! An inventory may name objects of other namespaces, other Kustomizations, and even its own.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Stage;
use super::below::Below;
use super::judging;
use super::object::Object;
use crate::kinds;

/// An object that an inventory names.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Reference {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version of the API.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty for what has none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Reference {
    /// Tells whether it names an object.
    pub(super) fn names(&self, object: &Object) -> bool {
        self.name == object.name
            && self.kind == object.kind
            && self.group == object.group
            && self.namespace == object.namespace
    }
}

/// Finds an object that an inventory names, with what lies around it.
pub(super) type Find<'f, 'a> = &'f dyn Fn(&Reference) -> Option<(&'a Object, &'a Below)>;

/// Tells whether an object is one with an inventory.
pub(super) fn has_inventory(object: &Object) -> bool {
    matches!(
        object.group_kind(),
        kinds::KUSTOMIZATION | kinds::HELM_RELEASE
    )
}

/// Returns the objects with a rollout that an inventory names.
fn inventory(object: &Object) -> Vec<Reference> {
    let entries = object
        .status("/inventory/entries")
        .and_then(Value::as_array);
    let entries = entries.into_iter().flatten();
    let references = entries.filter_map(|it| {
        // NAMESPACE_NAME_GROUP_KIND; no part of it may have an underscore.
        let mut parts = it["id"].as_str()?.splitn(4, '_');
        let mut part = || parts.next().map(str::to_owned);
        Some(Reference {
            namespace: part()?,
            name: part()?,
            group: part()?,
            kind: part()?,
            version: it["v"].as_str().unwrap_or_default().to_owned(),
        })
    });
    references
        .filter(|it| judging::kinds_below(&it.group, &it.kind).is_some())
        .collect()
}

/// Returns what the inventory of an object names, and what is named in turn as far as it has been
/// seen; `place` returns what is known of a namespace.
pub fn all_named<'a>(
    object: &Object,
    place: impl Fn(&str) -> Option<&'a Below>,
) -> BTreeSet<Reference> {
    let mut all = BTreeSet::new();
    let mut next = vec![object];
    while let Some(object) = next.pop().filter(|it| has_inventory(it)) {
        for named in inventory(object) {
            let found = place(&named.namespace).and_then(|below| below.find(&named));
            if all.insert(named) {
                next.extend(found.filter(|it| has_inventory(it)));
            }
        }
    }
    all
}

/// Judges an object with an inventory, all that it names, and all that is named in turn.
pub(super) fn applied<'a>(object: &'a Object, find: Find<'_, 'a>, wanted: &[String]) -> Stage {
    let mut visited = BTreeSet::new();
    let mut next = vec![object];
    let mut stage = Stage::None;
    while let Some(object) = next.pop() {
        if !visited.insert(&object.uid) {
            continue;
        }
        if let Some(own) = not_applied(object) {
            stage = stage.and(own);
            continue;
        }
        for named in inventory(object) {
            match find(&named) {
                Some((found, _)) if has_inventory(found) => next.push(found),
                Some((found, below)) => stage = stage.and(judging::stage(found, below, wanted)),
                None => {
                    let why = format!("{} `{}` has not been seen yet", named.kind, named.name);
                    stage = stage.and(Stage::progressing(why));
                }
            }
        }
    }
    stage
}

/// Says why an inventory does not count yet.
fn not_applied(object: &Object) -> Option<Stage> {
    if !object.has_observed() {
        let why = format!("{} has not observed its generation yet", object.title());
        return Some(Stage::progressing(why));
    }
    let ready = object.condition("Ready");
    match ready.map(|it| it.status) {
        Some("True") => {}
        Some("False") => return Some(object.unready()),
        _ => {
            let why = format!("{} has not applied everything yet", object.title());
            return Some(Stage::progressing(why));
        }
    }
    let [applied, attempted] =
        ["/lastAppliedRevision", "/lastAttemptedRevision"].map(|it| object.text(it));
    let is_behind = !applied.is_empty() && applied != attempted;
    is_behind.then(|| {
        let title = object.title();
        Stage::progressing(format!(
            "{title} applies `{attempted}`, and has `{applied}`"
        ))
    })
}
