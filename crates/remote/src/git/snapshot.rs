//! The content of a commit as an archive.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;

use super::Error;
use super::session::{Session, local};
use super::tree::{Entry, check_name, refused};
use crate::archive::{Archive, Limits, Writer};

/// The longest name that the kernel takes (`PATH_MAX`).
const MAX_LINK_BYTES: u64 = 4095;

impl Session {
    /// Packs the tree of a commit that is in the cached repository.
    pub(super) fn archive(
        &self,
        commit: &str,
        into: &Path,
        limits: Limits,
    ) -> Result<Archive, Error> {
        let reading = "read a fetched commit";
        let commit =
            ObjectId::from_hex(commit.as_bytes()).map_err(|_| Error::InvalidReference {
                kind: "commit",
                name: commit.to_owned(),
            })?;
        let found = self.repo.find_commit(commit).map_err(local(reading))?;
        let tree = found.tree_id().map_err(local(reading))?.detach();
        let mut writer = Writer::create(into, limits)?;
        // What is still to be packed, the next one last.
        let mut ahead = self.below(tree, Path::new(""))?;
        while let Some((path, entry)) = ahead.pop() {
            self.pack_entry(&mut writer, &path, &entry)?;
            if entry.kind == EntryKind::Tree {
                ahead.extend(self.below(entry.id, &path)?);
            }
        }
        Ok(writer.finish()?)
    }

    /// Returns what is in a directory, with its paths, the last one first.
    fn below(&self, tree: ObjectId, path: &Path) -> Result<Vec<(PathBuf, Entry)>, Error> {
        let mut entries = self.entries(tree)?;
        // Git sorts a directory as if its name ended in `/`; archives sort by the plain name.
        entries.sort_by(|one, two| two.name.cmp(&one.name));
        let located = entries.into_iter().map(|entry| {
            check_name(&entry.name)?;
            Ok((path.join(OsStr::from_bytes(&entry.name)), entry))
        });
        located.collect()
    }

    fn pack_entry(&self, writer: &mut Writer, path: &Path, entry: &Entry) -> Result<(), Error> {
        let reading = "read a fetched file";
        match entry.kind {
            EntryKind::Tree => writer.directory(path)?,
            EntryKind::Blob | EntryKind::BlobExecutable => {
                let blob = self.repo.find_blob(entry.id).map_err(local(reading))?;
                let executable = entry.kind == EntryKind::BlobExecutable;
                let size = blob.data.len() as u64;
                writer.file(path, executable, size, blob.data.as_slice())?;
            }
            EntryKind::Link => {
                let header = self.repo.find_header(entry.id).map_err(local(reading))?;
                if header.size() > MAX_LINK_BYTES {
                    let path = path.display().to_string();
                    return Err(refused(path, "it is a link to a name that is too long"));
                }
                let blob = self.repo.find_blob(entry.id).map_err(local(reading))?;
                let target = Path::new(OsStr::from_bytes(blob.data.as_bytes()));
                writer.link(path, target)?;
            }
            EntryKind::Commit => {}
        }
        Ok(())
    }
}
