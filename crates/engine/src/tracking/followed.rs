//! The trackers that are followed, as the ledger has them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pathline_ledger::trackers::{StoredTracker, TrackerChange, WhatHappened};
use pathline_ledger::{Error, Ledger};
use pathline_release::Configuration;
use pathline_release::label::Kind;
use pathline_release::poll::{FingerprintKey, ImageKey, Load, Question, Requests, SourceKey};
use pathline_release::request::Reference;
use pathline_release::tracker::ImageQuery;
use pathline_remote::Secret;

use super::description::Retry;
use super::settings::TrackingSettings;

/// The changes that are read at once.
const PAGE_SIZE: u32 = 256;

/// The words for a tracker whose token was sealed with a key that is lost.
const LOST_TOKEN: &str = "the key that its token was sealed with is lost; give the token again";

/// The trackers that are followed.
pub(super) struct Followed {
    settings: Arc<TrackingSettings>,
    fingerprints: FingerprintKey,
    trackers: HashMap<String, FollowedTracker>,
    /// The requests of all of them in an interval.
    load: Load,
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
    /// The configuration that was just read, until it is part of the state.
    pub(super) read: Option<Configuration>,
    /// The time of the last poll.
    pub(super) observed: Option<Timestamp>,
    /// The last failure, in words.
    pub(super) last_failure: Option<String>,
    /// The reason why the file is not valid, in words, as long as it is the same file.
    pub(super) invalid: Option<String>,
    /// The reason why its secrets cannot be opened: then nobody is asked.
    pub(super) locked: Option<String>,
    /// True if the file has to be read once more for its secrets, whose key was lost.
    pub(super) has_lost_secrets: bool,
    /// The next try to read what the images of its releases say of themselves.
    pub(super) description: Retry,
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
    pub(super) fn new(settings: Arc<TrackingSettings>, fingerprints: FingerprintKey) -> Self {
        Self {
            settings,
            fingerprints,
            trackers: HashMap::new(),
            load: Load::default(),
            sequence: 0,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &FollowedTracker> {
        self.trackers.values()
    }

    pub(super) fn get(&self, uid: &str) -> Option<&FollowedTracker> {
        self.trackers.get(uid)
    }

    /// Returns the time between two polls of trackers: the one that was asked for, or the shortest that the budgets of
    /// their hosts hold.
    pub(super) fn interval<'a>(
        &self,
        uids: impl IntoIterator<Item = &'a String>,
    ) -> SignedDuration {
        let interval = self.settings.interval;
        let stretched = uids
            .into_iter()
            .flat_map(|uid| self.load.hosts_of(uid))
            .map(|host| {
                let budget = self.settings.budget(host);
                budget.stretch(interval, self.load.requests(host)).interval
            });
        stretched.max().unwrap_or(interval)
    }

    /// Returns the requests that a host is sent in an interval.
    #[cfg(test)]
    pub(super) fn requests(&self, host: &str) -> u64 {
        self.load.requests(host)
    }

    /// Returns the question that a tracker asks a repository.
    pub(super) fn source_key(&self, tracker: &FollowedTracker) -> SourceKey {
        tracker.source_key(&self.fingerprints)
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
        self.trackers.clear();
        self.load = Load::default();
        trackers.into_values().for_each(|it| self.put(it));
        self.sequence = sequence;
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
                self.remove(&change.uid);
                return Ok(Some(Update::Gone));
            }
            // Most of these are our own, and known already.
            WhatHappened::Observed { .. } => {}
            WhatHappened::Created { .. }
            | WhatHappened::Replaced { .. }
            | WhatHappened::Released { .. } => {}
        }
        let Some(stored) = ledger.trackers().by_uid(&change.uid).await? else {
            self.remove(&change.uid);
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
        self.put(tracker);
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
            self.put(tracker);
        }
        Ok(())
    }

    /// Takes in what a round has made of a tracker, unless it has been replaced meanwhile.
    pub(super) fn observe(&mut self, after: FollowedTracker) {
        if let Some(known) = self.trackers.get(&after.stored.uid)
            && known.stored.edition == after.stored.edition
        {
            self.put(after);
        }
    }

    /// Takes note of the requests that questions took when there was nothing new.
    pub(super) fn learn(&mut self, requests: Vec<(Question, Requests)>) {
        for (question, requests) in requests {
            self.load.learn(&question, requests);
        }
    }

    /// Takes note that a tracker asks nothing any more, until it is looked at again.
    pub(super) fn rest(&mut self, uid: &str) {
        self.load.remove(uid);
    }

    fn put(&mut self, tracker: FollowedTracker) {
        let uid = tracker.stored.uid.clone();
        let questions = tracker.questions(&self.settings, &self.fingerprints);
        self.load.ask(&uid, questions);
        self.trackers.insert(uid, tracker);
    }

    fn remove(&mut self, uid: &str) {
        self.load.remove(uid);
        self.trackers.remove(uid);
    }
}

impl FollowedTracker {
    async fn read(ledger: &Ledger, stored: StoredTracker) -> Result<Self, Error> {
        let mut tracker = Self {
            token: None,
            logins: BTreeMap::new(),
            read: None,
            observed: stored.observed,
            last_failure: None,
            invalid: None,
            locked: None,
            has_lost_secrets: false,
            description: Retry::default(),
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
        if self.stored.has_lost_token {
            self.locked = Some(LOST_TOKEN.to_owned());
        }
        if self.stored.has_token {
            let token = ledger.trackers().token(uid).await?;
            self.token = token.map(|it| Secret::new(it.reveal()));
        }
        for hash in configurations(&self.stored) {
            let kept = ledger.releases().configuration(uid, &hash).await?;
            self.has_lost_secrets |= kept.as_ref().is_some_and(|it| it.has_lost_secrets);
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
        self.stored.state.has_invalid_source() && self.invalid.is_none()
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

    /// Returns the question that it asks a registry. Whoever brings no login of its own asks with the same one.
    pub(super) fn image_key(&self, query: &ImageQuery, fingerprints: &FingerprintKey) -> ImageKey {
        let own = self.own_login(query);
        let credentials = own.and_then(|it| fingerprints.fingerprint(it.reveal()));
        ImageKey::new(&query.repository, &query.label, credentials)
    }

    /// Returns the login that its configuration brings for a question.
    pub(super) fn own_login(&self, query: &ImageQuery) -> Option<&Secret> {
        let state = &self.stored.state;
        let released = state.last_release().map(|it| &it.configuration);
        let pending = state.pending().map(|it| &it.configuration);
        let known = [self.read.as_ref(), state.source(), pending, released];
        let mut configurations = known.into_iter().flatten();
        let own = configurations.find(|it| ImageQuery::of(it) == *query)?;
        self.logins.get(&own.config_hash)
    }

    /// Returns the registries that a poll of it asks, by the names by which they have their budgets.
    pub(super) fn registries(&self, settings: &TrackingSettings) -> Vec<String> {
        let queries = self.queries();
        let registries = queries.iter().map(|it| registry(it, settings));
        registries.collect()
    }

    /// Returns all that a poll of it asks, with the requests that this is likely to take.
    fn questions(
        &self,
        settings: &TrackingSettings,
        fingerprints: &FingerprintKey,
    ) -> Vec<(Question, Requests)> {
        let of_registries = self.queries().into_iter().map(|query| {
            // A list of one page, and the image that is chosen from it.
            let count = if query.label.kind() == Kind::Follow {
                2
            } else {
                1
            };
            let requests = Requests::from([(registry(&query, settings), count)]);
            let key = self.image_key(&query, fingerprints);
            (Question::Image(key), requests)
        });
        let source = &self.stored.source;
        let requests = match source.reference {
            // It never changes, so nobody is asked.
            Reference::Commit(_) => Requests::new(),
            _ => Requests::from([(settings.budgeted(&source.repository.host), 1)]),
        };
        let of_source = (Question::Source(self.source_key(fingerprints)), requests);
        of_registries.chain([of_source]).collect()
    }
}

/// Returns the registry that a question is for, by the name by which it has its budget.
fn registry(query: &ImageQuery, settings: &TrackingSettings) -> String {
    let registry = query.repository.split('/').next();
    settings.budgeted(registry.unwrap_or_default())
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
