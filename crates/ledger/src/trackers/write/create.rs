//! The write that makes a tracker.

use jiff::{SignedDuration, Timestamp};
use pathline_release::owner_name;
use pathline_release::request::NewTracker;
use pathline_release::tracker::Tracker;

use super::super::change::WhatHappened;
use super::super::outcome::CreateOutcome;
use super::{integer, json, owner, read_again, record, token};
use crate::database::sql;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::sealing::Sealing;
use crate::writer::{Transaction, Write};

/// The number that counts the editions of a new tracker's token.
const FIRST_TOKEN: i64 = 1;

/// Makes a tracker, unless there is one of its name, or one whose objects in clusters would have the same.
pub(in crate::trackers) struct CreateTracker {
    uid: String,
    new: NewTracker,
    state: Tracker,
    by: String,
    at: Timestamp,
    sealing: Sealing,
}

impl CreateTracker {
    pub(in crate::trackers) fn new(
        ledger: &Ledger,
        new: NewTracker,
        settle: SignedDuration,
        (by, at): (&str, Timestamp),
    ) -> Result<Self, Error> {
        if !new.token.is_anonymous() {
            ledger.sealing().key()?;
        }
        Ok(Self {
            uid: random_uid()?,
            new,
            state: Tracker::new(settle),
            by: by.to_owned(),
            at,
            sealing: ledger.sealing().clone(),
        })
    }
}

impl Write for CreateTracker {
    type Group = ();
    type Answer = CreateOutcome;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<CreateOutcome, Error> {
        let Self { uid, new, .. } = self;
        let owner_name = owner_name(&new.name);
        match owner::find(transaction, &owner_name).await? {
            Some(other) if other.key() == new.name.key() => return Ok(CreateOutcome::Exists),
            Some(by) => return Ok(CreateOutcome::OwnerTaken { by }),
            None => {}
        }
        let row = (uid.as_str(), FIRST_TOKEN);
        let sealed = token::sealed(transaction, &self.sealing, &new.token, row).await?;
        let basis = self.state.basis();
        // A name that is taken is an answer, not a failure of the transaction that others share.
        let insert = sql(
            "insert into tracker (uid, name, name_key, source, token, token_version, generation, \
             version, state, created, created_by, updated, updated_by, owner_name) \
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10, $11, $12) \
             on conflict do nothing",
        )
        .bind(uid)
        .bind(new.name.as_str())
        .bind(&new.name.key())
        .bind(&json(&new.source))
        .bind(sealed.as_deref())
        .bind(FIRST_TOKEN)
        .bind(integer(basis.generation))
        .bind(integer(basis.version))
        .bind(&json(&self.state))
        .bind(self.at)
        .bind(&self.by)
        .bind(&owner_name);
        if transaction.session().run(insert).await? == 0 {
            return Ok(CreateOutcome::Exists);
        }
        let by = self.by.clone();
        let what = WhatHappened::Created { by };
        record(transaction, (uid, &new.name), self.at, what).await?;
        read_again(transaction, uid)
            .await
            .map(CreateOutcome::Created)
    }
}

/// Makes several trackers, or none of them.
pub(in crate::trackers) struct CreateTrackers(pub(in crate::trackers) Vec<CreateTracker>);

impl Write for CreateTrackers {
    type Group = ();
    type Answer = Vec<CreateOutcome>;

    async fn execute(
        &self,
        group: &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<Vec<CreateOutcome>, Error> {
        let mut outcomes = Vec::with_capacity(self.0.len());
        for create in &self.0 {
            outcomes.push(create.execute(group, transaction).await?);
        }
        Ok(outcomes)
    }
}

/// Returns a uid that no other tracker ever has.
fn random_uid() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Error::NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
