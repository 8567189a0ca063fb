//! The commit that brought the content of some paths, as far as the cached repository tells.

use std::collections::BTreeSet;

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use super::session::Session;

/// The most commits that are walked back from the tip of a branch.
const MAX_COMMITS: usize = 1_000;

/// The object at a path, if there is one.
type Content = Option<(EntryKind, ObjectId)>;

impl Session {
    /// Finds the commit that brought what `tip` has at `paths`: it has that, and none of its parents.
    ///
    /// Nothing is fetched for it. Branches are fetched without their history, so that there are the commits
    /// that were made here and those that were tips at a fetch; nothing is returned where these do not tell.
    pub(super) fn carrier(&self, tip: ObjectId, paths: &BTreeSet<String>) -> Option<ObjectId> {
        let wanted = self.content(tip, paths)?;
        // What is not there was brought by nobody, or by whoever removed it.
        let is_root_carrier = wanted.iter().any(Option::is_some);
        let mut commit = tip;
        for _ in 0..MAX_COMMITS {
            let parents = self.parents(commit)?;
            if parents.is_empty() {
                return is_root_carrier.then_some(commit);
            }
            let contents = parents.iter().map(|it| self.content(*it, paths));
            let contents: Vec<_> = contents.collect();
            let same = contents.iter().position(|it| it.as_ref() == Some(&wanted));
            match same {
                // As git's own simplification of history: of a merge, the side that has the content.
                Some(place) => commit = parents[place],
                None if contents.iter().all(Option::is_some) => return Some(commit),
                None => return None,
            }
        }
        None
    }

    /// Returns what a commit has at each of the paths, unless it is not in the cached repository.
    fn content(&self, commit: ObjectId, paths: &BTreeSet<String>) -> Option<Vec<Content>> {
        self.check_time().ok()?;
        // Asked first: an object that ought to be there and is not counts as damage of the cache.
        if !self.repo.has_object(commit) {
            return None;
        }
        let tree = self.tree_of(commit).ok()?;
        let find = |path: &String| match path.as_str() {
            "" => Some(Some((EntryKind::Tree, tree))),
            path => {
                let entry = self.look_up(tree, path).ok()?.entry;
                Some(entry.map(|it| (it.kind, it.id)))
            }
        };
        paths.iter().map(find).collect()
    }

    fn parents(&self, commit: ObjectId) -> Option<Vec<ObjectId>> {
        let found = self.repo.find_commit(commit).ok()?;
        Some(found.parent_ids().map(gix::Id::detach).collect())
    }
}
