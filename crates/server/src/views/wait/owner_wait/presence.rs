//! Finds out whether the owner of a wait is there, has come or has gone.

use pathline_engine::OwnerVersion;
use pathline_lineage::wait::AwaitedMetadata;

use super::OwnerWait;
use super::awaited_owner::{Absent, AwaitedOwner, Present};
use crate::error::ApiError;
use crate::views::names::OwnerName;
use crate::views::owners;
use crate::views::wait::owner_watch::WatchedOwner;

impl OwnerWait {
    /// Looks for the owner. As long as nothing is recorded of it, the cluster tells whether it comes or goes.
    pub(super) async fn begin(&mut self) -> Result<(), ApiError> {
        if let Some(found) = self.find().await? {
            let present = self.present(found).await?;
            let is_recorded = present.lineages.borrow().is_some();
            if is_recorded || !self.asked.is_same(&present.uid) {
                self.meet(present);
                return Ok(());
            }
        }
        let (watches, client) = (self.state.owner_watches(), self.state.cluster()?);
        let cluster = watches.follow(client, self.kind, &self.name);
        let shown = cluster.borrow().clone();
        self.cluster = Some(cluster);
        // What was shown before this question, and is not there now, was deleted before.
        match self.find().await? {
            Some(found) => {
                let present = self.present(found).await?;
                self.meet(present);
            }
            None if self.asked.has_seen_owner() => self.owner = AwaitedOwner::Gone,
            None => self.owner = AwaitedOwner::Absent(self.absent(shown).await?),
        }
        Ok(())
    }

    /// Finds out whether the owner has come, or has gone before anything was recorded of it.
    pub(super) async fn observe_cluster(&mut self) -> Result<(), ApiError> {
        let Some(cluster) = &mut self.cluster else {
            return Ok(());
        };
        let is_news = cluster.has_changed().unwrap_or(false);
        let shown = cluster.borrow_and_update().clone();
        match &mut self.owner {
            AwaitedOwner::Absent(absent) => {
                let deleted = absent.deleted.as_ref();
                let came_and_went = shown.deletions > absent.deletions;
                match shown.found.filter(|it| Some(&it.uid) != deleted) {
                    Some(found) => self.owner = AwaitedOwner::Present(self.present(found).await?),
                    None if came_and_went => self.owner = AwaitedOwner::Gone,
                    None => {}
                }
            }
            AwaitedOwner::Present(present) => {
                let is_shown = shown.found.is_some_and(|it| it.uid == present.uid);
                let was_shown = std::mem::replace(&mut present.was_shown, is_shown);
                if is_news && !is_shown && (was_shown || !self.is_there().await?) {
                    self.owner = AwaitedOwner::Gone;
                }
            }
            AwaitedOwner::Gone => {}
        }
        Ok(())
    }

    pub(super) async fn find(&self) -> Result<Option<OwnerVersion>, ApiError> {
        Box::pin(owners::find(&self.state, self.kind, &self.name)).await
    }

    async fn absent(&self, shown: WatchedOwner) -> Result<Absent, ApiError> {
        let OwnerName { namespace, name } = &self.name;
        let kind = self.kind.name();
        let known = self.ledger()?.lineage().knows_owner(kind, namespace, name);
        let deleted = shown.found.map(|it| it.uid);
        Ok(Absent {
            was_there: known.await? || deleted.is_some() || shown.deletions > 0,
            deletions: shown.deletions + u64::from(deleted.is_some()),
            deleted,
        })
    }

    async fn present(&self, found: OwnerVersion) -> Result<Box<Present>, ApiError> {
        let (waiter, generation) = self.asked.waiter(found.generation);
        let lineages = self.ledger()?.lineage().follow(&found.uid).await?;
        Ok(Box::new(Present {
            uid: found.uid,
            lineages,
            waiter,
            generation,
            metadata: AwaitedMetadata::new(generation, found.metadata_digest),
            was_known: false,
            was_shown: false,
        }))
    }

    /// Goes on with an owner that was found, unless another one was waited for before.
    fn meet(&mut self, present: Box<Present>) {
        self.owner = if self.asked.is_same(&present.uid) {
            AwaitedOwner::Present(present)
        } else {
            AwaitedOwner::Gone
        };
    }

    /// Asks whether the very owner is there: a watch may be late.
    async fn is_there(&self) -> Result<bool, ApiError> {
        let AwaitedOwner::Present(present) = &self.owner else {
            return Ok(false);
        };
        let found = self.find().await?;
        Ok(found.is_some_and(|it| it.uid == present.uid))
    }
}
