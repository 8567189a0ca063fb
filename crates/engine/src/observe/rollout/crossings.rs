//! Records what git said of the revisions that deliveries found, for those who ask later.

use std::collections::HashSet;

use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_ledger::{Crossing, Error, Ledger};
use pathline_lineage::{Artifact, ArtifactId, OwnerLineage};

use crate::runtime::clock::Clock;

/// The number of crossings that are known to be recorded.
const MAX_RECORDED: usize = 4_096;

/// Records which commits revisions have.
pub(super) struct Crossings {
    ledger: Ledger,
    clock: Clock,
    recorded: Mutex<HashSet<Recorded>>,
}

/// A crossing that was recorded: whose, of what, and when the delivery last made anything.
type Recorded = (String, ArtifactId, ArtifactId, Option<Timestamp>);

impl Crossings {
    pub(super) fn new(ledger: Ledger, clock: Clock) -> Self {
        Self {
            ledger,
            clock,
            recorded: Mutex::default(),
        }
    }

    /// Records that a source of a delivery has a commit, unless that was done since the delivery made
    /// anything.
    pub(super) async fn record(
        &self,
        lineage: &OwnerLineage,
        found: &Artifact,
        written: &Artifact,
    ) -> Result<(), Error> {
        let recorded = (
            lineage.uid.clone(),
            found.id(),
            written.id(),
            lineage.last_made(),
        );
        if self.recorded.lock().contains(&recorded) {
            return Ok(());
        }
        let crossing = Crossing {
            delivery: lineage.uid.clone(),
            found: found.clone(),
            written: written.clone(),
            time: self.clock.now(),
        };
        self.ledger.lineage().cross(crossing).await?;
        let mut known = self.recorded.lock();
        if known.len() >= MAX_RECORDED {
            known.clear();
        }
        known.insert(recorded);
        Ok(())
    }
}
