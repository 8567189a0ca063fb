//! Records what git said of the revisions that deliveries found, for those who ask later.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_ledger::{Crossing, Error, Ledger};
use pathline_lineage::rollout::is_same_repository;
use pathline_lineage::{Artifact, ArtifactId, Kind, Track, Written, revision};

use crate::queue::Key;

/// How many crossings are known to be recorded.
const MAX_RECORDED: usize = 4_096;
/// How many commits of one owner are remembered.
const MAX_PAST: usize = 8;
/// How many repositories of one owner are remembered.
const MAX_REPOSITORIES: usize = 16;

/// The supply chains that write to repositories.
#[derive(Default)]
pub(super) struct Writers {
    by_owner: Mutex<HashMap<Key, Writer>>,
}

/// A supply chain that writes to repositories.
#[derive(Default)]
struct Writer {
    repositories: BTreeSet<String>,
    /// The last commits, the newest first.
    past: VecDeque<Written>,
}

impl Writers {
    /// Takes note that an owner writes to a repository, and what it wrote. Returns the commits that the
    /// same object wrote to the same repository before, the newest first.
    pub(super) fn note(&self, key: &Key, url: &str, written: Option<&Written>) -> Vec<Written> {
        let mut writers = self.by_owner.lock();
        let writer = writers.entry(key.clone()).or_default();
        if writer.repositories.len() >= MAX_REPOSITORIES {
            writer.repositories.clear();
        }
        writer.repositories.insert(url.to_owned());
        let Some(written) = written else {
            return Vec::new();
        };
        let same = |it: &&Written| {
            let address = it.artifact.url().unwrap_or_default();
            it.uid == written.uid && is_same_repository(address, url)
        };
        let is_other = |it: &&Written| it.artifact != written.artifact;
        let past = writer.past.iter().filter(same).filter(is_other);
        let past = past.cloned().collect();
        writer.past.retain(|it| is_other(&it));
        writer.past.push_front(written.clone());
        writer.past.truncate(MAX_PAST);
        past
    }

    /// Returns those who write to a repository.
    pub(super) fn of(&self, url: &str) -> Vec<Key> {
        let writers = self.by_owner.lock();
        let writes = |it: &Writer| it.repositories.iter().any(|it| is_same_repository(it, url));
        let writers = writers.iter().filter(|(_, writer)| writes(writer));
        writers.map(|(key, _)| key.clone()).collect()
    }

    /// Forgets an owner that is no longer there.
    pub(super) fn gone(&self, key: &Key) {
        self.by_owner.lock().remove(key);
    }
}

/// Records which commits revisions have.
pub(super) struct Crossings {
    ledger: Ledger,
    recorded: Mutex<HashSet<Recorded>>,
}

/// A crossing that was recorded: whose, of what, and when the delivery last made anything.
type Recorded = (String, ArtifactId, ArtifactId, Option<Timestamp>);

impl Crossings {
    pub(super) fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            recorded: Mutex::default(),
        }
    }

    /// Records that a source of a delivery has a commit, unless that was done since the delivery made
    /// anything.
    pub(super) async fn record(
        &self,
        track: &Track,
        found: &Artifact,
        written: &Artifact,
    ) -> Result<(), Error> {
        let recorded = (track.uid.clone(), found.id(), written.id(), newest(track));
        if self.recorded.lock().contains(&recorded) {
            return Ok(());
        }
        let crossing = Crossing {
            delivery: track.uid.clone(),
            found: found.clone(),
            written: written.clone(),
            time: Timestamp::now(),
        };
        self.ledger.cross(crossing).await?;
        let mut known = self.recorded.lock();
        if known.len() >= MAX_RECORDED {
            known.clear();
        }
        known.insert(recorded);
        Ok(())
    }
}

/// Returns the sources that a delivery has at a revision: those that its resources make, and the one
/// that it fixes.
pub(super) fn found_at<'t>(track: &'t Track, at: &str) -> Vec<&'t Artifact> {
    let state = &track.state;
    let resources = state.chain().resources().iter();
    let made = resources.filter_map(|it| state.current(&it.name)?.output.as_ref());
    let commit = at.rsplit(':').next().unwrap_or(at);
    made.chain(state.owner().get("source"))
        .filter(|it| it.kind() == Kind::Source && revision::matches(commit, it.shown()))
        .collect()
}

/// Returns when a delivery last made anything.
pub(super) fn newest(track: &Track) -> Option<Timestamp> {
    let state = &track.state;
    let resources = state.chain().resources().iter();
    let made = resources.filter_map(|it| state.current(&it.name));
    made.map(|it| it.time).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(uid: &str, url: &str, commit: &str) -> Written {
        Written {
            uid: uid.to_owned(),
            generation: Some(1),
            artifact: Artifact::source(url, Some(commit)),
            commit: commit.to_owned(),
            files: Vec::new(),
        }
    }

    #[test]
    fn point_16_commits_of_the_same_object_are_remembered_the_newest_first() {
        let writers = Writers::default();
        let key = Key::new("default", "app");
        let url = "https://git.example/manifests.git";
        let note = |commit: &Written| {
            let past = writers.note(&key, url, Some(commit));
            let past = past.into_iter().map(|it| it.commit);
            past.collect::<Vec<_>>()
        };
        assert!(writers.note(&key, url, None).is_empty());
        assert!(note(&written("u1", url, "1")).is_empty());
        assert!(note(&written("u1", url, "1")).is_empty());
        assert_eq!(note(&written("u1", url, "2")), ["1"]);
        assert_eq!(note(&written("u1", url, "1")), ["2"]);
        assert!(note(&written("u2", url, "3")).is_empty());
        assert_eq!(note(&written("u1", url, "4")), ["1", "2"]);
        let other = "https://git.example/other";
        assert!(
            writers
                .note(&key, other, Some(&written("u1", other, "5")))
                .is_empty()
        );
        for number in 10..100 {
            note(&written("u1", url, &number.to_string()));
        }
        assert_eq!(note(&written("u1", url, "1")).len(), MAX_PAST);
        let only = std::slice::from_ref(&key);
        assert_eq!(writers.of("https://git.example/manifests"), only);
        assert_eq!(writers.of(other), only);
        writers.gone(&key);
        assert!(writers.of(url).is_empty());
    }
}
