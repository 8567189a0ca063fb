//! The objects of a new commit, without a work tree.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::actor::Signature;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use crate::git::edits::{Author, Edits};
use crate::git::pack::MAX_TREE_BYTES;
use crate::git::push::Update;
use crate::git::session::{Session, local};
use crate::git::tree::{Entry, refused};
use crate::git::{Error, message};

/// The most bytes of all directories on the way to the files of a commit.
const MAX_EDITED_BYTES: u64 = 8 << 20;

impl Session {
    /// Writes the objects of the commit; none when the edit changes nothing.
    pub(super) fn build(
        &self,
        branch: &str,
        edits: &Edits,
        base: Option<ObjectId>,
    ) -> Result<Option<Update>, Error> {
        edits.check_paths()?;
        let before = match base {
            Some(commit) => self.tree(self.tree_of(commit)?)?,
            None => self.repo.empty_tree(),
        };
        let tree = self.edit_tree(&before, edits, base)?;
        if tree == before.id {
            return Ok(None);
        }
        edits.check()?;
        let mut objects = BTreeSet::new();
        self.collect_new(base.map(|_| before.id), tree, &mut objects)?;
        let commit = self.write_commit(edits, base, tree)?;
        objects.insert(commit);
        Ok(Some(Update {
            reference: format!("refs/heads/{branch}"),
            old: base,
            new: commit,
            objects,
        }))
    }

    /// Writes the files and directories of an edit; returns the topmost directory.
    fn edit_tree(
        &self,
        before: &gix::Tree<'_>,
        edits: &Edits,
        base: Option<ObjectId>,
    ) -> Result<ObjectId, Error> {
        let old = self.old_kinds(before.id, base, edits)?;
        let mut editor = before.edit().map_err(local("read the tip of a branch"))?;
        // What is removed makes room for what is written.
        for ((path, _), kind) in edits
            .files
            .iter()
            .zip(&old)
            .filter(|((_, it), _)| it.is_none())
        {
            match kind {
                Some(EntryKind::Tree) => {
                    let reason = "it is a directory, and only files are removed";
                    return Err(refused(path.clone(), reason));
                }
                Some(_) => {
                    let removed = editor.remove(path.as_str());
                    removed.map_err(local("edit a tree"))?;
                }
                None => {}
            }
        }
        for ((path, content), kind) in edits.files.iter().zip(&old) {
            let Some(content) = content else {
                continue;
            };
            // What is executable stays so.
            let kind = match kind {
                Some(EntryKind::BlobExecutable) => EntryKind::BlobExecutable,
                _ => EntryKind::Blob,
            };
            let blob = self.repo.write_blob(content);
            let blob = blob.map_err(local("write a file"))?.detach();
            editor
                .upsert(path.as_str(), kind, blob)
                .map_err(local("edit a tree"))?;
        }
        Ok(editor.write().map_err(local("write a tree"))?.detach())
    }

    /// Returns the kind of what is at each path now. All directories on the way to them are in memory when
    /// they are edited, so that these must not be too large together.
    fn old_kinds(
        &self,
        tree: ObjectId,
        base: Option<ObjectId>,
        edits: &Edits,
    ) -> Result<Vec<Option<EntryKind>>, Error> {
        let (mut kinds, mut trees) = (Vec::new(), BTreeMap::new());
        for path in edits.files.keys() {
            if base.is_none() {
                kinds.push(None);
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
            kinds.push(found.entry.map(|it| it.kind));
        }
        Ok(kinds)
    }

    fn write_commit(
        &self,
        edits: &Edits,
        base: Option<ObjectId>,
        tree: ObjectId,
    ) -> Result<ObjectId, Error> {
        let time = gix::date::Time::new(self.clock.now().as_second(), 0);
        let sign = |by: &Author| Signature {
            name: by.name.trim().into(),
            email: by.email.trim().into(),
            time,
        };
        let commit = gix::objs::Commit {
            tree,
            parents: base.into_iter().collect(),
            author: sign(&edits.author),
            committer: sign(&Author::default()),
            encoding: None,
            message: message::with_trailers(&edits.message, &edits.trailers)?.into(),
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
        let mut pending = vec![(old, new)];
        while let Some((old, new)) = pending.pop() {
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
                        pending.push((before.map(|(_, id)| id), id));
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
