//! The content of a branch, as an edit sees it before it answers.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::Error;
use super::edits::check_path;
use super::session::Session;
use super::tree::{Entry, refused};

/// The largest file that an edit reads, whatever it asks for.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The files of the commit that an edit is to build on.
pub struct BaseTree<'a> {
    session: &'a Session,
    commit: Option<ObjectId>,
    /// The paths that were asked for: the edit depends on what is there.
    read: RefCell<BTreeSet<String>>,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, without the directory.
    pub name: String,
    /// The kind of entry.
    pub kind: FileKind,
}

/// The kind of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file, executable or not.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl From<EntryKind> for FileKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::Blob | EntryKind::BlobExecutable => Self::File,
            EntryKind::Tree => Self::Directory,
            EntryKind::Link => Self::Link,
            EntryKind::Commit => Self::Submodule,
        }
    }
}

impl<'a> BaseTree<'a> {
    pub(super) fn new(session: &'a Session, commit: Option<ObjectId>) -> Self {
        Self {
            session,
            commit,
            read: RefCell::default(),
        }
    }

    /// Returns the id of the commit, unless the branch does not exist yet.
    pub fn commit(&self) -> Option<String> {
        self.commit.map(|it| it.to_string())
    }

    /// Returns the content of a file; nothing if there is none at that path.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] when it has more than `limit` bytes, or than 16 MiB, and
    /// [`Error::InvalidPath`] when the path leaves the repository or something else is there.
    pub fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        check_path(path)?;
        let Some(entry) = self.find(path)? else {
            return Ok(None);
        };
        if FileKind::from(entry.kind) != FileKind::File {
            return Err(refused(
                path.to_owned(),
                "something else than a file is there",
            ));
        }
        let limit = limit.min(MAX_FILE_BYTES);
        let size = self.session.size(entry.id, Kind::Blob, u64::MAX)?;
        if size > limit {
            let detail = format!("`{path}` has {size} bytes, and at most {limit} are read");
            return Err(self.session.too_large(detail));
        }
        let (_, mut content) = self.session.blob(entry.id)?;
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).map_err(|e| Error::Local {
            action: "read a fetched file",
            detail: e.to_string(),
        })?;
        Ok(Some(bytes))
    }

    /// Lists a directory, sorted as git does; `""` is that of the whole repository. One that is not there
    /// is empty, and names that are not Unicode, which no edit can name, are left out.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] when it has more than `limit` entries, and [`Error::InvalidPath`] when the path
    /// leaves the repository or is no directory.
    pub fn list(&self, directory: &str, limit: usize) -> Result<Vec<DirEntry>, Error> {
        let Some(tree) = self.directory(directory)? else {
            return Ok(Vec::new());
        };
        let entries = self.session.entries(tree)?;
        if entries.len() > limit {
            let count = entries.len();
            let detail =
                format!("`{directory}` has {count} entries, and at most {limit} are listed");
            return Err(self.session.too_large(detail));
        }
        let entries = entries.into_iter().filter_map(|it| {
            let kind = it.kind.into();
            let name = String::from_utf8(it.name).ok()?;
            Some(DirEntry { name, kind })
        });
        Ok(entries.collect())
    }

    fn directory(&self, path: &str) -> Result<Option<ObjectId>, Error> {
        if path.is_empty() {
            self.read.borrow_mut().insert(String::new());
            return self.commit.map(|it| self.session.tree_of(it)).transpose();
        }
        check_path(path)?;
        match self.find(path)? {
            Some(entry) if entry.kind == EntryKind::Tree => Ok(Some(entry.id)),
            Some(_) => Err(refused(path.to_owned(), "it is not a directory")),
            None => Ok(None),
        }
    }

    fn find(&self, path: &str) -> Result<Option<Entry>, Error> {
        self.session.check_time()?;
        self.read.borrow_mut().insert(path.to_owned());
        let Some(commit) = self.commit else {
            return Ok(None);
        };
        let tree = self.session.tree_of(commit)?;
        Ok(self.session.look_up(tree, path)?.entry)
    }

    /// Returns the paths that were read or listed.
    pub(super) fn into_read(self) -> BTreeSet<String> {
        self.read.into_inner()
    }
}

impl fmt::Debug for BaseTree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit();
        f.debug_tuple("BaseTree").field(&commit).finish()
    }
}
