//! One who waits.

use std::sync::Arc;
use std::time::Duration;

use pathline_blueprint::owner::OwnerKind;
use pathline_ledger::Ledger;
use pathline_lineage::Track;
use pathline_lineage::wait::Waiter;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::Following;
use super::asked::Asked;
use super::confirm;
use super::id::{self, WaitId};
use super::owner_watch::Shown;
use super::{replaced, touched};
use crate::Doors;
use crate::api::{WaitState, Waited};
use crate::auth::{Caller, Stay};
use crate::concern::Catalogue;
use crate::names::OwnerName;
use crate::owners::{self, Found};
use crate::refusal::Refusal;
use crate::running;

/// How soon an answer that was held back is confirmed again.
const CONFIRM_AGAIN: Duration = Duration::from_millis(500);

/// One who waits, and what they were told last.
pub(super) struct Waiting {
    stay: Stay,
    doors: Doors,
    kind: OwnerKind,
    name: OwnerName,
    asked: Asked,
    owner: Awaited,
    /// Shows whether the owner is there, until something is recorded of it.
    cluster: Option<watch::Receiver<Shown>>,
    told: Option<Waited>,
    /// Whether the owner was looked at with what it should have been.
    has_seen: bool,
    /// Whether the last answer was held back, since something has changed that the ledger does not
    /// know yet. If the next look finds that all is as before, nothing is recorded.
    is_outdated: bool,
    /// What was said to run was found to have ended, and not to run again since.
    has_ended: bool,
    _room: OwnedSemaphorePermit,
}

/// The owner that somebody waits for.
enum Awaited {
    /// It is not there, and is waited for.
    Absent(Absent),
    /// It is there.
    Present(Box<Present>),
    /// It was there, and was deleted.
    Gone,
}

/// An owner that is not there yet.
struct Absent {
    /// Whether one of that name was there before the waiting began.
    was_there: bool,
    /// The uid that a late watch may still show.
    deleted: Option<String>,
    /// The deletions that were before the waiting began.
    deletions: u64,
}

/// An owner that is there.
struct Present {
    uid: String,
    tracks: watch::Receiver<Option<Arc<Track>>>,
    waiter: Waiter,
    generation: i64,
    /// The labels and annotations for which nothing has been recorded yet.
    unmarked: Option<String>,
    was_known: bool,
    /// Whether the watch has shown it.
    was_shown: bool,
}

impl Waiting {
    /// Begins to wait for an owner, be it there or not.
    pub(super) async fn start(
        doors: &Doors,
        caller: Caller,
        kind: OwnerKind,
        name: &OwnerName,
        asked: Asked,
    ) -> Result<Self, Refusal> {
        let room = doors.waiters().clone().try_acquire_owned();
        let room = room.map_err(|_| Refusal::too_many("too many clients wait at once"))?;
        let stay = Stay::begin(doors, caller).await?;
        let mut waiting = Self {
            stay,
            doors: doors.clone(),
            kind,
            name: name.clone(),
            asked,
            owner: Awaited::Gone,
            cluster: None,
            told: None,
            has_seen: false,
            is_outdated: false,
            has_ended: false,
            _room: room,
        };
        waiting.begin().await?;
        Ok(waiting)
    }

    async fn begin(&mut self) -> Result<(), Refusal> {
        if let Some(found) = self.find().await? {
            let present = self.present(found).await?;
            let is_recorded = present.tracks.borrow().is_some();
            if is_recorded || !self.asked.is_same(&present.uid) {
                self.meet(present);
                return Ok(());
            }
        }
        let (watches, client) = (self.doors.owner_watches(), self.doors.cluster()?);
        let cluster = watches.follow(client, self.kind, &self.name);
        let shown = cluster.borrow().clone();
        self.cluster = Some(cluster);
        // What was shown before this question, and is not there now, was deleted before.
        match self.find().await? {
            Some(found) => {
                let present = self.present(found).await?;
                self.meet(present);
            }
            None if self.asked.has_seen_owner() => self.owner = Awaited::Gone,
            None => self.owner = Awaited::Absent(self.absent(shown).await?),
        }
        Ok(())
    }

    async fn find(&self) -> Result<Option<Found>, Refusal> {
        Box::pin(owners::find(&self.doors, self.kind, &self.name)).await
    }

    async fn absent(&self, shown: Shown) -> Result<Absent, Refusal> {
        let OwnerName { namespace, name } = &self.name;
        let kind = self.kind.name();
        let known = self.ledger()?.knows_owner(kind, namespace, name);
        let deleted = shown.found.map(|it| it.uid);
        Ok(Absent {
            was_there: known.await? || deleted.is_some() || shown.deletions > 0,
            deletions: shown.deletions + u64::from(deleted.is_some()),
            deleted,
        })
    }

    async fn present(&self, found: Found) -> Result<Box<Present>, Refusal> {
        let (waiter, generation) = self.asked.waiter(found.generation);
        let tracks = self.ledger()?.follow(&found.uid).await?;
        Ok(Box::new(Present {
            uid: found.uid,
            tracks,
            waiter,
            generation,
            unmarked: Some(found.marks),
            was_known: false,
            was_shown: false,
        }))
    }

    /// Goes on with an owner that was found, unless another one was waited for before.
    fn meet(&mut self, present: Box<Present>) {
        self.owner = if self.asked.is_same(&present.uid) {
            Awaited::Present(present)
        } else {
            Awaited::Gone
        };
    }

    fn ledger(&self) -> Result<&Ledger, Refusal> {
        self.doors.ledger()
    }

    /// Waits until there may be something new. Tells whether one can go on at all.
    async fn disturbed(&mut self) -> bool {
        let track = async {
            match &mut self.owner {
                Awaited::Present(present) => present.tracks.changed().await.is_ok(),
                Awaited::Absent(_) | Awaited::Gone => std::future::pending().await,
            }
        };
        let cluster = async {
            match &mut self.cluster {
                Some(cluster) => cluster.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        };
        let again = async {
            match self.is_outdated {
                true => tokio::time::sleep(CONFIRM_AGAIN).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            goes_on = track => goes_on,
            goes_on = cluster => goes_on,
            () = again => true,
            goes_on = self.stay.disturbed() => goes_on,
        }
    }

    /// Finds out whether the owner has come, or has gone before anything was recorded of it.
    async fn look_at_cluster(&mut self) -> Result<(), Refusal> {
        let Some(cluster) = &mut self.cluster else {
            return Ok(());
        };
        let is_news = cluster.has_changed().unwrap_or(false);
        let shown = cluster.borrow_and_update().clone();
        match &mut self.owner {
            Awaited::Absent(absent) => {
                let deleted = absent.deleted.as_ref();
                let came_and_went = shown.deletions > absent.deletions;
                match shown.found.filter(|it| Some(&it.uid) != deleted) {
                    Some(found) => self.owner = Awaited::Present(self.present(found).await?),
                    None if came_and_went => self.owner = Awaited::Gone,
                    None => {}
                }
            }
            Awaited::Present(present) => {
                let is_shown = shown.found.is_some_and(|it| it.uid == present.uid);
                let was_shown = std::mem::replace(&mut present.was_shown, is_shown);
                if is_news && !is_shown && (was_shown || !self.is_there().await?) {
                    self.owner = Awaited::Gone;
                }
            }
            Awaited::Gone => {}
        }
        Ok(())
    }

    /// Asks whether the very owner is there: a watch may be late.
    async fn is_there(&self) -> Result<bool, Refusal> {
        let Awaited::Present(present) = &self.owner else {
            return Ok(false);
        };
        let found = self.find().await?;
        Ok(found.is_some_and(|it| it.uid == present.uid))
    }

    async fn look(&mut self) -> Result<Waited, Refusal> {
        let present = match &mut self.owner {
            Awaited::Present(present) => present,
            Awaited::Absent(absent) => {
                let was_there = absent.was_there;
                return Ok(self.not_there(was_there));
            }
            Awaited::Gone => return Ok(self.gone()),
        };
        let track = present.tracks.borrow_and_update().clone();
        let Some(track) = track else {
            return Ok(if present.was_known {
                self.gone()
            } else {
                present.look_at(&unseen())
            });
        };
        present.was_known = true;
        // From here on the ledger tells when it is gone.
        self.cluster = None;
        let is_early = self.is_early(&track).await?;
        if let Some(set_again) = self.set_again(&track).await? {
            return Ok(set_again);
        }
        let missing = Box::pin(self.unseen(&track)).await?;
        let (asked, id) = (self.asked.asked(), self.id());
        let Awaited::Present(present) = &mut self.owner else {
            return Ok(self.gone());
        };
        if !is_early && !missing.is_empty() {
            return Ok(Waited::not_seen(asked, id, present.generation, &missing));
        }
        let waited = if is_early {
            present.look_at(&unseen())
        } else {
            present.look_at(&track)
        };
        let generation = present.generation;
        let outdated = Box::pin(self.outdated(&track, &waited)).await?;
        self.is_outdated = !outdated.is_empty();
        if self.is_outdated {
            return Ok(Waited::not_seen(asked, id, generation, &outdated));
        }
        Box::pin(self.say_who(waited)).await
    }

    /// Says what has changed since the look that an answer is taken from, if it is one that could be
    /// another by then.
    async fn outdated(&self, track: &Track, waited: &Waited) -> Result<Vec<String>, Refusal> {
        if !waited.is_decided() {
            return Ok(Vec::new());
        }
        if waited.superseded_input().is_some() {
            let owner = owners::get_if_there(&self.doors, self.kind, &self.name).await?;
            let generation = owner.and_then(|it| it.metadata.generation);
            return Ok(confirm::newer_owner(track, generation));
        }
        let mut outdated = confirm::outdated(&self.doors, track, self.asked.is_live()).await?;
        if outdated.is_empty() && waited.state == WaitState::Holds {
            let owner = owners::get_if_there(&self.doors, self.kind, &self.name).await?;
            if let Some(owner) = owner {
                outdated = touched::find(self.doors.cluster()?, &owner, track).await;
            }
        }
        Ok(outdated)
    }

    /// Says which blueprints and templates the owner was not looked at with yet.
    async fn unseen(&mut self, track: &Track) -> Result<Vec<String>, Refusal> {
        if self.has_seen || self.asked.seen().is_empty() {
            return Ok(Vec::new());
        }
        let object = owners::get_if_there(&self.doors, self.kind, &self.name).await?;
        let Some(object) = object else {
            return Ok(Vec::new());
        };
        let catalogue = Catalogue::load(self.doors.cluster()?).await?;
        let missing = catalogue.unseen(self.kind, &object, self.asked.seen(), Some(track));
        self.has_seen = missing.is_empty();
        Ok(missing)
    }

    /// Says that somebody has set again what an apply removed, where the tracks can't tell.
    async fn set_again(&self, track: &Track) -> Result<Option<Waited>, Refusal> {
        let Awaited::Present(present) = &self.owner else {
            return Ok(None);
        };
        if !present.waiter.is_unsure_of_removed(track) {
            return Ok(None);
        }
        let object = Box::pin(owners::get_if_there(&self.doors, self.kind, &self.name)).await?;
        let change =
            object.and_then(|it| replaced::set_again(self.kind, &it, self.asked.removed()));
        Ok(change.map(|message| Waited::superseded(present.generation, present.id(), message)))
    }

    /// Adds who has replaced what an apply has set.
    async fn say_who(&self, mut waited: Waited) -> Result<Waited, Refusal> {
        let input = waited.superseded_input().map(str::to_owned);
        let Some(input) = input.filter(|_| self.asked.is_after_apply()) else {
            return Ok(waited);
        };
        let object = Box::pin(owners::get_if_there(&self.doors, self.kind, &self.name)).await?;
        if let Some(by) = object.and_then(|it| replaced::by_whom(&it, &input)) {
            waited.name_who(by);
        }
        Ok(waited)
    }

    /// Tells whether the engine has not looked at the owner as it was when the waiting began. A
    /// change of labels gives no new generation, so their digest says it; and if they have changed
    /// again since, the newest count.
    async fn is_early(&mut self, track: &Track) -> Result<bool, Refusal> {
        let Awaited::Present(present) = &self.owner else {
            return Ok(false);
        };
        let Some(wanted) = &present.unmarked else {
            return Ok(false);
        };
        let is_said = !track.marks.is_empty();
        let is_same = track.generation == present.generation;
        let mut is_early = is_said && is_same && track.marks != *wanted;
        if is_early {
            let found = self.find().await?.filter(|it| it.uid == track.uid);
            is_early = found.is_some_and(|it| it.marks != track.marks);
        }
        if let (false, Awaited::Present(present)) = (is_early, &mut self.owner) {
            present.unmarked = None;
        }
        Ok(is_early)
    }

    fn not_there(&self, was_there: bool) -> Waited {
        let OwnerName { namespace, name } = &self.name;
        let noun = self.kind.noun();
        let missing = if was_there {
            format!(
                "the {noun} `{name}` in namespace `{namespace}` was deleted; waiting until it is there again"
            )
        } else {
            format!("there is no {noun} `{name}` in namespace `{namespace}` yet; waiting for it")
        };
        Waited::not_there(self.asked.asked(), self.id(), &missing)
    }

    fn gone(&self) -> Waited {
        let OwnerName { namespace, name } = &self.name;
        let owner = format!("{} {namespace}/{name}", self.kind.noun());
        let generation = match &self.owner {
            Awaited::Present(present) => present.generation,
            Awaited::Absent(_) | Awaited::Gone => self.asked.since().unwrap_or_default(),
        };
        Waited::gone(generation, self.id(), &owner)
    }

    /// Returns what another wait needs to know to go on where this one is.
    fn id(&self) -> String {
        match &self.owner {
            Awaited::Present(present) => present.id(),
            Awaited::Absent(_) | Awaited::Gone => self.asked.id(),
        }
    }
}

impl Following for Waiting {
    type Told = Waited;

    /// Returns what can be said as soon as it is something new; a refusal ends the waiting.
    async fn next(&mut self) -> Result<Waited, Refusal> {
        loop {
            self.stay.check().await?;
            Box::pin(self.look_at_cluster()).await?;
            let waited = self.look().await?;
            let is_news = self.told.as_ref() != Some(&waited);
            // In a box of its own: it takes far more memory than to wait.
            if is_news && let Some(told) = Box::pin(self.with_running(waited)).await {
                return Ok(told);
            }
            if !self.disturbed().await {
                return Err(Refusal::unavailable("the ledger is closed"));
            }
        }
    }

    fn last(&self) -> Option<Waited> {
        let mut last = self.told.clone()?;
        if self.asked.is_live() && last.state == WaitState::Holds {
            let note = "what runs cannot be listed: time is up";
            last.notes.push(note.to_owned());
        }
        Some(last)
    }
}

impl Waiting {
    /// Names what runs, if that is what was waited for; none if it has ended, and that was said.
    async fn with_running(&mut self, mut waited: Waited) -> Option<Waited> {
        let is_live = self.asked.is_live() && waited.state == WaitState::Holds;
        // When time is up meanwhile: what had ended runs again only if it was found.
        if !(is_live && self.has_ended) {
            self.told = Some(waited.clone());
        }
        if !is_live {
            self.has_ended = false;
            return Some(waited);
        }
        let found = running::find(&self.doors, self.kind, &self.name).await;
        if !found.ended.is_empty() {
            let is_news = !self.has_ended;
            let ended = self.ended_meanwhile(&found.ended);
            return is_news.then_some(ended);
        }
        self.has_ended = false;
        self.told = Some(waited.clone());
        waited.running = found.running;
        waited.notes.extend(found.note);
        Some(waited)
    }

    /// Goes on waiting: what ran when it was looked at has ended since.
    fn ended_meanwhile(&mut self, processes: &[String]) -> Waited {
        self.has_ended = true;
        let told = processes
            .iter()
            .map(|name| format!("process `{name}` does not run any more"));
        let told: Vec<_> = told.collect();
        let generation = match &self.owner {
            Awaited::Present(present) => present.generation,
            Awaited::Absent(_) | Awaited::Gone => self.asked.since().unwrap_or_default(),
        };
        let waited = Waited::not_seen(self.asked.asked(), self.id(), generation, &told);
        self.is_outdated = true;
        self.told = Some(waited.clone());
        waited
    }
}

impl Present {
    fn look_at(&mut self, track: &Track) -> Waited {
        let verdict = self.waiter.look(track);
        let notes = self.waiter.notes(track);
        Waited::new(verdict, self.generation, self.id(), notes)
    }

    fn id(&self) -> String {
        let id = WaitId {
            generation: self.generation,
            carried: self.waiter.carried().to_vec(),
            owner: Some(id::digest(&self.uid)),
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
