//! Which run of a Runnable was given which inputs.

use std::collections::HashMap;

use kube::ResourceExt;
use kube::api::DynamicObject;
use parking_lot::Mutex;
use pathline_lineage::rollout::{Object, Reference};
use serde_json::Value;

use crate::queue::Key;
use crate::wakeups::{Reconciled, Wakeups};

/// A run, and the inputs that it was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ran {
    inputs_id: String,
    pub(super) object: Reference,
    pub(super) uid: String,
}

impl Ran {
    pub(crate) fn new(inputs_id: &str, run: &Value) -> Self {
        let text = |pointer: &str| {
            let text = run.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let api_version = text("/apiVersion");
        let (group, version) = match api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", api_version.as_str()),
        };
        Self {
            inputs_id: inputs_id.to_owned(),
            object: Reference {
                group: group.to_owned(),
                version: version.to_owned(),
                kind: text("/kind"),
                namespace: text("/metadata/namespace"),
                name: text("/metadata/name"),
            },
            uid: text("/metadata/uid"),
        }
    }
}

/// The runs of Runnables that count: the one of the current inputs, and the one that gives outputs.
pub(crate) struct Runs {
    wakeups: Wakeups,
    known: Mutex<HashMap<Key, (String, Vec<Ran>)>>,
}

impl Runs {
    pub(super) fn new(wakeups: Wakeups) -> Self {
        Self {
            wakeups,
            known: Mutex::default(),
        }
    }

    /// Takes note of the runs of a Runnable, and wakes whom it was stamped for if they are new.
    pub(crate) fn note(&self, key: &Key, runnable: &DynamicObject, runs: Vec<Ran>) {
        let runs = (runnable.uid().unwrap_or_default(), runs);
        let before = self.known.lock().insert(key.clone(), runs.clone());
        if before == Some(runs) {
            return;
        }
        for owner in runnable.owner_references() {
            let mut kinds = [Reconciled::Workload, Reconciled::Deliverable].into_iter();
            if let Some(kind) = kinds.find(|it| it.name() == owner.kind) {
                self.wakeups.wake(kind, &key.namespace, &owner.name);
            }
        }
    }

    /// Forgets a Runnable that is no longer there.
    pub(crate) fn gone(&self, key: &Key) {
        self.known.lock().remove(key);
    }

    /// Returns the run of a Runnable that was given these inputs, if it counts.
    pub(super) fn get(&self, runnable: &Object, inputs_id: &str) -> Option<Ran> {
        let known = self.known.lock();
        let (uid, runs) = known.get(&Key::new(&runnable.namespace, &runnable.name))?;
        let mut runs = runs.iter().filter(|_| *uid == runnable.uid);
        runs.find(|it| it.inputs_id == inputs_id).cloned()
    }
}
