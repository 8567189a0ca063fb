//! The life of a namespace: what it is born with, and how it ends.

use std::sync::Arc;

use futures::future;
use pathline_clock::Clock;
use serde_json::{Value, json};

use super::{collector, remaining};
use crate::deletion::{Propagation, is_deleting};
use crate::store::{Change, Collection, Expect, Key, Refused, Store, Stored, Write};

/// The namespaces that every cluster has.
const SYSTEM: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Looks after namespaces.
pub(super) struct Namespaces {
    store: Store,
    root_certificate: Arc<str>,
    clock: Clock,
    namespaces: Collection,
    accounts: Collection,
    config_maps: Collection,
}

impl Namespaces {
    /// Looks after the namespaces of `store`, telling those in them to trust `root_certificate`.
    pub(super) fn new(store: Store, root_certificate: Arc<str>, clock: Clock) -> Self {
        Self {
            store,
            root_certificate,
            clock,
            namespaces: Collection::new("", "namespaces"),
            accounts: Collection::new("", "serviceaccounts"),
            config_maps: Collection::new("", "configmaps"),
        }
    }

    /// Makes the namespaces that every cluster has, if they are missing.
    ///
    /// # Errors
    /// Fails if the disk refuses.
    pub(super) async fn found(&self) -> Result<(), Refused> {
        let found = SYSTEM.map(|name| async move {
            let key = Key::new(&self.namespaces, "", name);
            self.create(key, || self.new_namespace(name)).await?;
            self.examine(name).await
        });
        future::try_join_all(found).await.map(drop)
    }

    /// Returns the name of the namespace that a change of the object at `key` may concern.
    pub(super) fn concerned<'a>(&self, key: &'a Key) -> Option<&'a Arc<str>> {
        if key.collection == self.namespaces {
            return Some(&key.name);
        }
        (!key.namespace.is_empty()).then_some(&key.namespace)
    }

    /// Looks at one namespace and does what is to be done about it.
    ///
    /// # Errors
    /// Fails if a write is refused; the namespace should be looked at again.
    pub(super) async fn examine(&self, name: &str) -> Result<(), Refused> {
        match self.store.get(&Key::new(&self.namespaces, "", name)) {
            Some(namespace) if is_deleting(namespace.object()) => self.empty(&namespace).await,
            Some(_) => self.furnish(name).await,
            None => Ok(()),
        }
    }

    /// Gives a namespace its default service account and the certificate to trust.
    async fn furnish(&self, name: &str) -> Result<(), Refused> {
        let account = || {
            json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": self.new_metadata("default", Some(name)),
            })
        };
        let certificate = || {
            json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": self.new_metadata("kube-root-ca.crt", Some(name)),
                "data": {"ca.crt": &*self.root_certificate},
            })
        };
        let (account, certificate) = tokio::join!(
            self.create(Key::new(&self.accounts, name, "default"), account),
            self.create(
                Key::new(&self.config_maps, name, "kube-root-ca.crt"),
                certificate
            ),
        );
        account.and(certificate)
    }

    /// Deletes what is in a namespace; when nothing is left, lets the namespace go.
    async fn empty(&self, namespace: &Stored) -> Result<(), Refused> {
        let contents = self.store.contents(&namespace.key.name);
        if contents.is_empty() {
            let mut object = namespace.object().clone();
            if let Some(finalizers) = object["spec"]["finalizers"].as_array_mut() {
                finalizers.retain(|finalizer| finalizer != "kubernetes");
            }
            return collector::put(&self.store, namespace, object)
                .await
                .map(drop);
        }
        let now = self.clock.now();
        let deletes = contents
            .iter()
            .filter(|item| !is_deleting(item.object()))
            .map(|item| collector::delete(&self.store, item, Propagation::Background, false, now));
        future::try_join_all(deletes).await?;
        let left = self.store.contents(&namespace.key.name);
        if left.is_empty() {
            // The event of the last deletion brings us back.
            return Ok(());
        }
        let reported = remaining::report(namespace.object(), &left, self.clock.now());
        collector::put(&self.store, namespace, reported)
            .await
            .map(drop)
    }

    /// Creates what is missing.
    async fn create(&self, key: Key, make: impl FnOnce() -> Value) -> Result<(), Refused> {
        if self.store.get(&key).is_some() {
            return Ok(());
        }
        let needs_namespace = !key.namespace.is_empty();
        let change = Change::Put(make());
        let write = Write {
            key,
            expect: Expect::Absent,
            change,
            needs_namespace,
        };
        match self.store.write(write).await {
            Ok(_) => Ok(()),
            Err(refused @ Refused::Storage(_)) => Err(refused),
            // Somebody else was faster, with the object or with the end of the namespace.
            Err(_) => Ok(()),
        }
    }

    fn new_namespace(&self, name: &str) -> Value {
        let mut metadata = self.new_metadata(name, None);
        metadata["labels"] = json!({"kubernetes.io/metadata.name": name});
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": metadata,
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        })
    }

    fn new_metadata(&self, name: &str, namespace: Option<&str>) -> Value {
        let created = self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let mut metadata = json!({
            "name": name,
            "uid": uuid::Uuid::new_v4().to_string(),
            "creationTimestamp": created,
        });
        if let Some(namespace) = namespace {
            metadata["namespace"] = namespace.into();
        }
        metadata
    }
}
