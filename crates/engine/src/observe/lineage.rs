//! Records lineage: what the owners' resources were given and made.
//!
//! Each reconcile of an owner yields an [`Observation`]. [`LineageRecorder::record`] feeds it to the lineage of the
//! owner, writes what is new to the ledger, and only then says what the status may show.

mod owner_recorder;
mod stale_owners;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_ledger::{Error, Ledger, OwnerRef};
use pathline_lineage::Retiring;
use pathline_lineage::rollout::ConfigRecord;
use pathline_observe::Observation;

use crate::runtime::clock::Clock;
use crate::runtime::env::Env;
use crate::runtime::metrics::Metrics;
use crate::runtime::queue::Key;
use owner_recorder::OwnerRecorder;

pub(crate) use owner_recorder::RecordedLineage;
pub(crate) use stale_owners::close_missing_owners;

/// The recorder of one owner, held by its reconcile.
type Shared = Arc<tokio::sync::Mutex<OwnerRecorder>>;

/// Records the lineage of every owner that is reconciled.
pub(crate) struct LineageRecorder {
    ledger: Ledger,
    metrics: Metrics,
    clock: Clock,
    owners: Mutex<HashMap<(OwnerKind, Key), Shared>>,
}

impl LineageRecorder {
    pub(crate) fn new(env: &Env) -> Self {
        Self {
            ledger: env.ledger.clone(),
            metrics: env.metrics.clone(),
            clock: env.clock.clone(),
            owners: Mutex::default(),
        }
    }

    /// Records an observation, and returns the lineage with what the status may show of it.
    ///
    /// # Errors
    /// If the ledger does not take it. It is kept, and goes there with what the next reconcile observes.
    pub(crate) async fn record(
        &self,
        owner: &Owner,
        observation: Observation,
    ) -> Result<RecordedLineage, Error> {
        let recorder = self.recorder(owner);
        let mut recorder = recorder.lock().await;
        if recorder.owner.uid != owner.uid {
            // If this fails, the first reconcile of the new one ends the old one.
            let _ = recorder.end(&self.ledger).await;
            *recorder = OwnerRecorder::new(reference(owner), self.clock.clone());
        }
        let result = recorder.record(&self.ledger, observation).await;
        result.inspect_err(|error| {
            self.metrics.ledger_failed();
            let error = error as &dyn std::error::Error;
            tracing::warn!(
                owner = owner.name,
                error,
                "lineage is kept, and written down later"
            );
        })
    }

    /// Returns what ran for an owner when it was last reconciled; none if the ledger cannot be read.
    pub(crate) async fn has_run(&self, owner: &Owner) -> Option<Vec<Retiring>> {
        let recorder = self.recorder(owner);
        let recorder = recorder.lock().await;
        if recorder.owner.uid != owner.uid {
            return Some(Vec::new());
        }
        recorder.has_run(&self.ledger).await.ok()
    }

    /// Returns what is remembered of the ConfigMaps and Secrets that the resources of an owner stamp.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub(crate) async fn configs(
        &self,
        owner: &Owner,
    ) -> Result<BTreeMap<String, ConfigRecord>, Error> {
        let recorder = self.recorder(owner);
        let recorder = recorder.lock().await;
        if recorder.owner.uid != owner.uid {
            return Ok(BTreeMap::new());
        }
        let configs = recorder.configs(&self.ledger).await;
        configs.inspect_err(|_| self.metrics.ledger_failed())
    }

    /// Ends what is current of an owner that is no longer there.
    ///
    /// # Errors
    /// If the ledger does not take it; then it is to be tried again.
    pub(crate) async fn gone(&self, kind: OwnerKind, key: &Key) -> Result<(), Error> {
        let ended = self.end(kind, key).await;
        ended.inspect_err(|_| self.metrics.ledger_failed())?;
        self.owners.lock().remove(&(kind, key.clone()));
        Ok(())
    }

    async fn end(&self, kind: OwnerKind, key: &Key) -> Result<(), Error> {
        let recorder = self.owners.lock().get(&(kind, key.clone())).cloned();
        if let Some(recorder) = recorder {
            return recorder.lock().await.end(&self.ledger).await;
        }
        let owner = self
            .ledger
            .lineage()
            .find_owner(kind.name(), &key.namespace, &key.name);
        match owner.await? {
            Some(owner) => self.ledger.lineage().gone(&owner, self.clock.now()).await,
            None => Ok(()),
        }
    }

    fn recorder(&self, owner: &Owner) -> Shared {
        let key = (owner.kind, Key::new(&owner.namespace, &owner.name));
        let mut owners = self.owners.lock();
        let new = || {
            let recorder = OwnerRecorder::new(reference(owner), self.clock.clone());
            Arc::new(tokio::sync::Mutex::new(recorder))
        };
        owners.entry(key).or_insert_with(new).clone()
    }
}

fn reference(owner: &Owner) -> OwnerRef {
    OwnerRef {
        kind: owner.kind.name().to_owned(),
        namespace: owner.namespace.clone(),
        name: owner.name.clone(),
        uid: owner.uid.clone(),
    }
}
