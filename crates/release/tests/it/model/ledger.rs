//! The ledger: all that is kept of queues, and the part of it that is restored.

use std::collections::{BTreeMap, BTreeSet};

use pathline_release::clauses::Clause;
use pathline_release::queue::{Entry, EntryState, Holds, Queues, Restore};
use pathline_release::{Cause, Release};

use super::event::Event;

/// All releases and entries that there have been.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    releases: BTreeMap<u64, Release>,
    /// By environment, and then by release.
    entries: BTreeMap<String, BTreeMap<u64, Entry>>,
    holds: Holds,
    is_deleted: bool,
}

/// The things that somebody asks for by name, and that are restored for that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named {
    /// A release.
    pub(super) release: Option<u64>,
    /// An environment that is rolled back.
    pub(super) rollback_of: Option<&'static str>,
}

impl Named {
    pub(super) fn by(event: &Event) -> Self {
        match event {
            Event::Promote(_, release) | Event::PromoteNow(_, release) => Self {
                release: *release,
                rollback_of: None,
            },
            Event::Rollback(environment, release) => Self {
                release: *release,
                rollback_of: Some(environment),
            },
            _ => Self::default(),
        }
    }
}

impl Ledger {
    /// Returns an entry.
    pub(super) fn entry(&self, environment: &str, release: u64) -> Option<&Entry> {
        self.entries.get(environment)?.get(&release)
    }

    /// Returns all entries of all environments, also of those that are gone.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, u64, &Entry)> {
        let environments = self.entries.iter();
        environments.flat_map(|(environment, entries)| {
            let entries = entries.iter();
            entries.map(move |(release, entry)| (environment.as_str(), *release, entry))
        })
    }

    /// Stores what has changed, and a release that was formed.
    pub(super) fn store(
        &mut self,
        (queues, before): (&Queues, &Queues),
        formed: Option<&Release>,
        is_deleted: bool,
    ) {
        self.releases
            .extend(formed.map(|it| (it.number, it.clone())));
        for (environment, release, entry) in queues.changes(before) {
            let entries = self.entries.entry(environment.to_owned()).or_default();
            entries.insert(release, entry.clone());
        }
        self.holds.clone_from(queues.holds());
        self.is_deleted = is_deleted;
    }

    /// Restores queues from what has to be restored, and from nothing else.
    pub(super) fn restore(&self, named: Named, dropped: Option<Clause>) -> Queues {
        let numbers = self.needed(named);
        let needed = numbers.iter().filter_map(|it| self.releases.get(it));
        let with_entries = needed.map(|release| {
            let environments = self.entries.iter();
            let entries = environments.filter_map(|(environment, entries)| {
                let entry = entries.get(&release.number)?;
                Some((environment.clone(), entry.clone()))
            });
            (release.clone(), entries.collect())
        });
        let name = "a.b".parse().expect("a name");
        let restored = Queues::restored(name, with_entries, self.holds.clone(), self.is_deleted);
        restored.without(dropped)
    }

    /// Returns the numbers of the releases that have to be restored, as [`Queues::restored`] says.
    fn needed(&self, named: Named) -> BTreeSet<u64> {
        let is_rollback = |release: &u64| {
            let release = self.releases.get(release);
            release.is_some_and(|it| it.cause == Cause::Rollback)
        };
        let mut needed: BTreeSet<u64> = BTreeSet::new();
        needed.extend(self.releases.keys().next_back());
        needed.extend(self.releases.keys().rfind(|it| !is_rollback(it)));
        for (environment, entries) in &self.entries {
            let newest = |state, is_wanted: &dyn Fn(&u64) -> bool| {
                let mut newest_first = entries.iter().rev();
                let newest = newest_first.find(|(it, entry)| entry.state == state && is_wanted(it));
                newest.map(|(release, _)| *release)
            };
            needed.extend(newest(EntryState::Deployed, &|_| true));
            needed.extend(newest(EntryState::Failed, &|_| true));
            let failed = entries
                .iter()
                .filter(|(_, it)| it.state == EntryState::Failed);
            let last = failed.max_by_key(|(release, it)| (it.since, **release));
            needed.extend(last.map(|(release, _)| *release));
            needed.extend(newest(EntryState::Skipped, &|it| !is_rollback(it)));
            let is_rolled_back = named.rollback_of == Some(environment.as_str());
            let wanted = entries.iter().filter(|(_, entry)| {
                let was_taken = matches!(entry.state, EntryState::Deployed | EntryState::Failed);
                let is_pending = entry.restore == Some(Restore::Pending);
                !entry.state.is_terminal() || is_pending || is_rolled_back && was_taken
            });
            needed.extend(wanted.map(|(release, _)| *release));
            let after = named.release.map(|it| entries.range(it + 1..));
            let mut after = after.into_iter().flatten();
            let next = after.find(|(_, entry)| entry.state == EntryState::Deployed);
            needed.extend(next.map(|(release, _)| *release));
            let named = named.release.and_then(|it| entries.get(&it));
            needed.extend(named.and_then(|it| it.superseded_by));
        }
        needed.extend(named.release);
        needed
    }
}
