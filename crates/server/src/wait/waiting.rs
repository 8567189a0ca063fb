//! One who waits.

use std::sync::Arc;

use pathline_blueprint::owner::OwnerKind;
use pathline_lineage::Track;
use pathline_lineage::wait::Waiter;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::asked::Asked;
use crate::Doors;
use crate::api::Waited;
use crate::auth::{Caller, Stay};
use crate::names::OwnerName;
use crate::owners;
use crate::refusal::Refusal;

/// One who waits, and what they were told last.
pub(super) struct Waiting {
    stay: Stay,
    tracks: watch::Receiver<Option<Arc<Track>>>,
    waiter: Waiter,
    generation: i64,
    owner: String,
    was_known: bool,
    told: Option<Waited>,
    _room: OwnedSemaphorePermit,
}

impl Waiting {
    /// Begins to wait for an owner that is there now.
    pub(super) async fn start(
        doors: &Doors,
        caller: Caller,
        kind: OwnerKind,
        name: &OwnerName,
        asked: &Asked,
    ) -> Result<Self, Refusal> {
        let wishes = asked.wishes()?;
        let room = doors.waiters().clone().try_acquire_owned();
        let room = room.map_err(|_| Refusal::too_many("too many clients wait at once"))?;
        let stay = Stay::begin(doors, caller).await?;
        let found = owners::find(doors, kind, name).await?;
        let options = asked.options(found.generation);
        let tracks = doors.ledger()?.follow(&found.owner.uid).await?;
        Ok(Self {
            stay,
            tracks,
            waiter: Waiter::new(wishes, options),
            generation: options.since_generation.unwrap_or(found.generation),
            owner: format!("{} {}/{}", kind.noun(), name.namespace, name.name),
            was_known: false,
            told: None,
            _room: room,
        })
    }

    /// Returns what can be said as soon as it is something new; a refusal ends the waiting.
    pub(super) async fn next(&mut self) -> Result<Waited, Refusal> {
        loop {
            self.stay.check().await?;
            let waited = self.look();
            if self.told.as_ref() != Some(&waited) {
                self.told = Some(waited.clone());
                return Ok(waited);
            }
            let goes_on = tokio::select! {
                changed = self.tracks.changed() => changed.is_ok(),
                goes_on = self.stay.disturbed() => goes_on,
            };
            if !goes_on {
                return Err(Refusal::unavailable("the ledger is closed"));
            }
        }
    }

    fn look(&mut self) -> Waited {
        let track = self.tracks.borrow_and_update().clone();
        match track {
            None if self.was_known => Waited::gone(self.generation, &self.owner),
            None => {
                let nothing = Track {
                    generation: i64::MIN,
                    ..Track::default()
                };
                Waited::new(self.waiter.look(&nothing), self.generation, Vec::new())
            }
            Some(track) => {
                self.was_known = true;
                let verdict = self.waiter.look(&track);
                Waited::new(verdict, self.generation, self.waiter.notes(&track))
            }
        }
    }
}
