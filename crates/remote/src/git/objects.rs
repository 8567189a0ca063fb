//! Objects of the cached repository, none of which is read before its size is known.

use std::io::{self, Read};

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::Error;
use super::pack::{self, MAX_COMMIT_BYTES, MAX_IN_MEMORY, MAX_TREE_BYTES};
use super::session::{Session, local};
use super::tree::Entry;

const READING: &str = "read a fetched object";

impl Session {
    /// Returns the size of an object that is of that kind and not larger than that.
    pub(super) fn size(&self, id: ObjectId, kind: Kind, limit: u64) -> Result<u64, Error> {
        let header = self.repo.find_header(id).map_err(local(READING))?;
        let refused = |detail| Error::Local {
            action: READING,
            detail,
        };
        if header.kind() != kind {
            let found = header.kind();
            return Err(refused(format!("{id} is a {found}, and not a {kind}")));
        }
        let size = header.size();
        if size > limit {
            return Err(refused(format!(
                "the {kind} {id} has {size} bytes, and at most {limit} are read"
            )));
        }
        Ok(size)
    }

    /// Returns the tree of a commit.
    pub(super) fn tree_of(&self, commit: ObjectId) -> Result<ObjectId, Error> {
        self.size(commit, Kind::Commit, MAX_COMMIT_BYTES)?;
        let found = self.repo.find_commit(commit).map_err(local(READING))?;
        Ok(found.tree_id().map_err(local(READING))?.detach())
    }

    /// Returns a tree.
    pub(super) fn tree(&self, id: ObjectId) -> Result<gix::Tree<'_>, Error> {
        self.size(id, Kind::Tree, MAX_TREE_BYTES)?;
        self.repo.find_tree(id).map_err(local(READING))
    }

    /// Returns the size and the content of a file; a large one as a stream.
    pub(super) fn blob(&self, id: ObjectId) -> Result<(u64, Box<dyn Read + '_>), Error> {
        let size = self.size(id, Kind::Blob, u64::MAX)?;
        if size <= MAX_IN_MEMORY {
            let mut blob = self.repo.find_blob(id).map_err(local(READING))?;
            return Ok((size, Box::new(io::Cursor::new(blob.take_data()))));
        }
        let objects = self.repo.objects.store_ref().path();
        let opened = pack::open_loose(objects, id);
        let (size, content) = opened.map_err(|e| Error::Local {
            action: READING,
            detail: format!("{id}: {e}"),
        })?;
        Ok((size, Box::new(content)))
    }

    /// Returns what is at a path, and what is on the way to it: the trees, the topmost first.
    pub(super) fn look_up(&self, tree: ObjectId, path: &str) -> Result<Found, Error> {
        let mut found = Found {
            entry: None,
            trees: vec![tree],
        };
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let here = *found.trees.last().expect("the topmost is there");
            let entry = self.entry(here, name)?;
            let Some(entry) = entry else {
                return Ok(found);
            };
            if names.peek().is_none() {
                found.entry = Some(entry);
            } else if entry.kind == EntryKind::Tree {
                found.trees.push(entry.id);
            } else {
                return Ok(found);
            }
        }
        Ok(found)
    }

    fn entry(&self, tree: ObjectId, name: &str) -> Result<Option<Entry>, Error> {
        let tree = self.tree(tree)?;
        for entry in tree.iter() {
            let entry = entry.map_err(local(READING))?;
            if entry.filename() == name {
                return Ok(Some(Entry::new(&entry)));
            }
        }
        Ok(None)
    }
}

/// The object at a path.
pub(super) struct Found {
    pub(super) entry: Option<Entry>,
    pub(super) trees: Vec<ObjectId>,
}

impl pack::Base for Session {
    fn header(&self, id: ObjectId) -> io::Result<Option<(Kind, u64)>> {
        let header = self.repo.try_find_header(id).map_err(io::Error::other)?;
        Ok(header.map(|it| (it.kind(), it.size())))
    }

    fn small(&self, id: ObjectId) -> io::Result<Vec<u8>> {
        let mut object = self.repo.find_object(id).map_err(io::Error::other)?;
        Ok(std::mem::take(&mut object.data))
    }
}
