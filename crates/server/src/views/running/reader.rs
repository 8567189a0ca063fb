//! Reads objects of any kind, and never without end.

use std::collections::BTreeMap;

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, TypeMeta};
use serde_json::Value;

use crate::error::ApiError;
use crate::views::objects::{ask, resolve};

/// The objects that one answer of the cluster holds.
const PAGE_SIZE: u32 = 250;
/// The most answers that one list may take.
const MAX_PAGES: usize = 20;

/// Reads objects, and keeps in mind how the cluster calls their kinds.
pub(super) struct Reader {
    client: Client,
    kinds: BTreeMap<String, Option<ApiResource>>,
}

/// The objects that a list is about.
pub(super) struct Listed<'l> {
    pub(super) gvk: &'l GroupVersionKind,
    /// The namespace; all of them without one.
    pub(super) namespace: Option<&'l str>,
    pub(super) labels: &'l BTreeMap<String, String>,
}

impl Reader {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            kinds: BTreeMap::new(),
        }
    }

    /// Returns one object; none if it, or its kind, is not there.
    pub(super) async fn get(
        &mut self,
        gvk: &GroupVersionKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, ApiError> {
        let Some(resource) = self.resource(gvk).await? else {
            return Ok(None);
        };
        let client = self.client.clone();
        let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &resource);
        let what = format!("{} in namespace `{namespace}`", resource.plural);
        let object = ask(&what, api.get(name)).await?;
        Ok(object.map(|it| value(it, gvk)))
    }

    /// Returns an object that belongs to no namespace.
    pub(super) async fn get_global(
        &mut self,
        resource: &ApiResource,
        name: &str,
    ) -> Result<Option<Value>, ApiError> {
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), resource);
        let object = ask(&resource.plural, api.get(name)).await?;
        Ok(object.and_then(|it| serde_json::to_value(it).ok()))
    }

    /// Hands over the objects of a kind, one at a time; returns whether that were all of them.
    pub(super) async fn each(
        &mut self,
        listed: Listed<'_>,
        mut with: impl FnMut(Value),
    ) -> Result<bool, ApiError> {
        let Some(resource) = self.resource(listed.gvk).await? else {
            return Ok(true);
        };
        let client = self.client.clone();
        let api: Api<DynamicObject> = match listed.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        };
        let mut page = ListParams::default().limit(PAGE_SIZE);
        page.label_selector = selector(listed.labels);
        for _ in 0..MAX_PAGES {
            let Some(found) = ask(&resource.plural, api.list(&page)).await? else {
                return Ok(true);
            };
            for object in found.items {
                with(value(object, listed.gvk));
            }
            page.continue_token = found.metadata.continue_.filter(|next| !next.is_empty());
            if page.continue_token.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn resource(&mut self, gvk: &GroupVersionKind) -> Result<Option<ApiResource>, ApiError> {
        if matches!(gvk.group.as_str(), "" | "apps" | "batch") {
            return Ok(Some(ApiResource::from_gvk(gvk)));
        }
        let key = format!("{}/{}", gvk.api_version(), gvk.kind);
        if let Some(known) = self.kinds.get(&key) {
            return Ok(known.clone());
        }
        let resource = resolve(&self.client, gvk).await?;
        self.kinds.insert(key, resource.clone());
        Ok(resource)
    }
}

/// Returns an object as JSON, with the kind that lists leave out.
fn value(mut object: DynamicObject, gvk: &GroupVersionKind) -> Value {
    object.types = Some(TypeMeta {
        api_version: gvk.api_version(),
        kind: gvk.kind.clone(),
    });
    serde_json::to_value(object).unwrap_or_default()
}

fn selector(labels: &BTreeMap<String, String>) -> Option<String> {
    let labels: Vec<_> = labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    (!labels.is_empty()).then(|| labels.join(","))
}
