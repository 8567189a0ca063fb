//! The trackers that are followed, as the ledger has them.

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};
use pathline_ledger::trackers::{StoredTracker, TrackerChange, WhatHappened};
use pathline_ledger::{Error, Ledger};
use pathline_release::poll::{FingerprintKey, SourceKey};
use pathline_release::tracker::ImageQuery;
use pathline_remote::Secret;

use super::settings::TrackingSettings;

/// The changes that are read at once.
const PAGE_SIZE: u32 = 256;

/// The trackers that are followed.
#[derive(Default)]
pub(super) struct Followed {
    trackers: HashMap<String, FollowedTracker>,
    /// The number of polls in an interval, by host.
    polls: HashMap<String, u64>,
    /// The last change that was taken in.
    sequence: i64,
}

/// A tracker, and what is known beside what the ledger has.
#[derive(Clone)]
pub(super) struct FollowedTracker {
    pub(super) stored: StoredTracker,
    pub(super) token: Option<Secret>,
    /// The logins for the registry that configurations bring, by the hash of each.
    pub(super) logins: BTreeMap<String, Secret>,
    /// The time of the last poll.
    pub(super) observed: Option<Timestamp>,
    /// The last failure, in words.
    pub(super) last_failure: Option<String>,
    /// The reason why its secrets cannot be opened: then nobody is asked.
    pub(super) locked: Option<String>,
}

/// A change of a tracker that others made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// It is new, or reads something else.
    Changed,
    /// It is gone.
    Gone,
    /// Somebody says that something may have changed.
    Hinted,
    /// Somebody wants it to be looked at.
    Wanted,
}

/// Queries
impl Followed {
    pub(super) fn all(&self) -> impl Iterator<Item = &FollowedTracker> {
        self.trackers.values()
    }

    pub(super) fn get(&self, uid: &str) -> Option<&FollowedTracker> {
        self.trackers.get(uid)
    }

    /// Returns the time between two polls of a host: the one that was asked for, or what its budget holds.
    pub(super) fn stretch(&self, settings: &TrackingSettings, host: &str) -> SignedDuration {
        let polls = self.polls.get(host).copied().unwrap_or_default();
        let budget = settings.budget(host);
        budget.stretch(settings.interval, polls).interval
    }
}

/// Changes
impl Followed {
    /// Reads all trackers.
    pub(super) async fn load(&mut self, ledger: &Ledger) -> Result<(), Error> {
        // Before the trackers: a change in between is taken in twice, not missed.
        let sequence = ledger.trackers().newest_change().await?;
        let stored = ledger.trackers().all_active().await?;
        let mut trackers = HashMap::with_capacity(stored.len());
        for stored in stored {
            let tracker = FollowedTracker::read(ledger, stored).await?;
            trackers.insert(tracker.stored.uid.clone(), tracker);
        }
        self.trackers = trackers;
        self.sequence = sequence;
        self.count_polls();
        Ok(())
    }

    /// Takes in the changes since the last time; returns the updates in their order.
    pub(super) async fn catch_up(
        &mut self,
        ledger: &Ledger,
    ) -> Result<Vec<(String, Update)>, Error> {
        let mut updates = Vec::new();
        loop {
            let changes = ledger.trackers().changes(self.sequence, PAGE_SIZE).await?;
            let is_last = changes.len() < PAGE_SIZE as usize;
            for change in changes {
                let sequence = change.sequence;
                if let Some(it) = self.take_in(ledger, &change).await? {
                    updates.push((change.uid, it));
                }
                self.sequence = sequence;
            }
            if is_last {
                break;
            }
        }
        if updates
            .iter()
            .any(|(_, it)| matches!(it, Update::Changed | Update::Gone))
        {
            self.count_polls();
        }
        Ok(updates)
    }

    async fn take_in(
        &mut self,
        ledger: &Ledger,
        change: &TrackerChange,
    ) -> Result<Option<Update>, Error> {
        match &change.what {
            WhatHappened::Hinted { .. } => return Ok(Some(Update::Hinted)),
            WhatHappened::Wanted { .. } => return Ok(Some(Update::Wanted)),
            WhatHappened::Deleted { .. } => {
                self.trackers.remove(&change.uid);
                return Ok(Some(Update::Gone));
            }
            // Most of these are our own, and known already.
            WhatHappened::Observed { .. } => {}
            WhatHappened::Created { .. } | WhatHappened::Replaced { .. } => {}
        }
        let Some(stored) = ledger.trackers().by_uid(&change.uid).await? else {
            self.trackers.remove(&change.uid);
            return Ok(Some(Update::Gone));
        };
        let known = self.trackers.get(&change.uid);
        let is_known = known.is_some_and(|it| {
            it.stored.edition == stored.edition && it.stored.state.basis() == stored.state.basis()
        });
        if is_known {
            return Ok(None);
        }
        let is_same_source = known.is_some_and(|it| it.stored.edition == stored.edition);
        let mut tracker = FollowedTracker::read(ledger, stored).await?;
        if is_same_source && let Some(known) = self.trackers.get(&change.uid) {
            // Another leader has looked; when, and how that went, it does not say.
            tracker.observed = known.observed;
        }
        self.trackers.insert(change.uid.clone(), tracker);
        Ok((!is_same_source).then_some(Update::Changed))
    }

    /// Reads a tracker anew, if it is the same edition; of another one the changes tell.
    pub(super) async fn refresh(&mut self, ledger: &Ledger, uid: &str) -> Result<(), Error> {
        if let Some(stored) = ledger.trackers().by_uid(uid).await?
            && let Some(known) = self.trackers.get(uid)
            && known.stored.edition == stored.edition
        {
            let observed = known.observed;
            let mut tracker = FollowedTracker::read(ledger, stored).await?;
            tracker.observed = observed;
            self.trackers.insert(uid.to_owned(), tracker);
        }
        Ok(())
    }

    /// Takes in what a round has made of a tracker, unless it has been replaced meanwhile.
    pub(super) fn observe(&mut self, after: FollowedTracker) {
        if let Some(known) = self.trackers.get_mut(&after.stored.uid)
            && known.stored.edition == after.stored.edition
        {
            let has_other_hosts = known.hosts() != after.hosts();
            *known = after;
            if has_other_hosts {
                self.count_polls();
            }
        }
    }

    fn count_polls(&mut self) {
        let mut polls: HashMap<String, u64> = HashMap::new();
        for host in self.trackers.values().flat_map(FollowedTracker::hosts) {
            *polls.entry(host).or_default() += 1;
        }
        self.polls = polls;
    }
}

impl FollowedTracker {
    async fn read(ledger: &Ledger, stored: StoredTracker) -> Result<Self, Error> {
        let mut tracker = Self {
            token: None,
            logins: BTreeMap::new(),
            observed: stored.observed,
            last_failure: None,
            locked: None,
            stored,
        };
        match tracker.open_secrets(ledger).await {
            // The others are followed all the same.
            Err(error @ (Error::NoSealKey { .. } | Error::WrongSealKey { .. })) => {
                tracker.locked = Some(error.to_string());
            }
            opened => opened?,
        }
        Ok(tracker)
    }

    async fn open_secrets(&mut self, ledger: &Ledger) -> Result<(), Error> {
        let uid = &self.stored.uid;
        if self.stored.has_token {
            let token = ledger.trackers().token(uid).await?;
            self.token = token.map(|it| Secret::new(it.reveal()));
        }
        for hash in configurations(&self.stored) {
            let kept = ledger.releases().configuration(uid, &hash).await?;
            let login = kept.and_then(|it| super::login::of_document(&it.whole()));
            self.logins.extend(login.map(|login| (hash, login)));
        }
        Ok(())
    }

    /// Tells whether nobody has looked at it.
    pub(super) fn is_new(&self) -> bool {
        self.observed.is_none()
    }

    /// Tells whether the file is known to be invalid, and nobody knows why: that was said before a restart.
    pub(super) fn has_unexplained_problem(&self) -> bool {
        self.stored.state.has_invalid_source() && self.last_failure.is_none()
    }

    /// Returns the question that it asks a repository.
    pub(super) fn source_key(&self, fingerprints: &FingerprintKey) -> SourceKey {
        let token = self.token.as_ref();
        SourceKey {
            source: self.stored.source.clone(),
            credentials: token.and_then(|it| fingerprints.fingerprint(it.reveal())),
        }
    }

    /// Returns the questions that it asks registries.
    pub(super) fn queries(&self) -> Vec<ImageQuery> {
        let state = &self.stored.state;
        state.queries(state.source())
    }

    /// Returns the hosts that a poll of it asks, each as often as it is asked.
    pub(super) fn hosts(&self) -> Vec<String> {
        let registries = self.queries().into_iter().map(|query| {
            let registry = query.repository.split('/').next();
            registry.unwrap_or_default().to_owned()
        });
        let mut hosts = vec![self.stored.source.repository.host.clone()];
        hosts.extend(registries);
        hosts
    }
}

/// Returns the hashes of the configurations that a tracker still needs.
fn configurations(stored: &StoredTracker) -> Vec<String> {
    let state = &stored.state;
    let released = state.last_release().map(|it| &it.configuration);
    let pending = state.pending().map(|it| &it.configuration);
    let mut hashes: Vec<String> = [released, pending, state.source()]
        .into_iter()
        .flatten()
        .map(|it| it.config_hash.clone())
        .collect();
    hashes.sort();
    hashes.dedup();
    hashes
}
