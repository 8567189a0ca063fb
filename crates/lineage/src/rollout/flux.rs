//! What Flux applied: inventories of Kustomizations and HelmReleases.

use serde_json::Value;

use super::Stage;
use super::below::Below;
use super::judging;
use super::object::Object;

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

/// Returns the objects with a last mile that an inventory names.
///
/// What is known of them must have been read after the object with the inventory was.
pub fn inventory(object: &Object) -> Vec<Reference> {
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
        .filter(|it| judging::has_last_mile(&it.group, &it.kind))
        .collect()
}

pub(super) fn applied(object: &Object, below: &Below, wanted: &[String]) -> Stage {
    let ready = object.condition("Ready");
    if !object.has_observed() {
        return Stage::progressing("its generation has not been observed yet");
    }
    match ready.map(|it| it.status) {
        Some("True") => {}
        Some("False") => return Stage::failed(ready.map(|it| it.told()).unwrap_or_default()),
        _ => return Stage::progressing("it has not applied everything yet"),
    }
    let [applied, attempted] =
        ["/lastAppliedRevision", "/lastAttemptedRevision"].map(|it| object.text(it));
    if !applied.is_empty() && applied != attempted {
        return Stage::progressing(format!("it applies `{attempted}`, and has `{applied}`"));
    }
    let stages = inventory(object).into_iter().map(|it| {
        let found = below.find(&it.group, &it.kind, &it.namespace, &it.name);
        match found {
            Some(found) => judging::stage(found, below, wanted),
            None => Stage::progressing(format!("{} `{}` has not been seen yet", it.kind, it.name)),
        }
    });
    stages.fold(Stage::None, Stage::and)
}
