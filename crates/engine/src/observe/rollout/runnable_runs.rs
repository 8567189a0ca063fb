//! The runs of Runnables, by the inputs that they were given.

use std::collections::HashMap;

use kube::ResourceExt;
use kube::api::DynamicObject;
use parking_lot::Mutex;
use pathline_lineage::rollout::Object;
use pathline_observe::rollout::RunnableRun;

use crate::runtime::queue::Key;
use crate::runtime::queues::{OwnedKind, Queues};

/// The runs of Runnables that count: the one of the current inputs, and the one that gives outputs.
pub(crate) struct RunnableRuns {
    queues: Queues,
    known: Mutex<HashMap<Key, (String, Vec<RunnableRun>)>>,
}

impl RunnableRuns {
    pub(super) fn new(queues: Queues) -> Self {
        Self {
            queues,
            known: Mutex::default(),
        }
    }

    /// Takes note of the runs of a Runnable, and wakes whom it was stamped for if they are new.
    pub(crate) fn note(&self, key: &Key, runnable: &DynamicObject, runs: Vec<RunnableRun>) {
        let runs = (runnable.uid().unwrap_or_default(), runs);
        let before = self.known.lock().insert(key.clone(), runs.clone());
        if before == Some(runs) {
            return;
        }
        for owner in runnable.owner_references() {
            let mut kinds = [OwnedKind::Workload, OwnedKind::Deliverable].into_iter();
            if let Some(kind) = kinds.find(|it| it.name() == owner.kind) {
                self.queues.wake(kind, &key.namespace, &owner.name);
            }
        }
    }

    /// Forgets a Runnable that is no longer there.
    pub(crate) fn gone(&self, key: &Key) {
        self.known.lock().remove(key);
    }

    /// Returns the run of a Runnable that was given these inputs, if it counts.
    pub(super) fn get(&self, runnable: &Object, inputs_id: &str) -> Option<RunnableRun> {
        let known = self.known.lock();
        let (uid, runs) = known.get(&Key::new(&runnable.namespace, &runnable.name))?;
        let mut runs = runs.iter().filter(|_| *uid == runnable.uid);
        runs.find(|it| it.inputs_id == inputs_id).cloned()
    }
}
