//! What is known of one owner, and what of that the ledger does not know yet.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_ledger::{Arrived, Change, Error, Ledger, OwnerRef};
use pathline_lineage::rollout::ConfigRecord;
use pathline_lineage::track::Input;
use pathline_lineage::{Derivation, Live, Retiring, Track};

use super::look::{Look, Versions};
use super::shown::Shown;
use crate::packed::Packed;

/// How many looks are kept while the ledger cannot be read.
const MOST_WAITING: usize = 32;
/// How many derivations and arrivals are kept each while the ledger cannot be written. What was
/// made before is in the track as far as it is still used.
const MOST_UNRECORDED: usize = 1_024;

/// What is known of one owner.
pub(super) struct Known {
    pub(super) owner: OwnerRef,
    /// As the ledger had it, and all that was found since. None until the ledger was read.
    track: Option<Packed<Track>>,
    /// What was found before the ledger could be read.
    waiting: Vec<Look>,
    /// Whether some of that is no longer kept.
    has_missed: bool,
    versions: Versions,
    /// What ran when the owner was looked at last.
    has_run: Option<Vec<Retiring>>,
    unrecorded: Unrecorded,
}

/// What the ledger does not know yet.
#[derive(Default)]
struct Unrecorded {
    is_track_new: bool,
    derivations: Vec<Derivation>,
    arrivals: Vec<Arrived>,
}

impl Known {
    pub(super) fn new(owner: OwnerRef) -> Self {
        Self {
            owner,
            track: None,
            waiting: Vec::new(),
            has_missed: false,
            versions: Versions::new(),
            has_run: None,
            unrecorded: Unrecorded::default(),
        }
    }

    /// Returns what is remembered of the ConfigMaps and Secrets that resources stamp.
    pub(super) async fn configs(
        &self,
        ledger: &Ledger,
    ) -> Result<BTreeMap<String, ConfigRecord>, Error> {
        let newest = self.waiting.iter().rev().find_map(Look::configs);
        match newest {
            Some(newest) => Ok(newest.clone()),
            None => Ok(self.recall(ledger).await?.configs),
        }
    }

    /// Takes in what a look found; returns what can be shown once all of it is recorded.
    pub(super) async fn take_in(&mut self, ledger: &Ledger, look: Look) -> Result<Shown, Error> {
        self.keep(look);
        let mut track = self.recall(ledger).await?;
        let mut is_new = self.track.is_none();
        if std::mem::take(&mut self.has_missed) {
            track.state.missed();
            self.unrecorded.is_track_new = true;
        }
        for look in std::mem::take(&mut self.waiting) {
            is_new |= self.learn(&mut track, look);
        }
        self.has_run = Some(track.has_run());
        if is_new {
            self.track = Some(Packed::new(&track));
        }
        self.record(ledger, &track).await?;
        Ok(Shown::of(&track, &self.owner.kind.to_lowercase()))
    }

    /// Returns what ran for the owner before, as the ledger has it the first time.
    pub(super) async fn has_run(&self, ledger: &Ledger) -> Result<Vec<Retiring>, Error> {
        match &self.has_run {
            Some(has_run) => Ok(has_run.clone()),
            None => Ok(self.recall(ledger).await?.has_run()),
        }
    }

    /// Keeps a look until it can be taken in, unless it shows what the one before shows.
    fn keep(&mut self, look: Look) {
        if self.waiting.last().is_some_and(|last| last.shows(&look)) {
            return;
        }
        self.waiting.push(look);
        if self.waiting.len() > MOST_WAITING {
            self.waiting.remove(0);
            self.has_missed = true;
        }
    }

    /// Returns what is known, from the ledger the first time. Another owner that had the name
    /// before is gone.
    async fn recall(&self, ledger: &Ledger) -> Result<Track, Error> {
        if let Some(track) = &self.track {
            return Ok(track.unpack());
        }
        let OwnerRef {
            kind,
            namespace,
            name,
            uid,
        } = &self.owner;
        let before = ledger.find_owner(kind, namespace, name).await?;
        if let Some(before) = before.filter(|before| before.uid != *uid) {
            ledger.gone(&before, Timestamp::now()).await?;
        }
        let track = ledger.track(uid).await?;
        Ok(track.unwrap_or_else(|| Track {
            uid: uid.clone(),
            ..Track::default()
        }))
    }

    /// Takes a look into a track; tells whether the track is another one now.
    fn learn(&mut self, track: &mut Track, look: Look) -> bool {
        if look.is_known(track, &self.versions) {
            return false;
        }
        let before = track.clone();
        let derivations = look.feed(track, &mut self.versions);
        track.note_live();
        if is_known(&before, track) {
            return before != *track;
        }
        let unrecorded = &mut self.unrecorded;
        unrecorded.is_track_new = true;
        unrecorded.derivations.extend(derivations);
        unrecorded.arrivals.extend(arrivals(&before, track));
        unrecorded.forget_oldest();
        true
    }

    /// Records that the owner is gone, after what it did last.
    pub(super) async fn end(&mut self, ledger: &Ledger) -> Result<(), Error> {
        if let Some(track) = &self.track {
            let track = track.unpack();
            self.record(ledger, &track).await?;
        }
        ledger.gone(&self.owner, Timestamp::now()).await
    }

    async fn record(&mut self, ledger: &Ledger, track: &Track) -> Result<(), Error> {
        if !self.unrecorded.is_track_new {
            return Ok(());
        }
        let change = Change {
            owner: &self.owner,
            track,
            derivations: &self.unrecorded.derivations,
            arrivals: &self.unrecorded.arrivals,
            time: Timestamp::now(),
        };
        ledger.record(&change).await?;
        self.unrecorded = Unrecorded::default();
        Ok(())
    }
}

impl Unrecorded {
    fn forget_oldest(&mut self) {
        let too_many = self.derivations.len().saturating_sub(MOST_UNRECORDED);
        self.derivations.drain(..too_many);
        let too_many = self.arrivals.len().saturating_sub(MOST_UNRECORDED);
        self.arrivals.drain(..too_many);
    }
}

/// Tells whether a track says nothing that another one did not.
fn is_known(before: &Track, now: &Track) -> bool {
    let Track {
        uid: _,
        generation,
        marks,
        state,
        rollouts,
        configs,
        fixed,
        failures,
        troubles,
        retiring,
        live_generation,
        used,
        unstamped,
    } = now;
    state.concludes_the_same(&before.state)
        && (generation, live_generation) == (&before.generation, &before.live_generation)
        && *marks == before.marks
        && (rollouts, retiring, fixed) == (&before.rollouts, &before.retiring, &before.fixed)
        && (failures, troubles) == (&before.failures, &before.troubles)
        && (used, unstamped) == (&before.used, &before.unstamped)
        && *configs == before.configs
}

/// Returns what arrived, or went live, between two tracks.
fn arrivals(before: &Track, now: &Track) -> Vec<Arrived> {
    let before: BTreeMap<String, Input> = before
        .inputs()
        .into_iter()
        .map(|input| (input.name.clone(), input))
        .collect();
    let arrived = now.inputs().into_iter().filter(|input| {
        let old = before.get(&input.name);
        let old = old.filter(|old| old.artifact == input.artifact && old.arrived);
        let is_new = old.is_none_or(|old| old.live != input.live && is_live(input));
        input.arrived && is_new
    });
    arrived
        .map(|input| Arrived {
            live: is_live(&input),
            input: input.name,
            artifact: input.artifact,
            generation: now.generation,
        })
        .collect()
}

fn is_live(input: &Input) -> bool {
    input.live == Some(Live::True)
}

#[cfg(test)]
mod tests {
    use super::super::shown::tests::track;
    use super::*;

    fn failed(reason: &str) -> Look {
        Look {
            failures: BTreeMap::from([(String::new(), reason.to_owned())]),
            ..Look::default()
        }
    }

    #[test]
    fn looks_that_show_the_same_take_no_room_from_others() {
        let mut known = Known::new(OwnerRef {
            kind: "Workload".into(),
            namespace: "apps".into(),
            name: "app".into(),
            uid: "1".into(),
        });
        for reason in ["one", "two", "two", "one", "one"] {
            known.keep(failed(reason));
        }
        assert_eq!(known.waiting.len(), 3);
        for reason in 0..MOST_WAITING - 3 {
            known.keep(failed(&reason.to_string()));
        }
        assert!(!known.has_missed);
        known.keep(failed("last"));
        assert_eq!(known.waiting.len(), MOST_WAITING);
        assert!(known.has_missed);
    }

    #[test]
    fn an_idle_owner_takes_little_memory() {
        for (resources, most) in [(1, 4_000), (6, 20_000)] {
            let track = track(resources, 1, "on");
            let packed = Packed::new(&track);
            let bytes = packed.text_bytes().expect("a track survives JSON");
            assert!(bytes <= most, "{resources} resources take {bytes}");
            assert_eq!(packed.unpack(), track);
        }
    }
}
