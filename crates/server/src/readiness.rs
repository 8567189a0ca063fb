//! The parts of Pathline, and which of them are ready.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::RwLock;
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

/// Names a part that must be up before Pathline can do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The ledger is open, and what is recorded reaches its disk.
    Ledger,
    /// The store is open and can be written to, and the Kubernetes API answers.
    Cluster,
    /// The kinds Pathline works with are installed.
    Crds,
    /// The loops that reconcile owners run, and the workers are prepared.
    Engine,
}

impl Part {
    const ALL: [Self; 4] = [Self::Ledger, Self::Cluster, Self::Crds, Self::Engine];
}

/// Remembers which parts are up; a cheap handle, all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    parts: Arc<RwLock<Parts>>,
}

#[derive(Debug, Default)]
struct Parts {
    ready: BTreeSet<Part>,
    /// The parts that report their own state.
    working: BTreeMap<Part, watch::Receiver<bool>>,
}

impl Parts {
    fn is_ready(&self, part: Part) -> bool {
        let working = self.working.get(&part);
        self.ready.contains(&part) && working.is_none_or(|working| *working.borrow())
    }
}

impl Readiness {
    /// Records that the part is up.
    pub fn mark_ready(&self, part: Part) {
        self.parts.write().ready.insert(part);
    }

    /// Follows whether a part can work: while it can't it is not ready, although it is up.
    pub fn follow(&self, part: Part, working: watch::Receiver<bool>) {
        self.parts.write().working.insert(part, working);
    }

    /// Records that the part is down, be it for good or while it stops.
    pub fn mark_down(&self, part: Part) {
        self.parts.write().ready.remove(&part);
    }

    /// Returns the parts that are not ready, in the order in which they start.
    pub fn missing(&self) -> Vec<Part> {
        let parts = self.parts.read();
        let missing = Part::ALL.into_iter().filter(|part| !parts.is_ready(*part));
        missing.collect()
    }
}
