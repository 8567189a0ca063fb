//! The content of a commit as an archive.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;

use super::Error;
use super::session::{Session, local};
use crate::archive::{Archive, Limits, Writer};

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
        self.pack_tree(&mut writer, tree, Path::new(""))?;
        Ok(writer.finish()?)
    }

    fn pack_tree(&self, writer: &mut Writer, tree: ObjectId, below: &Path) -> Result<(), Error> {
        let reading = "read a fetched tree";
        let tree = self.repo.find_tree(tree).map_err(local(reading))?;
        let mut entries = tree
            .iter()
            .map(|entry| {
                entry.map(|found| {
                    (
                        OsStr::from_bytes(found.filename()).to_owned(),
                        found.kind(),
                        found.object_id(),
                    )
                })
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(local(reading))?;
        // Git sorts a directory as if its name ended in `/`; archives sort by the plain name.
        entries.sort();
        for (name, kind, id) in entries {
            let path = below.join(name);
            match kind {
                EntryKind::Tree => {
                    writer.directory(&path)?;
                    self.pack_tree(writer, id, &path)?;
                }
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    let blob = self.repo.find_blob(id).map_err(local(reading))?;
                    let executable = kind == EntryKind::BlobExecutable;
                    writer.file(
                        &path,
                        executable,
                        blob.data.len() as u64,
                        blob.data.as_slice(),
                    )?;
                }
                EntryKind::Link => {
                    let blob = self.repo.find_blob(id).map_err(local(reading))?;
                    let target = Path::new(OsStr::from_bytes(blob.data.as_bytes()));
                    writer.link(&path, target)?;
                }
                EntryKind::Commit => {}
            }
        }
        Ok(())
    }
}
