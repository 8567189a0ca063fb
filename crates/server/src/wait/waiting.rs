//! One who waits.

use std::sync::Arc;

use pathline_blueprint::owner::OwnerKind;
use pathline_lineage::Track;
use pathline_lineage::wait::Waiter;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::asked::Asked;
use super::id::WaitId;
use crate::Doors;
use crate::api::{WaitState, Waited};
use crate::auth::{Caller, Stay};
use crate::names::OwnerName;
use crate::owners;
use crate::refusal::Refusal;
use crate::running;

/// One who waits, and what they were told last.
pub(super) struct Waiting {
    stay: Stay,
    tracks: watch::Receiver<Option<Arc<Track>>>,
    waiter: Waiter,
    generation: i64,
    doors: Doors,
    kind: OwnerKind,
    name: OwnerName,
    /// The labels and annotations for which nothing has been recorded yet.
    unmarked: Option<String>,
    was_known: bool,
    told: Option<Waited>,
    is_live: bool,
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
        let tracks = doors.ledger()?.follow(&found.uid).await?;
        Ok(Self {
            stay,
            tracks,
            waiter: Waiter::new(wishes, options).remembering(asked.carried()),
            generation: options.since_generation.unwrap_or(found.generation),
            doors: doors.clone(),
            kind,
            name: name.clone(),
            unmarked: Some(found.marks),
            was_known: false,
            told: None,
            is_live: options.live,
            _room: room,
        })
    }

    /// Returns what can be said as soon as it is something new; a refusal ends the waiting.
    pub(super) async fn next(&mut self) -> Result<Waited, Refusal> {
        loop {
            self.stay.check().await?;
            let track = self.tracks.borrow_and_update().clone();
            let waited = match track {
                Some(track) => self.look(&track).await?,
                None if self.was_known => self.gone(),
                None => self.look_at(&unseen()),
            };
            if self.told.as_ref() != Some(&waited) {
                self.told = Some(waited.clone());
                // In a box of its own: it takes far more memory than to wait.
                return Ok(Box::pin(self.with_running(waited)).await);
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

    /// Returns what was found out last. It may be decided although [`Self::next`] has not returned it:
    /// then what runs was still being looked for.
    pub(super) fn last(&self) -> Option<Waited> {
        let mut last = self.told.clone()?;
        if self.is_live && last.state == WaitState::Holds {
            let note = "what runs cannot be listed: time is up";
            last.notes.push(note.to_owned());
        }
        Some(last)
    }

    /// Names what runs, if that is what was waited for.
    async fn with_running(&self, mut waited: Waited) -> Waited {
        if self.is_live && waited.state == WaitState::Holds {
            let found = running::find(&self.doors, self.kind, &self.name).await;
            waited.running = found.running;
            waited.notes.extend(found.note);
        }
        waited
    }

    async fn look(&mut self, track: &Track) -> Result<Waited, Refusal> {
        self.was_known = true;
        if self.is_early(track).await? {
            return Ok(self.look_at(&unseen()));
        }
        Ok(self.look_at(track))
    }

    /// Tells whether the engine has not looked at the owner as it was when the waiting began. A
    /// change of labels gives no new generation, so their digest says it; and if they have changed
    /// again since, the newest count.
    async fn is_early(&mut self, track: &Track) -> Result<bool, Refusal> {
        let Some(wanted) = &self.unmarked else {
            return Ok(false);
        };
        let is_said = !track.marks.is_empty();
        let is_same = track.generation == self.generation;
        let mut is_early = is_said && is_same && track.marks != *wanted;
        if is_early {
            let found = owners::find(&self.doors, self.kind, &self.name);
            let found = Box::pin(found).await?;
            is_early = found.uid == track.uid && found.marks != track.marks;
        }
        if !is_early {
            self.unmarked = None;
        }
        Ok(is_early)
    }

    fn look_at(&mut self, track: &Track) -> Waited {
        let verdict = self.waiter.look(track);
        let notes = self.waiter.notes(track);
        Waited::new(verdict, self.generation, self.id(), notes)
    }

    fn gone(&self) -> Waited {
        let OwnerName { namespace, name } = &self.name;
        let owner = format!("{} {namespace}/{name}", self.kind.noun());
        Waited::gone(self.generation, self.id(), &owner)
    }

    /// Returns what another wait needs to know to go on where this one is.
    fn id(&self) -> String {
        let id = WaitId {
            generation: self.generation,
            carried: self.waiter.carried().to_vec(),
        };
        id.to_string()
    }
}

/// Returns what is known of an owner that nobody has looked at.
fn unseen() -> Track {
    Track {
        generation: i64::MIN,
        ..Track::default()
    }
}
