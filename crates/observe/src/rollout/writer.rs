//! A supply chain that writes to git repositories, and the commits that it wrote last.

use std::collections::{BTreeSet, VecDeque};

use pathline_lineage::{RepositoryId, Written};

/// The number of commits of one owner that are remembered.
const MAX_PAST: usize = 8;
/// The number of repositories of one owner that are remembered.
const MAX_REPOSITORIES: usize = 16;

/// A supply chain that writes to repositories.
#[derive(Debug, Default)]
pub struct Writer {
    repositories: BTreeSet<RepositoryId>,
    /// The last commits, the newest first.
    past: VecDeque<Written>,
}

impl Writer {
    /// Takes note of a repository that it writes to, and of what it wrote. Returns the commits that the
    /// same object wrote to the same repository before, the newest first.
    pub fn note(&mut self, url: &str, written: Option<&Written>) -> Vec<Written> {
        if self.repositories.len() >= MAX_REPOSITORIES {
            self.repositories.clear();
        }
        let repository = RepositoryId::of(url);
        self.repositories.insert(repository.clone());
        let Some(written) = written else {
            return Vec::new();
        };
        let same = |it: &&Written| {
            let address = it.artifact.url().unwrap_or_default();
            it.uid == written.uid && RepositoryId::of(address) == repository
        };
        let is_other = |it: &&Written| it.artifact != written.artifact;
        let past = self.past.iter().filter(same).filter(is_other);
        let past = past.cloned().collect();
        self.past.retain(|it| is_other(&it));
        self.past.push_front(written.clone());
        self.past.truncate(MAX_PAST);
        past
    }

    /// Tells whether it writes to a repository.
    pub fn writes_to(&self, url: &str) -> bool {
        self.repositories.contains(&RepositoryId::of(url))
    }
}

#[cfg(test)]
mod tests {
    use pathline_lineage::Artifact;

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

    const URL: &str = "https://git.example/manifests.git";
    const OTHER: &str = "https://git.example/other";

    #[test]
    fn point_16_commits_of_the_same_object_are_remembered_the_newest_first() {
        let mut writer = Writer::default();
        assert!(writer.note(URL, None).is_empty());
        let mut note = |uid: &str, commit: &str| {
            let past = writer.note(URL, Some(&written(uid, URL, commit)));
            let past = past.into_iter().map(|it| it.commit);
            past.collect::<Vec<_>>()
        };
        assert!(note("u1", "1").is_empty());
        assert!(note("u1", "1").is_empty());
        assert_eq!(note("u1", "2"), ["1"]);
        assert_eq!(note("u1", "1"), ["2"]);
        assert!(note("u2", "3").is_empty());
        assert_eq!(note("u1", "4"), ["1", "2"]);
        for number in 10..100 {
            note("u1", &number.to_string());
        }
        assert_eq!(note("u1", "1").len(), MAX_PAST);
    }

    #[test]
    fn point_16_repositories_are_told_apart_by_their_addresses() {
        let mut writer = Writer::default();
        assert!(!writer.writes_to(URL));
        writer.note(URL, Some(&written("u1", URL, "1")));
        let past = writer.note(OTHER, Some(&written("u1", OTHER, "5")));
        assert!(past.is_empty(), "that was written elsewhere");
        assert!(writer.writes_to("https://git.example/manifests"));
        assert!(writer.writes_to(OTHER));
    }
}
