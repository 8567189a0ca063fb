//! The key at which the owner that a reference names would be.

use pathline_kinds::split_api_version;
use serde_json::Value;

use crate::builtin;
use crate::store::{Collection, Key, Store};

/// Returns the key of the owner that `reference`, found on an object in `namespace`, names. It is
/// `None` if nothing can be said about the owner: its kind is not served, or it is in some
/// namespace while the object is in none.
pub(super) fn locate(store: &Store, reference: &Value, namespace: &str) -> Option<Key> {
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let (group, _) = split_api_version(text("apiVersion"));
    let (collection, namespaced) =
        builtin_kind(group, text("kind")).or_else(|| custom_kind(store, group, text("kind")))?;
    match (namespaced, namespace) {
        (true, "") => None,
        (true, namespace) => Some(Key::new(&collection, namespace, text("name"))),
        (false, _) => Some(Key::new(&collection, "", text("name"))),
    }
}

fn builtin_kind(group: &str, kind: &str) -> Option<(Collection, bool)> {
    let found = builtin::kinds()
        .iter()
        .find(|known| known.group == group && known.kind == kind)?;
    Some((Collection::new(found.group, found.plural), found.namespaced))
}

fn custom_kind(store: &Store, group: &str, kind: &str) -> Option<(Collection, bool)> {
    let definitions = Collection::new("apiextensions.k8s.io", "customresourcedefinitions");
    store
        .list(&definitions, None)
        .items
        .iter()
        .find_map(|definition| {
            let spec = &definition.object()["spec"];
            let matches = spec["group"] == group && spec["names"]["kind"] == kind;
            let plural = spec["names"]["plural"].as_str()?;
            matches.then(|| {
                (
                    Collection::new(group, plural),
                    spec["scope"] == "Namespaced",
                )
            })
        })
}
