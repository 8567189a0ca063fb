//! Trackers: the applications that are watched, what is known of each, and the releases that follow from it.
//!
//! A name is that of at most one tracker that is not deleted, however it is spelled. Each tracker has a uid that no
//! other one ever has. What a cycle observed is applied as a whole, and only to the state that it was asked for.

mod change;
pub(crate) mod forming;
mod hint;
mod outcome;
mod read;
mod rows;
mod stored;
mod write;

use jiff::{SignedDuration, Timestamp};
use pathline_release::TrackerName;
use pathline_release::queue::Flow;
use pathline_release::request::{NewTracker, Replacement};

pub use self::change::{TrackerChange, WhatHappened};
pub use self::outcome::{
    ApplyOutcome, CreateOutcome, DeleteOutcome, ReplaceOutcome, RequestOutcome, SealedSecrets,
};
pub use self::stored::{CycleResult, Edition, KnownSource, NewConfiguration, StoredTracker};

use self::write::{
    ApplyCycle, CreateTracker, CreateTrackers, DeleteTracker, ForgetSecrets, ReplaceTracker,
    RequestRelease, RestoreSecrets,
};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::releases::By;

/// The trackers, as [`Ledger::trackers`] hands them out.
#[derive(Clone, Copy, Debug)]
pub struct Trackers<'a> {
    ledger: &'a Ledger,
}

impl<'a> Trackers<'a> {
    pub(crate) fn new(ledger: &'a Ledger) -> Self {
        Self { ledger }
    }
}

/// Writing. When one of these returns, what it says is durable; `by` is the name of a token, or `file`.
impl Trackers<'_> {
    /// Makes a tracker, which has seen nothing yet. It releases what has settled for a time.
    ///
    /// # Errors
    /// [`Error::NoSealKey`] if it has a token, and the ledger no key.
    pub async fn create(
        self,
        new: NewTracker,
        settle: SignedDuration,
        by: &str,
        at: Timestamp,
    ) -> Result<CreateOutcome, Error> {
        let create = CreateTracker::new(self.ledger, new, settle, (by, at))?;
        self.ledger.write(create).await
    }

    /// Makes several trackers at once, or none of them.
    ///
    /// # Errors
    /// [`Error::NoSealKey`] if one has a token, and the ledger no key.
    pub async fn create_all(
        self,
        all: Vec<NewTracker>,
        settle: SignedDuration,
        by: &str,
        at: Timestamp,
    ) -> Result<Vec<CreateOutcome>, Error> {
        let all = all.into_iter();
        let all = all.map(|new| CreateTracker::new(self.ledger, new, settle, (by, at)));
        let all = all.collect::<Result<_, _>>()?;
        self.ledger.write(CreateTrackers(all)).await
    }

    /// Replaces what a tracker reads, and what it reads it with; a token that the replacement does not have stays.
    ///
    /// With `expected`, any other edition is left as it is.
    ///
    /// # Errors
    /// [`Error::NoSealKey`] if there is a token, and the ledger has no key.
    pub async fn replace(
        self,
        name: &TrackerName,
        replacement: Replacement,
        expected: Option<Edition>,
        by: &str,
        at: Timestamp,
    ) -> Result<ReplaceOutcome, Error> {
        let replace = ReplaceTracker::new(self.ledger, name, replacement, expected, (by, at));
        let has_token = replace.has_token();
        let outcome = self.ledger.write(replace).await?;
        if has_token && matches!(outcome, ReplaceOutcome::Replaced(_)) {
            self.ledger.database().empty_log().await;
        }
        Ok(outcome)
    }

    /// Deletes a tracker: its token is erased, and whatever waits in its queues is cancelled. Its releases stay.
    ///
    /// With `expected`, any other edition is left as it is.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn delete(
        self,
        name: &TrackerName,
        expected: Option<Edition>,
        by: &str,
        at: Timestamp,
    ) -> Result<DeleteOutcome, Error> {
        let delete = DeleteTracker::new(name, expected, (by, at));
        let outcome = self.ledger.write(delete).await?;
        if matches!(outcome, DeleteOutcome::Deleted { .. }) {
            self.ledger.database().empty_log().await;
        }
        Ok(outcome)
    }

    /// Releases the configuration of a tracker that waits, with the image that is released, and queues it in the first
    /// environment of the flow.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn request(
        self,
        name: &TrackerName,
        flow: &Flow,
        by: &By,
        at: Timestamp,
    ) -> Result<RequestOutcome, Error> {
        let request = RequestRelease {
            name: name.clone(),
            flow: flow.clone(),
            by: by.clone(),
            at,
        };
        self.ledger.write(request).await
    }

    /// Returns what is sealed, and is lost with its key.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn sealed_secrets(self) -> Result<SealedSecrets, Error> {
        let mut session = self.ledger.database().reader().await?;
        write::sealed_secrets(&mut session).await
    }

    /// Forgets all secrets, which nobody can open without their key, and that there was a key. Everything else stays: trackers
    /// have lost their tokens until somebody gives them again, and application files are read again for the secrets in them.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn forget_secrets(self, at: Timestamp) -> Result<SealedSecrets, Error> {
        let forgotten = self.ledger.write(ForgetSecrets { at }).await?;
        self.ledger.database().empty_log().await;
        Ok(forgotten)
    }

    /// Stores the secrets of a configuration once more, if they were forgotten.
    ///
    /// # Errors
    /// [`Error::NoSealKey`] if there are some, and the ledger has no key.
    pub async fn restore_secrets(
        self,
        uid: &str,
        configuration: NewConfiguration,
    ) -> Result<(), Error> {
        let restore = RestoreSecrets::new(self.ledger, uid, configuration);
        self.ledger.write(restore).await
    }

    /// Applies what a cycle observed, all of it or nothing: the state, the configuration, the release that was formed
    /// and its entries. A result that is for another state than the stored one is discarded, so a repeated call
    /// changes nothing.
    ///
    /// # Errors
    /// [`Error::NoSealKey`] if the configuration has secrets, and the ledger no key. Then nothing was applied, or it was
    /// and the answer got lost.
    pub async fn apply(self, result: CycleResult) -> Result<ApplyOutcome, Error> {
        if result.has_not_changed() {
            return Ok(ApplyOutcome::Applied { release: None });
        }
        self.ledger
            .write(ApplyCycle::new(self.ledger, result)?)
            .await
    }
}
