//! An object that is reconciled, as its store keeps it.

use std::sync::Arc;

use kube::api::DynamicObject;
use pathline_lineage::rollout::Followed;
use serde_json::Value;

use crate::runtime::packed::Packed;
use crate::runtime::store::Item;

/// An object of one of the kinds that are reconciled.
pub(crate) struct StoredOwner {
    object: Packed<DynamicObject>,
    /// The repository that it follows, found without unpacking all objects.
    repository: Option<Followed>,
}

impl StoredOwner {
    /// Packs an object as the watch delivered it.
    pub(crate) fn new(object: &DynamicObject) -> Self {
        let text = |pointer| {
            let value = object.data.pointer(pointer);
            value.and_then(Value::as_str).map(Arc::from)
        };
        let branch = text("/spec/source/git/ref/branch");
        Self {
            repository: text("/spec/source/git/url").map(|url| Followed { url, branch }),
            object: Packed::new(object),
        }
    }

    /// Returns the object.
    pub(crate) fn object(&self) -> DynamicObject {
        self.object.unpack()
    }

    /// Returns the git repository that it follows.
    pub(crate) fn repository(&self) -> Option<Followed> {
        self.repository.clone()
    }
}

impl Item for StoredOwner {}

#[cfg(test)]
mod tests {
    use futures::stream;
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::*;
    use crate::runtime::queue::Key;
    use crate::runtime::store::Store;

    fn object(name: &str, url: Option<&str>) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "Deliverable",
            "metadata": {"namespace": "dev", "name": name},
            "spec": {"source": {"git": {"url": url, "ref": {"branch": "prod"}}}},
        }))
        .expect("the test wrote a valid object")
    }

    #[tokio::test]
    async fn repositories_are_found_as_they_are_now() {
        let store: Store<StoredOwner> = Store::default();
        let newest = object("one", Some("https://git/b"));
        let applied = [
            object("one", Some("https://git/a")),
            object("two", None),
            newest.clone(),
        ];
        let events = stream::iter(applied.map(|it| Ok(Event::Apply(it))));
        let read = |object| StoredOwner::new(&object);
        store
            .follow("Deliverable", events, read, |_, _, _| {})
            .await;
        let key = Key::new("dev", "one");
        assert_eq!(store.get(&key).map(|it| it.object()), Some(newest));
        let found = store.pick(StoredOwner::repository);
        let followed = Followed {
            url: "https://git/b".into(),
            branch: Some("prod".into()),
        };
        assert_eq!(found, [(key, followed)]);
    }
}
