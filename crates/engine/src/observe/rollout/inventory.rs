//! Objects that inventories name, which the stamped one does not control.
//!
//! The watches that show them may be behind the one that showed the stamped object. Before something
//! is said to run they are read once more.

use futures::{StreamExt, TryStreamExt};
use kube::Api;
use kube::api::DynamicObject;
use kube::core::GroupVersionKind;
use pathline_lineage::rollout::{self, Object, Reference};
use pathline_lineage::{Rollout, Stage};
use pathline_observe::rollout::is_as_known;

use super::check::RolloutCheck;
use crate::runtime::calls::{self, call};

/// The number of objects that are read at a time.
const READ_AT_ONCE: usize = 8;

impl RolloutCheck<'_> {
    /// Makes sure that what an inventory names was judged as it is since the stamped object was read.
    pub(super) async fn confirm_applied(&mut self, object: &Object, rollout: Rollout) -> Rollout {
        let named: Vec<Reference> = {
            let index = self.watcher.index.lock();
            let named = rollout::all_named(object, |namespace| index.below(namespace));
            named.into_iter().collect()
        };
        if named.is_empty() || self.is_confirmed(object) {
            return rollout;
        }
        let why = match self.changed(&named).await {
            Ok(None) => {
                self.confirm(object);
                return rollout;
            }
            Ok(Some(changed)) => format!("{} `{}` has just changed", changed.kind, changed.name),
            Err(why) => why,
        };
        Rollout {
            stage: Stage::Progressing { why },
            ..rollout
        }
    }

    /// Returns an object that is no longer what the watches know, or why nobody can say.
    async fn changed(&mut self, named: &[Reference]) -> Result<Option<Reference>, String> {
        let mut reads = Vec::new();
        for named in named {
            let gvk = GroupVersionKind::gvk(&named.group, &named.version, &named.kind);
            let resource = self.resource(&gvk).await?;
            let client = self.watcher.client.clone();
            let api: Api<DynamicObject> = Api::namespaced_with(client, &named.namespace, &resource);
            reads.push(async move { Ok((named, call(api.get_opt(&named.name)).await?)) });
        }
        let reads = futures::stream::iter(reads).buffer_unordered(READ_AT_ONCE);
        let read: Result<Vec<_>, calls::Error> = reads.try_collect().await;
        let read = read.map_err(|error| self.unread("applied", &error))?;
        let index = self.watcher.index.lock();
        let changed = read.into_iter().find(|(named, read)| {
            let read = read.as_ref().map(|it| &it.metadata);
            !is_as_known(named, read, index.below(&named.namespace))
        });
        Ok(changed.map(|(named, _)| named.clone()))
    }
}
