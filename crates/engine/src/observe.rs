//! Observation: the lineage of what was stamped, and the rollouts below it.

pub(crate) mod confirm;
pub(crate) mod lineage;
pub(crate) mod rollout;

use std::sync::Arc;

use crate::runtime::env::Env;
use crate::runtime::part::Part;
use lineage::LineageRecorder;
use rollout::RolloutWatcher;

/// The observers of what owners stamp. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Observers {
    pub(crate) lineage: Arc<LineageRecorder>,
    pub(crate) rollouts: Arc<RolloutWatcher>,
}

impl Observers {
    pub(crate) fn new(env: &Env) -> Self {
        Self {
            lineage: Arc::new(LineageRecorder::new(env)),
            rollouts: Arc::new(RolloutWatcher::new(env)),
        }
    }

    /// Returns the loops of the observers.
    pub(crate) fn parts(&self, env: &Env) -> Vec<Part> {
        let rollouts = self.rollouts.clone();
        vec![
            Part::new("missing owners", lineage::close_missing_owners(env.clone())),
            Part::new("rollouts", async move { rollouts.ended().await }),
        ]
    }
}
