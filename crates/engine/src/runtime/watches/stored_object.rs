//! A stamped object, as its store keeps it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::ResourceExt;
use kube::api::DynamicObject;
use pathline_kinds::carto::API_VERSION;
use pathline_lineage::rollout;

use crate::runtime::packed::Packed;
use crate::runtime::queues::OwnedKind;
use crate::runtime::store::Item;

/// A stamped object, and what is asked of it without unpacking it.
pub(super) struct StoredObject {
    object: Packed<DynamicObject>,
    version: Option<u64>,
    /// The version since which its content, as ConfigMaps and Secrets have one, is the same.
    steady_since: Option<u64>,
    /// The names of its owners, in its namespace.
    owners: Box<[(OwnedKind, Box<str>)]>,
}

impl StoredObject {
    /// Packs an object as the server delivered it.
    pub(super) fn new(mut object: DynamicObject) -> Self {
        // When a content was written is all that is asked of them.
        let owns_content = |it: &ManagedFieldsEntry| {
            let fields = it.fields_v1.as_ref();
            fields.is_some_and(|it| rollout::owns_content(&it.0))
        };
        object.managed_fields_mut().retain(owns_content);
        let version = object.resource_version().and_then(|it| it.parse().ok());
        let has_content = rollout::content(&object.data).iter().any(Option::is_some);
        Self {
            steady_since: version.filter(|_| has_content),
            owners: owners(&object),
            object: Packed::new(&object),
            version,
        }
    }

    /// Returns the object.
    pub(super) fn object(&self) -> DynamicObject {
        self.object.unpack()
    }

    /// Returns the version since which its content is known to be the same, up to this version of it.
    pub(super) fn steady_since(&self, version: u64) -> Option<u64> {
        self.steady_since.filter(|_| self.version == Some(version))
    }

    /// Returns the kinds and names of its owners that are reconciled.
    pub(super) fn owners(&self) -> impl Iterator<Item = (OwnedKind, &str)> {
        self.owners
            .iter()
            .map(|(kind, name)| (*kind, name.as_ref()))
    }
}

impl Item for StoredObject {
    /// The content is the same for as long as no state of the object had another one.
    fn succeed(&mut self, before: &Self) {
        if self.steady_since.is_none() || before.steady_since.is_none() {
            return;
        }
        let (now, then) = (self.object(), before.object());
        if rollout::content(&now.data) == rollout::content(&then.data) {
            self.steady_since = before.steady_since;
        }
    }
}

fn owners(object: &DynamicObject) -> Box<[(OwnedKind, Box<str>)]> {
    let references = object.owner_references().iter();
    let references = references.filter(|it| it.api_version == API_VERSION);
    let owners = references.filter_map(|reference| {
        let mut kinds = OwnedKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.name() == reference.kind)?;
        Some((kind, reference.name.as_str().into()))
    });
    owners.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn config(version: u64, data: &Value) -> StoredObject {
        let object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "namespace": "dev", "name": "c", "uid": "1", "resourceVersion": version.to_string(),
                "ownerReferences": [
                    {"apiVersion": "carto.run/v1alpha1", "kind": "Workload", "name": "app", "uid": "2"},
                    {"apiVersion": "example.org/v1", "kind": "Workload", "name": "other", "uid": "3"},
                ],
            },
            "data": data,
        });
        StoredObject::new(serde_json::from_value(object).expect("the test wrote a valid object"))
    }

    #[test]
    fn content_is_steady_until_a_state_has_another_one() {
        let on = json!({"debug": "on"});
        let first = config(5, &on);
        assert_eq!(first.steady_since(5), Some(5));
        let mut labelled = config(6, &on);
        labelled.succeed(&first);
        assert_eq!(labelled.steady_since(6), Some(5));
        assert_eq!(labelled.steady_since(5), None, "that is another version");
        let mut changed = config(7, &json!({"debug": "off"}));
        changed.succeed(&labelled);
        assert_eq!(changed.steady_since(7), Some(7));
        let mut back = config(8, &on);
        back.succeed(&changed);
        assert_eq!(back.steady_since(8), Some(8));
    }

    #[test]
    fn owners_are_those_that_are_reconciled() {
        let config = config(1, &json!({}));
        let owners: Vec<_> = config.owners().collect();
        assert_eq!(owners, [(OwnedKind::Workload, "app")]);
    }
}
