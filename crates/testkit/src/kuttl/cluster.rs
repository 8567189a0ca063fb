//! Objects of any kind on a cluster.

use std::collections::HashMap;

use ::kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use ::kube::core::{GroupVersionKind, TypeMeta};
use ::kube::discovery::{ApiCapabilities, ApiResource, Scope, oneshot};
use ::kube::{Api, Client};
use anyhow::{Context, Result};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// A client that finds out where objects of a kind live.
pub(super) struct Cluster {
    client: Client,
    known: Mutex<HashMap<GroupVersionKind, (ApiResource, Scope)>>,
}

/// The address of one object of a file.
pub(super) struct Place {
    api: Api<DynamicObject>,
    /// The name, if the file gives one.
    pub(super) name: Option<String>,
    /// The object of the file, with its namespace.
    pub(super) object: Value,
}

impl Cluster {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            known: Mutex::default(),
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Finds the place of an object; one that should have a namespace and has none gets this one.
    pub(super) async fn place(&self, object: &Value, namespace: &str) -> Result<Place> {
        let (resource, scope) = self.resource(object).await?;
        let mut object = object.clone();
        let api = match scope {
            Scope::Cluster => Api::all_with(self.client.clone(), &resource),
            Scope::Namespaced => {
                let metadata = &mut object["metadata"];
                if metadata["namespace"].as_str().is_none_or(str::is_empty) {
                    metadata["namespace"] = json!(namespace);
                }
                let namespace = metadata["namespace"].as_str().unwrap_or(namespace);
                Api::namespaced_with(self.client.clone(), namespace, &resource)
            }
        };
        let name = object["metadata"]["name"].as_str();
        let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(Place { api, name, object })
    }

    async fn resource(&self, object: &Value) -> Result<(ApiResource, Scope)> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let types = TypeMeta {
            api_version: text("apiVersion"),
            kind: text("kind"),
        };
        let gvk = GroupVersionKind::try_from(types)?;
        if let Some(known) = self.known.lock().get(&gvk) {
            return Ok(known.clone());
        }
        let (resource, ApiCapabilities { scope, .. }) = oneshot::pinned_kind(&self.client, &gvk)
            .await
            .with_context(|| format!("{} {} is not served", gvk.api_version(), gvk.kind))?;
        let found = (resource, scope);
        self.known.lock().insert(gvk, found.clone());
        Ok(found)
    }
}

impl Place {
    /// Creates the object or, if it is there, merges the whole of the file's object into it.
    pub(super) async fn apply(&self) -> Result<()> {
        let name = self.name.as_deref();
        let name = name.context("an object to apply needs a metadata.name")?;
        loop {
            let written = match self.api.get_opt(name).await? {
                Some(current) => {
                    let mut patch = self.object.clone();
                    patch["metadata"]["resourceVersion"] = json!(current.metadata.resource_version);
                    let patch = Patch::Merge(patch);
                    let params = PatchParams::default();
                    self.api.patch(name, &params, &patch).await
                }
                None => {
                    let object = serde_json::from_value(self.object.clone())?;
                    self.api.create(&PostParams::default(), &object).await
                }
            };
            match written {
                Ok(_) => return Ok(()),
                // Somebody else was faster.
                Err(::kube::Error::Api(status))
                    if status.is_already_exists() || status.is_conflict() => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("{} is refused", self.describe()));
                }
            }
        }
    }

    /// Returns the object of this name or, without a name, all objects of the kind.
    pub(super) async fn candidates(&self) -> Result<Vec<Value>> {
        let found = match &self.name {
            Some(name) => self.api.get_opt(name).await?.into_iter().collect(),
            None => self.api.list(&ListParams::default()).await?.items,
        };
        let types = [&self.object["apiVersion"], &self.object["kind"]];
        found
            .into_iter()
            .map(|object| {
                let mut value = serde_json::to_value(object)?;
                // Items of a list do not repeat what they are.
                for (field, known) in ["apiVersion", "kind"].into_iter().zip(types) {
                    value[field] = known.clone();
                }
                Ok(value)
            })
            .collect()
    }

    /// Deletes the object, which may be gone already.
    pub(super) async fn delete(&self) -> Result<()> {
        let name = self
            .name
            .as_deref()
            .context("only named objects are made")?;
        match self.api.delete(name, &DeleteParams::background()).await {
            Err(::kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            Err(error) => {
                Err(error).with_context(|| format!("{} cannot be deleted", self.describe()))
            }
            Ok(_) => Ok(()),
        }
    }

    /// Names the object for people.
    pub(super) fn describe(&self) -> String {
        let kind = self.object["kind"].as_str().unwrap_or_default();
        match &self.name {
            Some(name) => format!("{kind} {name}"),
            None => format!("any {kind}"),
        }
    }
}
