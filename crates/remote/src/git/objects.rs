//! Objects of the cached repository, none of which is read before its size is known.

use std::io::{self, Read};

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::Error;
use super::error::chain;
use super::pack::{self, MAX_COMMIT_BYTES, MAX_IN_MEMORY, MAX_TREE_BYTES};
use super::session::{Session, local};
use super::tree::Entry;

const READING: &str = "read a fetched object";

impl Session {
    /// Returns the size of an object that is of that kind and not larger than that.
    pub(super) fn size(&self, id: ObjectId, kind: Kind, limit: u64) -> Result<u64, Error> {
        let header = self.repo.find_header(id);
        let header = header.map_err(|e| self.unreadable(&e))?;
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
        let found = self.repo.find_commit(commit);
        let found = found.map_err(|e| self.unreadable(&e))?;
        Ok(found.tree_id().map_err(local(READING))?.detach())
    }

    /// Returns the tree of an id, unless it is too large.
    pub(super) fn tree(&self, id: ObjectId) -> Result<gix::Tree<'_>, Error> {
        self.size(id, Kind::Tree, MAX_TREE_BYTES)?;
        let tree = self.repo.find_tree(id);
        tree.map_err(|e| self.unreadable(&e))
    }

    /// Returns the size and the content of a file; a large one as a stream.
    pub(super) fn blob(&self, id: ObjectId) -> Result<(u64, Box<dyn Read + '_>), Error> {
        let size = self.size(id, Kind::Blob, u64::MAX)?;
        if size <= MAX_IN_MEMORY {
            let blob = self.repo.find_blob(id);
            let mut blob = blob.map_err(|e| self.unreadable(&e))?;
            return Ok((size, Box::new(io::Cursor::new(blob.take_data()))));
        }
        let objects = self.repo.objects.store_ref().path();
        let opened = pack::open_loose(objects, id);
        let (size, content) = opened.map_err(|e| self.damaged(READING, format!("{id}: {e}")))?;
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

    fn unreadable(&self, error: &gix::Error) -> Error {
        self.damaged(READING, chain(error))
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
        let header = self.repo.try_find_header(id);
        let header = header.map_err(|e| io::Error::other(self.unreadable(&e)))?;
        Ok(header.map(|it| (it.kind(), it.size())))
    }

    fn small(&self, id: ObjectId) -> io::Result<Vec<u8>> {
        let object = self.repo.find_object(id);
        let mut object = object.map_err(|e| io::Error::other(self.unreadable(&e)))?;
        Ok(std::mem::take(&mut object.data))
    }
}
