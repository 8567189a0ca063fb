//! One who waits for all whom something concerns.

use pathline_blueprint::owner::OwnerKind;
use pathline_ledger::Ledger;
use pathline_lineage::Track;
use tokio::sync::{OwnedSemaphorePermit, watch};

use kube::ResourceExt;
use kube::api::DynamicObject;

use super::catalogue::{Catalogue, all};
use super::named::Named;
use crate::Doors;
use crate::api::{Concerned, ConcernedOwner, WaitState};
use crate::auth::{Caller, Stay};
use crate::names::OwnerName;
use crate::owners;
use crate::refusal::Refusal;
use crate::wait;

/// One who waits, and those who have not been looked at yet.
pub(super) struct Following {
    stay: Stay,
    doors: Doors,
    ledger: Ledger,
    /// Rings for new changes.
    bell: watch::Receiver<i64>,
    named: Vec<Named>,
    /// Everybody whom it concerns, once that is known.
    owners: Option<Vec<(OwnerKind, ConcernedOwner)>>,
    told: Option<Concerned>,
    _room: OwnedSemaphorePermit,
}

impl Following {
    pub(super) async fn start(
        doors: &Doors,
        caller: Caller,
        named: Vec<Named>,
    ) -> Result<Self, Refusal> {
        let room = doors.waiters().clone().try_acquire_owned();
        let room = room.map_err(|_| Refusal::too_many("too many clients wait at once"))?;
        let ledger = doors.ledger()?.clone();
        Ok(Self {
            stay: Stay::begin(doors, caller).await?,
            doors: doors.clone(),
            bell: ledger.bell(),
            ledger,
            named,
            owners: None,
            told: None,
            _room: room,
        })
    }

    /// Looks at those who have not seen it yet; the first time, for whom it concerns.
    async fn look(&mut self) -> Result<Concerned, Refusal> {
        let catalogue = Catalogue::load(self.doors.cluster()?).await?;
        let mut owners = match self.owners.take() {
            Some(owners) => owners,
            None => self.concerned(&catalogue).await?,
        };
        for (kind, owner) in &mut owners {
            if owner.is_pending() {
                self.look_at(&catalogue, *kind, owner).await?;
            }
        }
        let told = Concerned::of(owners.iter().map(|(_, owner)| owner.clone()).collect());
        self.owners = Some(owners);
        Ok(told)
    }

    /// Finds everybody whom it concerns.
    async fn concerned(
        &self,
        catalogue: &Catalogue,
    ) -> Result<Vec<(OwnerKind, ConcernedOwner)>, Refusal> {
        let mut concerned = Vec::new();
        for kind in OwnerKind::ALL {
            let api = owners::everywhere(self.doors.cluster()?, kind);
            for object in all(&api).await? {
                let track = self.track(&object).await?;
                if catalogue.concerns(kind, &object, &self.named, track.as_ref()) {
                    let (namespace, name) = (object.namespace(), object.name_any());
                    let namespace = namespace.unwrap_or_default();
                    concerned.push((kind, ConcernedOwner::new(kind.noun(), namespace, name)));
                }
            }
        }
        Ok(concerned)
    }

    /// Notes how far one is. One that is deleted is no concern any more.
    async fn look_at(
        &self,
        catalogue: &Catalogue,
        kind: OwnerKind,
        owner: &mut ConcernedOwner,
    ) -> Result<(), Refusal> {
        let name = OwnerName {
            namespace: owner.namespace.clone(),
            name: owner.name.clone(),
        };
        let Some(object) = owners::get_if_there(&self.doors, kind, &name).await? else {
            owner.missing.clear();
            return Ok(());
        };
        let track = self.track(&object).await?;
        let unseen = catalogue.unseen(kind, &object, &self.named, track.as_ref());
        let track = track.unwrap_or_default();
        let stuck = track.unstamped.iter();
        let tried = stuck.clone().filter(|(_, it)| it.retried);
        let tried = tried.map(|(name, it)| format!("`{name}` can't be stamped: {}", it.why));
        let failed = stuck.filter(|(_, it)| !it.retried);
        let failed = failed.map(|(name, it)| format!("`{name}` can't be stamped: {}", it.why));
        let failed = failed.chain(track.failures.get("").cloned());
        owner.missing = unseen;
        if owner.missing.is_empty() {
            owner.failed = failed.collect();
            owner.missing.extend(tried);
        }
        Ok(())
    }

    async fn track(&self, object: &DynamicObject) -> Result<Option<Track>, Refusal> {
        let uid = object.uid().unwrap_or_default();
        Ok(self.ledger.track(&uid).await?)
    }
}

impl wait::Following for Following {
    type Told = Concerned;

    /// Returns what can be said as soon as it is something new; a refusal ends the waiting.
    async fn next(&mut self) -> Result<Concerned, Refusal> {
        loop {
            self.stay.check().await?;
            self.bell.mark_unchanged();
            let told = Box::pin(self.look()).await?;
            if self.told.as_ref() != Some(&told) {
                self.told = Some(told.clone());
                return Ok(told);
            }
            let goes_on = tokio::select! {
                rung = self.bell.changed() => rung.is_ok(),
                goes_on = self.stay.disturbed() => goes_on,
            };
            if !goes_on {
                return Err(Refusal::unavailable("the ledger is closed"));
            }
        }
    }
}

impl wait::Told for Concerned {
    fn is_decided(&self) -> bool {
        self.state != WaitState::Waiting
    }

    /// It is asked anew after a break: nothing has to be remembered.
    fn id(&self) -> &str {
        ""
    }
}
