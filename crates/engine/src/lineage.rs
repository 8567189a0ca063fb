//! Lineage: what the owners' resources were given and made, taken in look by look.
//!
//! Each look at an owner yields a [`Look`]: the path, what is read on it ([`Readings`]), and what
//! was stamped and seen ([`Sighting`]). [`Lineage::take_in`] feeds it to what is known of the owner,
//! writes what is new to the ledger, and only then says what the status may show.

mod given;
mod known;
mod look;
mod lost;
mod products;
mod readings;
mod shown;
mod sighting;
mod version;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_blueprint::blueprint::{Input, InputKind, Resource};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::template::TemplateKind;
use pathline_ledger::{Error, Ledger, OwnerRef};
use pathline_lineage::Retiring;
use pathline_lineage::rollout::ConfigRecord;

use crate::metrics::Metrics;
use crate::queue::Key;
use known::Known;

pub(crate) use look::{Look, Path};
pub(crate) use lost::end_lost;
pub(crate) use products::Product;
pub(crate) use readings::{Choice, Readings};
pub(crate) use shown::Shown;
pub(crate) use sighting::{Sighting, Subject, is_runnable, run_of};

/// What is known of one owner. Whoever looks at the owner holds it meanwhile.
type Shared = Arc<tokio::sync::Mutex<Known>>;

/// Keeps what is known of every owner that was looked at.
pub(crate) struct Lineage {
    ledger: Ledger,
    metrics: Metrics,
    owners: Mutex<HashMap<(OwnerKind, Key), Shared>>,
}

impl Lineage {
    pub(crate) fn new(ledger: Ledger, metrics: Metrics) -> Self {
        Self {
            ledger,
            metrics,
            owners: Mutex::default(),
        }
    }

    /// Takes in what a look found, and returns what the status may show of it.
    ///
    /// # Errors
    /// If the ledger does not take it. It is kept, and goes there with what the next look finds.
    pub(crate) async fn take_in(&self, owner: &Owner, look: Look) -> Result<Shown, Error> {
        let known = self.known(owner);
        let mut known = known.lock().await;
        if known.owner.uid != owner.uid {
            // If this fails, the first look at the new one ends the old one.
            let _ = known.end(&self.ledger).await;
            *known = Known::new(reference(owner));
        }
        let result = known.take_in(&self.ledger, look).await;
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

    /// Returns what ran for an owner when it was last looked at; none if the ledger cannot be read.
    pub(crate) async fn has_run(&self, owner: &Owner) -> Option<Vec<Retiring>> {
        let known = self.known(owner);
        let known = known.lock().await;
        if known.owner.uid != owner.uid {
            return Some(Vec::new());
        }
        known.has_run(&self.ledger).await.ok()
    }

    /// Returns what is remembered of the ConfigMaps and Secrets that the resources of an owner stamp.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub(crate) async fn configs(
        &self,
        owner: &Owner,
    ) -> Result<BTreeMap<String, ConfigRecord>, Error> {
        let known = self.known(owner);
        let known = known.lock().await;
        if known.owner.uid != owner.uid {
            return Ok(BTreeMap::new());
        }
        let configs = known.configs(&self.ledger).await;
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
        let known = self.owners.lock().get(&(kind, key.clone())).cloned();
        if let Some(known) = known {
            return known.lock().await.end(&self.ledger).await;
        }
        let owner = self
            .ledger
            .find_owner(kind.name(), &key.namespace, &key.name);
        match owner.await? {
            Some(owner) => self.ledger.gone(&owner, Timestamp::now()).await,
            None => Ok(()),
        }
    }

    fn known(&self, owner: &Owner) -> Shared {
        let key = (owner.kind, Key::new(&owner.namespace, &owner.name));
        let mut owners = self.owners.lock();
        let new = || Arc::new(tokio::sync::Mutex::new(Known::new(reference(owner))));
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

/// Tells whether an input is the one that a resource hands on under this name.
pub(crate) fn is_passed(resource: &Resource, input: &Input, name: &str) -> bool {
    let wanted = InputKind::made_by(resource.template_kind)
        .filter(|_| resource.template_kind != TemplateKind::Deployment);
    Some(input.kind) == wanted && input.name == name
}
