//! History: the commits that lead from one revision to another, and the files that each of them touches.

use std::collections::BTreeSet;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use super::session::{Session, local};
use super::tree::Entry;
use super::{Error, Trailer, trailers};

const READING: &str = "read the history of a repository";

/// The most commits between two revisions that are listed.
const MAX_COMMITS: usize = 10_000;
/// The most files of one commit that are looked at.
const MAX_FILES: usize = 100_000;

/// Tells whether a file is one of those that are asked about.
pub type IsWanted = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The way from one revision of a branch to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The place of the later revision.
    pub relation: Relation,
    /// The commits that the later revision has and the earlier one has not, the newest first: those that touch
    /// wanted files, and merges that differ from each of their parents there.
    pub gained: Vec<HistoryCommit>,
    /// Those that only the earlier revision has.
    pub lost: Vec<HistoryCommit>,
}

/// The place of a later revision as seen from an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They are one.
    Same,
    /// The later one builds on the earlier one.
    Forward,
    /// The earlier one builds on the later one: somebody went back.
    Back,
    /// Each has commits that the other has not; this is the best that both have, if they have any.
    Diverged(Option<String>),
    /// The remote does not have the earlier one any more, so that nothing can be said.
    Unknown,
}

/// One commit of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryCommit {
    /// The id.
    pub id: String,
    /// The ids of its parents.
    pub parents: Vec<String>,
    /// The name of its author.
    pub author: String,
    /// The time at which it was written, in seconds since 1970.
    pub time: i64,
    /// The first line of its message.
    pub title: String,
    /// The trailers of its message.
    pub trailers: Vec<Trailer>,
    /// The wanted files that differ from one of its parents.
    pub touched: Vec<String>,
}

impl Session {
    /// Lists what leads from one commit to another.
    pub(super) fn history(
        &self,
        from: &str,
        to: &str,
        is_wanted: &IsWanted,
    ) -> Result<History, Error> {
        let [from, to] = [
            super::ancestry::commit_id(from)?,
            super::ancestry::commit_id(to)?,
        ];
        self.fetch_history(to)?;
        // It may have been pushed over; then the remote need not give it away.
        if !self.repo.has_object(from) && self.fetch_history(from).is_err() {
            return Ok(History {
                relation: Relation::Unknown,
                gained: Vec::new(),
                lost: Vec::new(),
            });
        }
        let [gained, lost] = [self.beyond(from, to)?, self.beyond(to, from)?];
        let relation = match (gained.is_empty(), lost.is_empty()) {
            (true, true) => Relation::Same,
            (false, true) => Relation::Forward,
            (true, false) => Relation::Back,
            (false, false) => {
                let base = self.repo.merge_base(from, to).ok().flatten();
                Relation::Diverged(base.map(|it| it.to_string()))
            }
        };
        let touching = |all: Vec<ObjectId>| {
            let commits = all.into_iter().map(|it| self.touching(it, is_wanted));
            let commits = commits.collect::<Result<Vec<_>, _>>()?;
            Ok::<_, Error>(commits.into_iter().flatten().collect())
        };
        Ok(History {
            relation,
            gained: touching(gained)?,
            lost: touching(lost)?,
        })
    }

    /// Returns the commits behind one commit that are not behind another.
    fn beyond(&self, known: ObjectId, tip: ObjectId) -> Result<Vec<ObjectId>, Error> {
        let walk = self.repo.rev_walk([tip]).with_hidden([known]);
        let mut beyond = Vec::new();
        for found in walk.all().map_err(local(READING))? {
            self.check_time()?;
            if beyond.len() >= MAX_COMMITS {
                let detail = format!("more than {MAX_COMMITS} commits lead from {known} to {tip}");
                return Err(self.too_large(detail));
            }
            beyond.push(found.map_err(local(READING))?.id);
        }
        Ok(beyond)
    }

    /// Returns a commit if it touches wanted files, as seen from each of its parents.
    fn touching(&self, id: ObjectId, is_wanted: &IsWanted) -> Result<Option<HistoryCommit>, Error> {
        self.check_time()?;
        let tree = self.tree_of(id)?;
        let commit = self.repo.find_commit(id).map_err(local(READING))?;
        let parents: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
        let mut touched = BTreeSet::new();
        // What a first commit has, it has brought.
        let mut before: Vec<Option<ObjectId>> = Vec::new();
        for parent in &parents {
            before.push(Some(self.tree_of(*parent)?));
        }
        if before.is_empty() {
            before.push(None);
        }
        for before in before {
            let files = self.differing(before, tree, is_wanted)?;
            if files.is_empty() {
                return Ok(None);
            }
            touched.extend(files);
        }
        let message = commit.message_raw().map_err(local(READING))?;
        let author = commit.author().map_err(local(READING))?;
        let title = commit
            .message()
            .map_err(local(READING))?
            .summary()
            .to_string();
        Ok(Some(HistoryCommit {
            id: id.to_string(),
            parents: parents.iter().map(ToString::to_string).collect(),
            author: author.name.to_string(),
            time: author.seconds(),
            title,
            trailers: trailers(message),
            touched: touched.into_iter().collect(),
        }))
    }

    /// Returns the wanted files that differ between two trees. Trees that are the same are not opened.
    fn differing(
        &self,
        old: Option<ObjectId>,
        new: ObjectId,
        is_wanted: &IsWanted,
    ) -> Result<Vec<String>, Error> {
        let mut differing = Vec::new();
        let mut looked_at = 0;
        let mut open = vec![(String::new(), old, Some(new))];
        while let Some((directory, old, new)) = open.pop() {
            if old == new {
                continue;
            }
            let [old, new] = [self.entries_of(old)?, self.entries_of(new)?];
            for (name, old, new) in pairs(&old, &new) {
                looked_at += 1;
                if looked_at > MAX_FILES {
                    let detail = format!("a commit touches more than {MAX_FILES} files");
                    return Err(self.too_large(detail));
                }
                let path = format!("{directory}{}", String::from_utf8_lossy(name));
                let is_tree = |it: &&Entry| it.kind == EntryKind::Tree;
                let [old_tree, new_tree] = [old, new].map(|it| it.filter(is_tree).map(|it| it.id));
                let [old_file, new_file] = [old, new].map(|it| it.filter(|it| !is_tree(it)));
                if old_file != new_file && is_wanted(&path) {
                    differing.push(path.clone());
                }
                if old_tree != new_tree {
                    open.push((format!("{path}/"), old_tree, new_tree));
                }
            }
        }
        Ok(differing)
    }

    fn entries_of(&self, tree: Option<ObjectId>) -> Result<Vec<Entry>, Error> {
        tree.map_or_else(|| Ok(Vec::new()), |it| self.entries(it))
    }
}

/// Returns the entries of two trees by their names, where they differ.
fn pairs<'e>(
    old: &'e [Entry],
    new: &'e [Entry],
) -> impl Iterator<Item = (&'e [u8], Option<&'e Entry>, Option<&'e Entry>)> {
    let mut by_name: std::collections::BTreeMap<&[u8], [Option<&Entry>; 2]> = Default::default();
    for (side, entries) in [old, new].into_iter().enumerate() {
        for entry in entries {
            by_name.entry(&entry.name).or_default()[side] = Some(entry);
        }
    }
    let pairs = by_name
        .into_iter()
        .map(|(name, [old, new])| (name, old, new));
    pairs.filter(|(_, old, new)| old != new)
}
