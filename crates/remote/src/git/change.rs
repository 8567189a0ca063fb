//! Commits made without a work tree, and pushed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use gix::ObjectId;
use gix::actor::Signature;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::pack::MAX_TREE_BYTES;
use super::push::{Pushed, Update};
use super::session::{Session, local};
use super::tree::Entry;
use super::{Error, Files, Reference, Revision, message};
use crate::archive::MAX_DEPTH;

/// How often a commit is built anew because another writer was faster.
const MOST_ATTEMPTS: usize = 40;
/// How often the remote may decline on top of one commit.
const MOST_REJECTIONS: usize = 4;
/// The most bytes of all directories on the way to the files of a commit.
const MAX_EDITED_BYTES: u64 = 8 << 20;

/// Who a commit is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The address, without brackets.
    pub email: String,
}

impl Default for Author {
    fn default() -> Self {
        Self {
            name: "Pathline".into(),
            email: "pathline@localhost".into(),
        }
    }
}

/// Files to write to a branch in one commit.
#[derive(Clone, Debug)]
pub struct Change {
    /// The branch, by its short name.
    pub branch: String,
    /// The files; others stay as they are.
    pub files: Files,
    /// The message, without trailers.
    pub message: String,
    /// `Name: value` lines at the end of the message.
    pub trailers: BTreeMap<String, String>,
    /// The author; the committer is always Pathline.
    pub author: Author,
}

/// What came of a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The tip of the branch that has the content.
    pub revision: Revision,
    /// Whether a commit was made; else the branch had that content already.
    pub changed: bool,
}

impl Change {
    /// Refuses what can never be written, before anybody is asked.
    pub(super) fn check(&self) -> Result<(), Error> {
        Reference::branch(&self.branch).full_name()?;
        for path in self.files.keys() {
            check_path(path)?;
        }
        message::with_trailers(&self.message, &self.trailers)?;
        let Author { name, email } = &self.author;
        if [name, email]
            .iter()
            .any(|part| part.trim().is_empty() || part.contains(['<', '>', '\n', '\0']))
        {
            return Err(Error::InvalidMessage {
                what: format!("the author `{name} <{email}>`"),
                reason: "name and address must not be empty nor contain `<`, `>` or line breaks",
            });
        }
        Ok(())
    }
}

/// Refuses paths that leave the repository, or that git itself would not check out.
fn check_path(path: &str) -> Result<(), Error> {
    let refuse = |reason| {
        Err(Error::InvalidPath {
            path: path.to_owned(),
            reason,
        })
    };
    if path.is_empty() || path.ends_with('/') {
        return refuse("it names no file");
    }
    if path.starts_with('/') {
        return refuse("it is absolute");
    }
    for part in path.split('/') {
        if matches!(part, "" | "." | "..") {
            return refuse("`.`, `..` and empty parts are not allowed");
        }
        let strict = gix::validate::path::component::Options::default();
        if part.contains('\\')
            || gix::validate::path::component(part.as_bytes().into(), None, strict).is_err()
        {
            return refuse("git does not allow such a name");
        }
    }
    if path.split('/').count() > MAX_DEPTH {
        return refuse("it is in too many directories");
    }
    Ok(())
}

impl Session {
    /// Builds the commit on the tip of the branch and pushes it, until that works or is hopeless.
    pub(super) fn commit(&self, change: &Change) -> Result<Written, Error> {
        let reference = Reference::branch(&change.branch);
        // How often the remote declined on top of the same commit.
        let (mut declined_on, mut rejections) = (None, 0);
        for pause in pauses() {
            let base = match self.fetch(&reference) {
                Ok(revision) => ObjectId::from_hex(revision.commit.as_bytes()).ok(),
                Err(Error::UnknownReference { .. }) => None,
                Err(failed) => return Err(failed),
            };
            let Some(update) = self.build(change, base)? else {
                let tip = base.expect("only a branch can have the content already");
                return Ok(Written {
                    revision: reference.at(tip),
                    changed: false,
                });
            };
            match self.push(&update)? {
                Pushed::Done => {
                    return Ok(Written {
                        revision: reference.at(update.new),
                        changed: true,
                    });
                }
                Pushed::Moved => {}
                // Two pushes that meet look like this too, so it counts only if nobody else wrote.
                Pushed::Rejected(reason) => {
                    rejections = if declined_on == Some(base) {
                        rejections + 1
                    } else {
                        1
                    };
                    declined_on = Some(base);
                    if rejections >= MOST_REJECTIONS {
                        let (url, branch) = (self.remote.url().clone(), change.branch.clone());
                        return Err(Error::Rejected {
                            url,
                            branch,
                            reason,
                        });
                    }
                }
            }
            std::thread::sleep(pause);
        }
        Err(Error::Contended {
            url: self.remote.url().clone(),
            branch: change.branch.clone(),
            attempts: MOST_ATTEMPTS,
        })
    }

    /// Writes the objects of the commit; none when the files are there already.
    fn build(&self, change: &Change, base: Option<ObjectId>) -> Result<Option<Update>, Error> {
        let reading = "read the tip of a branch";
        let before = match base {
            Some(commit) => self.tree(self.tree_of(commit)?)?,
            None => self.repo.empty_tree(),
        };
        let kinds = self.kinds(before.id, base, change)?;
        let mut objects = BTreeSet::new();
        let mut editor = before.edit().map_err(local(reading))?;
        for ((path, content), kind) in change.files.iter().zip(kinds) {
            let blob = self
                .repo
                .write_blob(content)
                .map_err(local("write a file"))?
                .detach();
            editor
                .upsert(path.as_str(), kind, blob)
                .map_err(local("edit a tree"))?;
        }
        let tree = editor.write().map_err(local("write a tree"))?.detach();
        if base.is_some() && tree == before.id {
            return Ok(None);
        }
        self.collect_new(base.map(|_| before.id), tree, &mut objects)?;
        let commit = self.write_commit(change, base, tree)?;
        objects.insert(commit);
        let reference = format!("refs/heads/{}", change.branch);
        Ok(Some(Update {
            reference,
            old: base,
            new: commit,
            objects,
        }))
    }

    /// Returns which kind of file each one is to be: what is executable stays so. All directories on the
    /// way to them are in memory when they are edited, so that these must not be too large together.
    fn kinds(
        &self,
        tree: ObjectId,
        base: Option<ObjectId>,
        change: &Change,
    ) -> Result<Vec<EntryKind>, Error> {
        let (mut kinds, mut trees) = (Vec::new(), BTreeMap::new());
        for path in change.files.keys() {
            if base.is_none() {
                kinds.push(EntryKind::Blob);
                continue;
            }
            let found = self.look_up(tree, path)?;
            for id in found.trees {
                trees.insert(id, self.size(id, Kind::Tree, MAX_TREE_BYTES)?);
            }
            if trees.values().sum::<u64>() > MAX_EDITED_BYTES {
                return Err(Error::Local {
                    action: "edit a tree",
                    detail: format!(
                        "the directories of the files have more than {MAX_EDITED_BYTES} bytes"
                    ),
                });
            }
            kinds.push(match found.entry.map(|it| it.kind) {
                Some(EntryKind::BlobExecutable) => EntryKind::BlobExecutable,
                _ => EntryKind::Blob,
            });
        }
        Ok(kinds)
    }

    fn write_commit(
        &self,
        change: &Change,
        base: Option<ObjectId>,
        tree: ObjectId,
    ) -> Result<ObjectId, Error> {
        let time = gix::date::Time::now_utc();
        let sign = |by: &Author| Signature {
            name: by.name.trim().into(),
            email: by.email.trim().into(),
            time,
        };
        let commit = gix::objs::Commit {
            tree,
            parents: base.into_iter().collect(),
            author: sign(&change.author),
            committer: sign(&Author::default()),
            encoding: None,
            message: message::with_trailers(&change.message, &change.trailers)?.into(),
            extra_headers: Vec::new(),
        };
        Ok(self
            .repo
            .write_object(commit)
            .map_err(local("write a commit"))?
            .detach())
    }

    /// Collects what `new` has and `old` lacks, looking only into directories that differ: those on
    /// the way to the files that were written.
    fn collect_new(
        &self,
        old: Option<ObjectId>,
        new: ObjectId,
        objects: &mut BTreeSet<ObjectId>,
    ) -> Result<(), Error> {
        let mut ahead = vec![(old, new)];
        while let Some((old, new)) = ahead.pop() {
            objects.insert(new);
            let known = old.map(|id| self.entries(id)).transpose()?;
            let known = known.unwrap_or_default().into_iter();
            let known: BTreeMap<_, _> = known.map(|it| (it.name, (it.kind, it.id))).collect();
            for Entry { name, kind, id } in self.entries(new)? {
                let before = known.get(&name).copied();
                match kind {
                    _ if before == Some((kind, id)) => {}
                    EntryKind::Tree => {
                        let before = before.filter(|(kind, _)| *kind == EntryKind::Tree);
                        ahead.push((before.map(|(_, id)| id), id));
                    }
                    EntryKind::Commit => {}
                    EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                        objects.insert(id);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Jittered, so that writers that met once do not meet again.
fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_jitter()
        .with_min_delay(Duration::from_millis(20))
        .with_max_delay(Duration::from_secs(1))
        .with_max_times(MOST_ATTEMPTS)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_repository_are_refused() {
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "a/",
            "./a",
            ".git/config",
            "sub/.GIT/hooks/post-update",
            "a\\..\\b",
            "a\0b",
        ] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        for path in [
            "a",
            "clusters/prod/site.yaml",
            ".github/workflows/x.yaml",
            "…/ü",
        ] {
            assert!(check_path(path).is_ok(), "{path:?}");
        }
    }
}
