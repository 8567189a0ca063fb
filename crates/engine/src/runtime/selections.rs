//! The objects that Runnables select: read under their accounts, watched so that changes are noticed.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::StreamExt;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::core::{GroupVersionKind, PartialObjectMeta};
use kube::discovery::{Scope, pinned_kind};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use parking_lot::Mutex;
use pathline_kinds::carto::RunnableSelector;
use pathline_workers::explain;
use serde_json::Value;

use crate::runtime::calls::{self, call};
use crate::runtime::env::Env;
use crate::runtime::queues::{Queues, Used};
use crate::runtime::tasks::Tasks;
use crate::supply::stamping::gvk;

/// A selection by labels, as a Runnable makes it in any namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Selection {
    api_version: String,
    kind: String,
    labels: BTreeMap<String, String>,
}

impl From<&RunnableSelector> for Selection {
    fn from(selector: &RunnableSelector) -> Self {
        let resource = &selector.resource;
        Self {
            api_version: resource.api_version.clone().unwrap_or_default(),
            kind: resource.kind.clone().unwrap_or_default(),
            labels: selector.matching_labels.clone(),
        }
    }
}

impl Selection {
    fn gvk(&self) -> GroupVersionKind {
        gvk(&self.kind, &self.api_version)
    }

    fn label_selector(&self) -> String {
        let terms = self
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        terms.collect::<Vec<_>>().join(",")
    }
}

/// Says why a selection does not lead to one object.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Nothing matches.
    #[error("selector did not match any objects")]
    Nothing,
    /// More than one object matches.
    #[error("selector matched multiple objects")]
    Several,
    /// The cluster could not be asked, or did not allow it.
    #[error("{}", .0.message())]
    Refused(#[from] calls::Error),
}

impl Error {
    /// Tells whether trying again may help although nothing changes.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Nothing | Self::Several => false,
            Self::Refused(error) => !error.is_forbidden(),
        }
    }
}

/// Reads and watches what is selected.
pub(crate) struct Selections {
    client: Client,
    queues: Queues,
    watched: Arc<Mutex<HashSet<Selection>>>,
    tasks: Tasks,
}

impl Selections {
    pub(crate) fn new(env: &Env) -> Self {
        Self {
            client: env.client.clone(),
            queues: env.queues.clone(),
            watched: Arc::default(),
            tasks: Tasks::new(env.stop.clone()),
        }
    }

    /// Returns the one object that is selected in a namespace, as `reader` may see it.
    ///
    /// From now on a change to such objects wakes the users of the selection.
    pub(crate) async fn one(
        &self,
        reader: &Client,
        selection: &Selection,
        namespace: &str,
    ) -> Result<Value, Error> {
        let (resource, capabilities) = call(pinned_kind(&self.client, &selection.gvk())).await?;
        self.watch(selection, &resource);
        let api: Api<DynamicObject> = match capabilities.scope {
            Scope::Namespaced => Api::namespaced_with(reader.clone(), namespace, &resource),
            Scope::Cluster => Api::all_with(reader.clone(), &resource),
        };
        // Two are enough to know that it is not one.
        let params = ListParams::default()
            .labels(&selection.label_selector())
            .limit(2);
        let mut found = call(api.list(&params)).await?.items;
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(Error::Nothing),
            (Some(_), false) => Err(Error::Several),
            (Some(mut object), true) => {
                object.metadata.managed_fields = None;
                // A list names the type once, not in every item.
                object.types.get_or_insert_with(|| kube::core::TypeMeta {
                    api_version: selection.api_version.clone(),
                    kind: selection.kind.clone(),
                });
                Ok(serde_json::to_value(object).unwrap_or_default())
            }
        }
    }

    /// Waits, after the engine was stopped, until no watch runs any more.
    pub(crate) async fn ended(&self) {
        self.tasks.ended().await;
    }

    /// Starts a watch on names and labels only: the contents are for the accounts to read.
    fn watch(&self, selection: &Selection, resource: &ApiResource) {
        if !self.watched.lock().insert(selection.clone()) {
            return;
        }
        let api: Api<PartialObjectMeta<DynamicObject>> =
            Api::all_with(self.client.clone(), resource);
        let config = watcher::Config::default().labels(&selection.label_selector());
        let events = watcher(api, config)
            .default_backoff()
            .take_until(self.tasks.stop().clone().cancelled_owned());
        let (selection, queues) = (selection.clone(), self.queues.clone());
        let watched = self.watched.clone();
        self.tasks.spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(event) = events.next().await {
                let object = match event {
                    Ok(Event::Apply(object) | Event::Delete(object)) => object,
                    Ok(Event::Init | Event::InitApply(_) | Event::InitDone) => continue,
                    Err(error) => {
                        let (kind, error) = (&selection.kind, explain(&error));
                        tracing::warn!(kind, error, "a watch failed; it is tried again");
                        continue;
                    }
                };
                let namespace = object.metadata.namespace.unwrap_or_default();
                queues.wake_users(&Used::Selection(selection.clone(), namespace));
                // Whatever selects this is reconciled again, and starts another watch.
                if !queues.is_selected(&selection) {
                    break;
                }
            }
            watched.lock().remove(&selection);
        });
    }
}
