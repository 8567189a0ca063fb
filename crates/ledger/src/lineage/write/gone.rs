//! The write for an owner that is no longer there.

use jiff::Timestamp;

use super::super::change::What;
use super::LineageGroup;
use crate::error::Error;
use crate::writer::{Transaction, Write};

/// An owner is no longer there: nothing of it is current any more.
pub(in crate::lineage) struct OwnerGone {
    pub(in crate::lineage) uid: String,
    pub(in crate::lineage) time: Timestamp,
}

impl Write for OwnerGone {
    type Group = LineageGroup;
    type Answer = ();

    fn join(&self, group: &mut LineageGroup) {
        group.name_owner(&self.uid);
    }

    async fn execute(
        &self,
        group: &mut LineageGroup,
        transaction: &mut Transaction<'_>,
    ) -> Result<(), Error> {
        let owner = group.owners.get(&self.uid);
        let Some(owner) = owner.filter(|owner| owner.row.gone.is_none()) else {
            return Ok(());
        };
        let time = self.time.as_microsecond();
        let derivations = &mut owner.derivations;
        derivations
            .keep_only(transaction.session(), |_| false, time)
            .await?;
        owner.row.gone = Some(time);
        let what = What {
            gone: true,
            ..What::default()
        };
        owner.record_change(transaction, self.time, &what).await
    }
}
