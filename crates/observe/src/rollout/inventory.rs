//! Objects that inventories name, which the stamped one does not control.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pathline_lineage::rollout::{Below, Reference};

/// Tells whether an object that an inventory names is what the watches know of its namespace; `read` is what the
/// API server answered, if it is there.
pub fn is_as_known(named: &Reference, read: Option<&ObjectMeta>, below: Option<&Below>) -> bool {
    let known = below.and_then(|below| below.find(named));
    let known = known.map(|it| (Some(&it.uid), it.generation));
    known == read.map(|it| (it.uid.as_ref(), it.generation))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn object_is_as_known_with_the_uid_and_the_generation_of_the_watch() {
        let mut below = Below::default();
        below.seen(&json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "app", "namespace": "apps", "uid": "1", "generation": 2},
        }));
        let named = |name: &str| Reference {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "apps".to_owned(),
            name: name.to_owned(),
        };
        let read = |uid: &str, generation| ObjectMeta {
            uid: Some(uid.to_owned()),
            generation: Some(generation),
            ..ObjectMeta::default()
        };
        let app = named("app");
        assert!(is_as_known(&app, Some(&read("1", 2)), Some(&below)));
        assert!(!is_as_known(&app, Some(&read("1", 3)), Some(&below)));
        assert!(!is_as_known(&app, Some(&read("2", 2)), Some(&below)));
        assert!(!is_as_known(&app, None, Some(&below)));
        assert!(is_as_known(&named("other"), None, Some(&below)));
        assert!(is_as_known(&app, None, None));
    }
}
