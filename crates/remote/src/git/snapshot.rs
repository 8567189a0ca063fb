//! The content of a commit as an archive.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;

use super::Error;
use super::session::Session;
use super::tree::{Entry, check_name, refused};
use crate::archive::{self, Archive, Limits, Writer};

/// The longest name that the kernel takes (`PATH_MAX`).
const MAX_LINK_BYTES: u64 = 4095;

/// The longest path in a repository, as that of the kernel (`PATH_MAX`).
const MAX_PATH_BYTES: usize = 4095;

/// Something that is still to be packed.
struct Pending {
    directory: Rc<Path>,
    entry: Entry,
}

impl Session {
    /// Packs the tree of a commit that is in the cached repository.
    pub(super) fn archive(
        &self,
        commit: &str,
        into: &Path,
        limits: Limits,
    ) -> Result<Archive, Error> {
        let commit =
            ObjectId::from_hex(commit.as_bytes()).map_err(|_| Error::InvalidReference {
                kind: "commit",
                name: commit.to_owned(),
            })?;
        let tree = self.tree_of(commit)?;
        let mut writer = Writer::create(into, limits)?;
        // What is still to be packed, the next one last. Each is an entry of the archive, so that there
        // are no more of them than these may be.
        let mut pending = Vec::new();
        self.add_below(&mut pending, tree, Path::new(""), limits)?;
        while let Some(Pending { directory, entry }) = pending.pop() {
            self.check_time()?;
            let path = directory.join(OsStr::from_bytes(&entry.name));
            if path.as_os_str().len() > MAX_PATH_BYTES {
                let name = entry.name.as_bstr().to_string();
                return Err(refused(name, "the path to it is too long"));
            }
            self.pack_entry(&mut writer, &path, &entry)?;
            if entry.kind == EntryKind::Tree {
                self.add_below(&mut pending, entry.id, &path, limits)?;
            }
        }
        Ok(writer.finish()?)
    }

    /// Adds what is in a directory, the last one first.
    fn add_below(
        &self,
        pending: &mut Vec<Pending>,
        tree: ObjectId,
        path: &Path,
        limits: Limits,
    ) -> Result<(), Error> {
        let mut entries = self.entries(tree)?;
        if (pending.len() + entries.len()) as u64 > limits.entries {
            return Err(Error::Archive(archive::Error::TooLarge {
                what: "entries",
                limit: limits.entries,
            }));
        }
        // Git sorts a directory as if its name ended in `/`; archives sort by the plain name.
        entries.sort_by(|one, two| two.name.cmp(&one.name));
        if let Some([_, same]) = entries
            .array_windows()
            .find(|[one, two]| one.name == two.name)
        {
            let path = path.join(OsStr::from_bytes(&same.name));
            return Err(Error::Archive(archive::Error::Duplicate { path }));
        }
        let directory: Rc<Path> = path.into();
        for entry in entries {
            check_name(&entry.name)?;
            let directory = directory.clone();
            pending.push(Pending { directory, entry });
        }
        Ok(())
    }

    fn pack_entry(&self, writer: &mut Writer, path: &Path, entry: &Entry) -> Result<(), Error> {
        match entry.kind {
            EntryKind::Tree => writer.directory(path)?,
            EntryKind::Blob | EntryKind::BlobExecutable => {
                let executable = entry.kind == EntryKind::BlobExecutable;
                let (size, content) = self.blob(entry.id)?;
                writer.file(path, executable, size, content)?;
            }
            EntryKind::Link => {
                let (size, mut content) = self.blob(entry.id)?;
                if size > MAX_LINK_BYTES {
                    let path = path.display().to_string();
                    return Err(refused(path, "it is a link to a name that is too long"));
                }
                let mut target = Vec::new();
                content.read_to_end(&mut target).map_err(|e| Error::Local {
                    action: "read a fetched link",
                    detail: e.to_string(),
                })?;
                writer.link(path, Path::new(OsStr::from_bytes(&target)))?;
            }
            EntryKind::Commit => {}
        }
        Ok(())
    }
}
