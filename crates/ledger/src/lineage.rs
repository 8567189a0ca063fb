//! Lineage: owners, what their resources made of what, and what has arrived.

mod artifacts;
mod change;
mod changes;
mod contains;
mod crossings;
mod find;
mod followers;
mod history;
mod lookup;
mod owners;
mod rows;
#[cfg(test)]
mod scale;
mod write;

use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::OwnerLineage;
use tokio::sync::watch;

pub use self::artifacts::{Entry, Use};
pub use self::change::{ArrivedNow, Change, MadeNow, OwnerRef, Recorded, What};
pub use self::contains::Carrier;
pub use self::crossings::Crossing;
pub use self::find::ArtifactSummary;
pub(crate) use self::followers::Followers;
pub use self::history::{ArrivedThen, Ingredient, Making};

use self::write::{OwnerGone, PreparedChange};
use crate::error::Error;
use crate::ledger::Ledger;

/// The lineage of all owners, as [`Ledger::lineage`] hands it out.
#[derive(Clone, Copy, Debug)]
pub struct Lineage<'a> {
    ledger: &'a Ledger,
}

impl<'a> Lineage<'a> {
    pub(crate) fn new(ledger: &'a Ledger) -> Self {
        Self { ledger }
    }
}

/// Recording
impl Lineage<'_> {
    /// Records a change. When this returns it is durable.
    ///
    /// A call whose answer was lost may be repeated: nothing is recorded twice.
    ///
    /// # Errors
    /// Then nothing of it was recorded, or it was and the answer got lost. Dropping the returned
    /// future does not take the change back.
    pub async fn record(self, change: &Change<'_>) -> Result<(), Error> {
        self.ledger.write(PreparedChange::new(change)).await
    }

    /// Records that an owner is no longer there. Its history stays; nothing of it is current.
    ///
    /// # Errors
    /// As [`Lineage::record`].
    pub async fn gone(self, owner: &OwnerRef, time: Timestamp) -> Result<(), Error> {
        let uid = owner.uid.clone();
        self.ledger.write(OwnerGone { uid, time }).await
    }
}

/// Following
impl Lineage<'_> {
    /// Follows an owner: its lineage now, and whenever it changes, whoever recorded it. There is
    /// none for an owner that is unknown, or gone.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn follow(
        self,
        uid: &str,
    ) -> Result<watch::Receiver<Option<Arc<OwnerLineage>>>, Error> {
        let followers = &self.ledger.subscribers().followers;
        let receiver = followers.subscribe(uid);
        followers.refresh(self.ledger.database(), uid).await?;
        Ok(receiver)
    }
}
