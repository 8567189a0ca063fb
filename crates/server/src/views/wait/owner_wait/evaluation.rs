//! The answer that can be given of an owner now.
//!
//! The lineage judges; what it can't know, since it is as old as the last look at the owner, is read from the cluster.

use pathline_client::api::WaitResult;
use pathline_engine::Confirmer;
use pathline_lineage::OwnerLineage;

use super::OwnerWait;
use super::awaited_owner::AwaitedOwner;
use crate::error::ApiError;
use crate::views::concern::Catalogue;
use crate::views::names::OwnerName;
use crate::views::owners;
use crate::views::wait::{replaced, result};

impl OwnerWait {
    /// Returns what can be said now.
    pub(super) async fn evaluate(&mut self) -> Result<WaitResult, ApiError> {
        let present = match &mut self.owner {
            AwaitedOwner::Present(present) => present,
            AwaitedOwner::Absent(absent) => {
                let was_there = absent.was_there;
                return Ok(self.not_there(was_there));
            }
            AwaitedOwner::Gone => return Ok(self.gone()),
        };
        let lineage = present.lineages.borrow_and_update().clone();
        let Some(lineage) = lineage else {
            return Ok(if present.was_known {
                self.gone()
            } else {
                present.evaluate_unseen()
            });
        };
        present.was_known = true;
        // From here on the ledger tells when it is gone.
        self.cluster = None;
        let is_early = self.is_early(&lineage).await?;
        if let Some(set_again) = self.set_again(&lineage).await? {
            return Ok(set_again);
        }
        let missing = Box::pin(self.unseen(&lineage)).await?;
        let (asked, id) = (self.asked.asked(), self.id());
        let AwaitedOwner::Present(present) = &mut self.owner else {
            return Ok(self.gone());
        };
        let generation = present.generation;
        if is_early {
            self.is_outdated = false;
            return Ok(present.evaluate_unseen());
        }
        if !missing.is_empty() {
            return Ok(result::not_seen(asked, id, generation, &missing));
        }
        let verdict = present.waiter.judge(&lineage);
        let confirmation = present.waiter.confirmation(&lineage, &verdict);
        let waited = present.result(verdict, &lineage);
        let confirmer = Confirmer::new(self.state.cluster()?, self.state.ledger()?);
        let name = (self.name.namespace.as_str(), self.name.name.as_str());
        let differences = confirmer.differences(self.kind, name, &confirmation);
        let differences = Box::pin(differences).await?;
        self.is_outdated = !differences.is_empty();
        if self.is_outdated {
            return Ok(result::not_seen(asked, id, generation, &differences));
        }
        Box::pin(self.say_who(waited)).await
    }

    /// Tells whether the engine has not looked at the owner as it was when the waiting began.
    async fn is_early(&mut self, lineage: &OwnerLineage) -> Result<bool, ApiError> {
        let now = match &self.owner {
            AwaitedOwner::Present(present) if present.metadata.may_be_unobserved(lineage) => {
                self.find().await?.filter(|it| it.uid == lineage.uid)
            }
            _ => None,
        };
        let AwaitedOwner::Present(present) = &mut self.owner else {
            return Ok(false);
        };
        let now = now.map(|it| it.metadata_digest);
        Ok(present.metadata.is_unobserved(lineage, now.as_deref()))
    }

    /// Says which blueprints and templates the owner was not looked at with yet.
    async fn unseen(&mut self, lineage: &OwnerLineage) -> Result<Vec<String>, ApiError> {
        if self.has_seen || self.asked.seen().is_empty() {
            return Ok(Vec::new());
        }
        let object = owners::get_if_there(&self.state, self.kind, &self.name).await?;
        let Some(object) = object else {
            return Ok(Vec::new());
        };
        let catalogue = Catalogue::load(self.state.cluster()?).await?;
        let missing = catalogue.unseen(self.kind, &object, self.asked.seen(), Some(lineage));
        self.has_seen = missing.is_empty();
        Ok(missing)
    }

    /// Says that somebody has set again what an apply removed, where the lineages can't tell.
    async fn set_again(&self, lineage: &OwnerLineage) -> Result<Option<WaitResult>, ApiError> {
        let AwaitedOwner::Present(present) = &self.owner else {
            return Ok(None);
        };
        if !present.waiter.is_unsure_of_removed(lineage) {
            return Ok(None);
        }
        let object = Box::pin(owners::get_if_there(&self.state, self.kind, &self.name)).await?;
        let change =
            object.and_then(|it| replaced::set_again(self.kind, &it, self.asked.removed()));
        Ok(change.map(|message| result::superseded(present.generation, present.id(), message)))
    }

    /// Adds who has replaced what an apply has set.
    async fn say_who(&self, mut waited: WaitResult) -> Result<WaitResult, ApiError> {
        let input = result::superseded_input(&waited).map(str::to_owned);
        let Some(input) = input.filter(|_| self.asked.is_after_apply()) else {
            return Ok(waited);
        };
        let object = Box::pin(owners::get_if_there(&self.state, self.kind, &self.name)).await?;
        if let Some(by) = object.and_then(|it| replaced::by_whom(&it, &input)) {
            result::name_who(&mut waited, by);
        }
        Ok(waited)
    }

    fn not_there(&self, was_there: bool) -> WaitResult {
        let OwnerName { namespace, name } = &self.name;
        let noun = self.kind.noun();
        let missing = if was_there {
            format!(
                "the {noun} `{name}` in namespace `{namespace}` was deleted; waiting until it is there again"
            )
        } else {
            format!("there is no {noun} `{name}` in namespace `{namespace}` yet; waiting for it")
        };
        result::not_there(self.asked.asked(), self.id(), &missing)
    }

    fn gone(&self) -> WaitResult {
        let OwnerName { namespace, name } = &self.name;
        let owner = format!("{} {namespace}/{name}", self.kind.noun());
        result::gone(self.generation(), self.id(), &owner)
    }

    /// Returns the generation that an answer is about.
    pub(super) fn generation(&self) -> i64 {
        match &self.owner {
            AwaitedOwner::Present(present) => present.generation,
            AwaitedOwner::Absent(_) | AwaitedOwner::Gone => self.asked.since().unwrap_or_default(),
        }
    }

    /// Returns what another wait needs to know to go on where this one is.
    pub(super) fn id(&self) -> String {
        match &self.owner {
            AwaitedOwner::Present(present) => present.id(),
            AwaitedOwner::Absent(_) | AwaitedOwner::Gone => self.asked.id(),
        }
    }
}
