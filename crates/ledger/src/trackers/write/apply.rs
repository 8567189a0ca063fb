//! The write that applies what a cycle observed.

use super::super::change::WhatHappened;
use super::super::forming;
use super::super::outcome::ApplyOutcome;
use super::super::stored::{CycleResult, StoredTracker};
use super::configuration::PreparedConfiguration;
use super::{find_by_uid, integer, json, record};
use crate::database::sql;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::sealing::Sealing;
use crate::writer::{Transaction, Write};

/// Applies what a cycle observed, if it is for the stored state.
pub(in crate::trackers) struct ApplyCycle {
    result: CycleResult,
    state: String,
    configuration: Option<PreparedConfiguration>,
    sealing: Sealing,
}

impl ApplyCycle {
    pub(in crate::trackers) fn new(
        ledger: &Ledger,
        mut result: CycleResult,
    ) -> Result<Self, Error> {
        let configuration = result.configuration.take();
        let configuration = configuration.map(PreparedConfiguration::new);
        if configuration.as_ref().is_some_and(|it| it.has_secrets()) {
            ledger.sealing().key()?;
        }
        Ok(Self {
            state: json(&result.state),
            result,
            configuration,
            sealing: ledger.sealing().clone(),
        })
    }
}

impl Write for ApplyCycle {
    type Group = ();
    type Answer = ApplyOutcome;

    fn bytes(&self) -> usize {
        self.state.len() + self.configuration.as_ref().map_or(0, |it| it.bytes())
    }

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<ApplyOutcome, Error> {
        let result = &self.result;
        let stored = find_by_uid(transaction, &result.uid).await?;
        let current = stored.filter(|it| it.state.basis() == result.basis);
        let Some(stored) = current else {
            return Ok(ApplyOutcome::Discarded);
        };
        if !self.store_state(transaction).await? {
            return Ok(ApplyOutcome::Discarded);
        }
        if let Some(configuration) = &self.configuration {
            let uid = &stored.uid;
            configuration.store(transaction, &self.sealing, uid).await?;
        }
        let release = self.form(transaction, &stored).await?;
        // After the release, which may be of a configuration that waited.
        if self.configuration.is_some() {
            PreparedConfiguration::forget_unused(transaction, &stored.uid, &result.state).await?;
        }
        let number = result.release.as_ref().map(|it| it.number);
        let what = WhatHappened::Observed { release: number };
        record(transaction, (&stored.uid, &stored.name), result.at, what).await?;
        Ok(ApplyOutcome::Applied { release })
    }
}

impl ApplyCycle {
    /// Stores the state, if the stored one is still the one that the cycle was asked for.
    async fn store_state(&self, transaction: &mut Transaction<'_>) -> Result<bool, Error> {
        let result = &self.result;
        let (before, after) = (result.basis, result.state.basis());
        let known_source = result.known_source.as_ref().map(json);
        let update = sql(
            "update tracker set state = $4, generation = $5, version = $6, \
             known_source = coalesce($7, known_source), observed = $8 \
             where uid = $1 and generation = $2 and version = $3 and deleted is null",
        )
        .bind(&result.uid)
        .bind(integer(before.generation))
        .bind(integer(before.version))
        .bind(&self.state)
        .bind(integer(after.generation))
        .bind(integer(after.version))
        .bind(known_source.as_deref())
        .bind(result.at);
        Ok(transaction.session().run(update).await? > 0)
    }

    async fn form(
        &self,
        transaction: &mut Transaction<'_>,
        tracker: &StoredTracker,
    ) -> Result<Option<Box<crate::releases::StoredRelease>>, Error> {
        let Some(formed) = &self.result.release else {
            return Ok(None);
        };
        let (flow, at) = (&self.result.flow, self.result.at);
        let stored = forming::store(transaction, tracker, formed, None, (flow, at)).await?;
        Ok(Some(Box::new(stored)))
    }
}
