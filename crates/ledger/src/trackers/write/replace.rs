//! The write that replaces what a tracker reads.

use jiff::Timestamp;
use pathline_release::TrackerName;
use pathline_release::request::Replacement;

use super::super::change::WhatHappened;
use super::super::outcome::ReplaceOutcome;
use super::super::stored::{Edition, StoredTracker};
use super::{find, integer, json, read_again, record, token};
use crate::database::sql;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::sealing::Sealing;
use crate::writer::{Transaction, Write};

/// Replaces what a tracker reads, and what it reads it with.
pub(in crate::trackers) struct ReplaceTracker {
    name: TrackerName,
    replacement: Replacement,
    expected: Option<Edition>,
    by: String,
    at: Timestamp,
    sealing: Sealing,
}

impl ReplaceTracker {
    pub(in crate::trackers) fn new(
        ledger: &Ledger,
        name: &TrackerName,
        replacement: Replacement,
        expected: Option<Edition>,
        (by, at): (&str, Timestamp),
    ) -> Self {
        Self {
            name: name.clone(),
            replacement,
            expected,
            by: by.to_owned(),
            at,
            sealing: ledger.sealing().clone(),
        }
    }

    /// Tells whether it brings a token, by which the stored one may be erased.
    pub(in crate::trackers) fn has_token(&self) -> bool {
        self.replacement.token.is_some()
    }
}

impl Write for ReplaceTracker {
    type Group = ();
    type Answer = ReplaceOutcome;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<ReplaceOutcome, Error> {
        let Some(stored) = find(transaction, &self.name).await? else {
            return Ok(ReplaceOutcome::Missing);
        };
        if self.expected.is_some_and(|it| it != stored.edition) {
            return Ok(ReplaceOutcome::Stale);
        }
        // Asked again here: since the replacement was read, somebody else may have replaced the tracker.
        let source = &self.replacement.source;
        let is_elsewhere = source.repository != stored.source.repository;
        if self.replacement.token.is_none() && stored.has_token && is_elsewhere {
            return Ok(ReplaceOutcome::TokenRequired);
        }
        let has_new_source = *source != stored.source;
        let has_new_token = self.has_new_token(transaction, &stored).await?;
        if !has_new_source && !has_new_token {
            return Ok(ReplaceOutcome::Unchanged(Box::new(stored)));
        }
        if has_new_source {
            self.point_elsewhere(transaction, &stored).await?;
        }
        if has_new_token {
            self.change_token(transaction, &stored).await?;
        }
        let note = sql("update tracker set updated = $2, updated_by = $3 where uid = $1")
            .bind(&stored.uid)
            .bind(self.at)
            .bind(&self.by);
        transaction.session().run(note).await?;
        let what = WhatHappened::Replaced {
            by: self.by.clone(),
            has_new_source,
            has_new_token,
        };
        record(transaction, (&stored.uid, &stored.name), self.at, what).await?;
        let replaced = read_again(transaction, &stored.uid).await?;
        Ok(ReplaceOutcome::Replaced(replaced))
    }
}

impl ReplaceTracker {
    async fn has_new_token(
        &self,
        transaction: &mut Transaction<'_>,
        stored: &StoredTracker,
    ) -> Result<bool, Error> {
        let Some(token) = &self.replacement.token else {
            return Ok(false);
        };
        let is_stored = token::is_stored(transaction, &self.sealing, token, &stored.uid).await?;
        Ok(!is_stored)
    }

    async fn point_elsewhere(
        &self,
        transaction: &mut Transaction<'_>,
        stored: &StoredTracker,
    ) -> Result<(), Error> {
        let mut state = stored.state.clone();
        state.point_elsewhere();
        let update = sql(
            "update tracker set source = $2, state = $3, generation = $4, \
             known_source = null where uid = $1",
        )
        .bind(&stored.uid)
        .bind(&json(&self.replacement.source))
        .bind(&json(&state))
        .bind(integer(state.basis().generation));
        transaction.session().run(update).await.map(drop)
    }

    async fn change_token(
        &self,
        transaction: &mut Transaction<'_>,
        stored: &StoredTracker,
    ) -> Result<(), Error> {
        let Some(token) = &self.replacement.token else {
            return Ok(());
        };
        token::erase(transaction, &stored.uid).await?;
        let version = integer(stored.edition.token_version + 1);
        let row = (stored.uid.as_str(), version);
        let sealed = token::sealed(transaction, &self.sealing, token, row).await?;
        let update = sql("update tracker set token = $2, token_version = $3 where uid = $1")
            .bind(&stored.uid)
            .bind(sealed.as_deref())
            .bind(version);
        transaction.session().run(update).await.map(drop)
    }
}
