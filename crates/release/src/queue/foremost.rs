//! The release that matters in an environment, of all that there are.

use super::{EntryState, Queues};

impl Queues {
    /// Returns the release that matters in an environment: the one that is being deployed, else the newest one that waits,
    /// else the newest of all. A rollback matters where it is for, however it went, and nowhere else. Nothing if there is no
    /// release.
    pub fn foremost(&self, environment: &str) -> Option<u64> {
        let newest = |state| self.newest(environment, state);
        let waiting = newest(EntryState::Queued).max(newest(EntryState::Held));
        let taken = || self.taken_last(environment).map(|(release, _)| release);
        let last = || self.newest_release().max(taken());
        newest(EntryState::Deploying).or(waiting).or_else(last)
    }

    /// Returns the newest release that is no rollback.
    pub fn newest_release(&self) -> Option<u64> {
        let mut newest_first = self.releases.keys().rev();
        newest_first.find(|it| !self.is_rollback(**it)).copied()
    }

    /// Returns the digest of a release's image.
    pub fn digest(&self, release: u64) -> Option<&str> {
        let release = self.releases.get(&release)?;
        Some(release.content.image.digest.as_str())
    }

    /// Returns the tag of a release's image.
    pub fn tag(&self, release: u64) -> Option<&str> {
        let release = self.releases.get(&release)?;
        Some(release.content.image.tag.as_str())
    }
}
