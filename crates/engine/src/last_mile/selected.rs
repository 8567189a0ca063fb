//! What a template's `liveSelector` selects: objects that the stamped one does not control.

use std::collections::BTreeMap;

use kube::Api;
use kube::api::{DynamicObject, ListParams};
use pathline_lineage::rollout::{self, Below, Object};
use pathline_lineage::{Rollout, Stage};
use serde_json::Value;

use super::end::Selected;
use super::revisions::DaemonSet;
use super::round::{Round, Unready};
use super::seen::{Needs, Seen, Watched};
use super::watch::value_of;
use crate::calls::call;

/// How many objects are read in one call.
const PAGE: u32 = 500;

impl Round<'_> {
    /// Judges what a template selects.
    pub(super) async fn selected(
        &mut self,
        value: &Value,
        selected: &Selected,
        images: &[String],
    ) -> Option<Rollout> {
        let object = Object::read(value);
        let watched = selected.watched(&object);
        let mut needs = Needs::default();
        needs.select(&watched, &selected.labels);
        let found: Vec<Object> = {
            let seen = self.miles.seen.lock();
            known(&seen, &watched, &selected.labels).cloned().collect()
        };
        for object in &found {
            needs.extend(&self.needs_of(object));
        }
        if let Err(unready) = self.prepare(needs).await {
            return unready.told(&object);
        }
        let asked = Asked {
            object: &object,
            selected,
            watched: &watched,
            images,
        };
        let (rollout, sets) = {
            let seen = self.miles.seen.lock();
            let found = known(&seen, &watched, &selected.labels);
            (asked.judge(&seen), DaemonSet::among(found, &seen))
        };
        let rollout = self.confirm_revisions(&sets, rollout).await;
        if rollout.stage != Stage::Done || self.is_confirmed(&object) {
            return Some(rollout);
        }
        let why = match self.read_again(&asked).await {
            Ok(true) => {
                self.confirm(&object);
                return Some(rollout);
            }
            Ok(false) => "what its liveSelector selects has just changed".to_owned(),
            Err(why) => why,
        };
        Unready::Told(why).told(&object)
    }

    /// Reads what is selected once more, since the watch that shows it may be behind the one that
    /// showed the stamped object. Returns whether it is as the watch says.
    async fn read_again(&mut self, asked: &Asked<'_>) -> Result<bool, String> {
        let watched = asked.watched;
        let labels = &asked.selected.labels;
        let resource = self.resource(&watched.gvk).await?;
        let client = self.miles.client.clone();
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
            return Ok(asked.judge_pods(&pods).stage == Stage::Done);
        }
        let seen = self.miles.seen.lock();
        let known = known(&seen, watched, labels);
        let known: BTreeMap<_, _> = known.map(|it| (it.uid.clone(), it.generation)).collect();
        Ok(known == objects)
    }
}

/// What is asked about a stamped object.
struct Asked<'a> {
    object: &'a Object,
    selected: &'a Selected,
    watched: &'a Watched,
    images: &'a [String],
}

impl Asked<'_> {
    fn judge(&self, seen: &Seen) -> Rollout {
        let nothing = Below::default();
        let below = seen.place(&self.watched.namespace).unwrap_or(&nothing);
        if self.watched.is_pod() {
            return self.judge_pods(below);
        }
        let found = known(seen, self.watched, &self.selected.labels);
        rollout::judge_selected(
            self.object,
            self.selected.observed,
            found,
            below,
            self.images,
        )
    }

    fn judge_pods(&self, below: &Below) -> Rollout {
        let Selected {
            labels, observed, ..
        } = self.selected;
        rollout::judge_selected_pods(self.object, *observed, labels, below, self.images)
    }
}

/// Returns what the watches know of the objects with these labels.
pub(super) fn known<'s>(
    seen: &'s Seen,
    watched: &Watched,
    labels: &BTreeMap<String, String>,
) -> impl Iterator<Item = &'s Object> {
    let below = seen.place(&watched.namespace);
    let gvk = &watched.gvk;
    let known = below.map(|below| below.labelled(&gvk.group, &gvk.kind, labels));
    known.into_iter().flatten()
}

impl Needs {
    /// Needs to know the objects of a kind with these labels.
    fn select(&mut self, watched: &Watched, labels: &BTreeMap<String, String>) {
        // One label is enough to be woken by; all of them are looked at then.
        let first = labels.first_key_value();
        self.marks
            .extend(first.map(|(label, value)| watched.labelled(label, value)));
        if watched.is_pod() {
            let told_by = labels.keys().cloned().collect();
            self.pod_labels.insert(watched.namespace.clone(), told_by);
        }
        self.watches.insert(watched.clone());
    }
}
