//! Objects that a template's `liveSelector` selects, which the stamped one does not control.

use std::collections::BTreeMap;

use kube::Api;
use kube::api::{DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use pathline_lineage::rollout::{Below, Object};
use pathline_lineage::{Rollout, Stage};
use pathline_observe::rollout::{DaemonSet, SelectedObjects};

use super::check::{RolloutCheck, Unready};
use super::index::{Needs, Watched};
use super::watch::value_of;
use crate::runtime::calls::call;

/// The number of objects that are read in one call.
const PAGE: u32 = 500;

impl RolloutCheck<'_> {
    /// Judges what a template selects.
    pub(super) async fn selected(
        &mut self,
        object: &Object,
        selected: &SelectedObjects,
        images: &[String],
    ) -> Option<Rollout> {
        let watched = watched(selected, object);
        let mut needs = Needs::default();
        needs.select(&watched, &selected.labels);
        let found: Vec<Object> = {
            let index = self.watcher.index.lock();
            let below = index.below(&watched.namespace);
            selected.known(below).cloned().collect()
        };
        for object in &found {
            needs.extend(&self.needs_of(object));
        }
        if let Err(unready) = self.prepare(needs).await {
            return unready.rollout_of(object);
        }
        let (rollout, sets) = {
            let index = self.watcher.index.lock();
            let below = index.below(&watched.namespace);
            let sets = DaemonSet::among(selected.known(below), |it| index.below(it));
            (selected.judge(object, below, images), sets)
        };
        let rollout = self.confirm_revisions(&sets, rollout).await;
        if rollout.stage != Stage::Done || self.is_confirmed(object) {
            return Some(rollout);
        }
        let why = match self.read_again(object, selected, &watched, images).await {
            Ok(true) => {
                self.confirm(object);
                return Some(rollout);
            }
            Ok(false) => "what its liveSelector selects has just changed".to_owned(),
            Err(why) => why,
        };
        Unready::Unknown(why).rollout_of(object)
    }

    /// Reads what is selected once more, since the watch that shows it may be behind the one that
    /// showed the stamped object. Returns whether it is as the watch says.
    async fn read_again(
        &mut self,
        object: &Object,
        selected: &SelectedObjects,
        watched: &Watched,
        images: &[String],
    ) -> Result<bool, String> {
        let labels = &selected.labels;
        let resource = self.resource(&watched.gvk).await?;
        let client = self.watcher.client.clone();
        let api: Api<DynamicObject> = Api::namespaced_with(client, &watched.namespace, &resource);
        let selector: Vec<_> = labels
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mut params = ListParams::default()
            .labels(&selector.join(","))
            .limit(PAGE);
        let mut pods = Below::by_labels(labels.keys().cloned().collect());
        let mut objects = BTreeMap::new();
        loop {
            let page = match call(api.list(&params)).await {
                Ok(page) => page,
                Err(error) => return Err(self.unread(&watched.gvk.kind, &error)),
            };
            for object in &page.items {
                if watched.is_pod() {
                    pods.seen(&value_of(object, &resource));
                } else {
                    let uid = object.metadata.uid.clone().unwrap_or_default();
                    objects.insert(uid, object.metadata.generation);
                }
            }
            match page.metadata.continue_.filter(|it| !it.is_empty()) {
                Some(next) => params.continue_token = Some(next),
                None => break,
            }
        }
        if watched.is_pod() {
            return Ok(selected.judge(object, Some(&pods), images).stage == Stage::Done);
        }
        let index = self.watcher.index.lock();
        let known = selected.known(index.below(&watched.namespace));
        let known: BTreeMap<_, _> = known.map(|it| (it.uid.clone(), it.generation)).collect();
        Ok(known == objects)
    }
}

/// Returns what is watched of the objects that are selected for a stamped one.
fn watched(selected: &SelectedObjects, stamped: &Object) -> Watched {
    let SelectedObjects {
        group,
        version,
        kind,
        ..
    } = selected;
    Watched {
        namespace: stamped.namespace.clone(),
        gvk: GroupVersionKind::gvk(group, version, kind),
    }
}

impl Needs {
    /// Needs to know the objects of a kind with these labels.
    fn select(&mut self, watched: &Watched, labels: &BTreeMap<String, String>) {
        // One label is enough to be woken by; all of them are compared then.
        let first = labels.first_key_value();
        self.followed
            .extend(first.map(|(label, value)| watched.labelled(label, value)));
        if watched.is_pod() {
            let by_labels = labels.keys().cloned().collect();
            self.pod_labels.insert(watched.namespace.clone(), by_labels);
        }
        self.watches.insert(watched.clone());
    }
}
