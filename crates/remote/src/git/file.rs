//! One file of a commit, for repositories that are read through their cache.

use std::io::Read as _;

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::cache;
use super::session::Session;
use super::{Error, Git, Reference, Remote};

/// A commit, and what it has at a path.
#[derive(Debug)]
pub(crate) struct FetchedFile {
    pub(crate) commit: String,
    pub(crate) state: FileState,
}

/// The state of a file.
#[derive(Debug)]
pub(crate) enum FileState {
    /// There is no file.
    Missing,
    /// It has the content that is known.
    Same,
    /// It is larger than what is read.
    TooLarge,
    /// It has other content.
    Content { blob: String, content: Vec<u8> },
}

impl Git {
    /// Removes what is cached of a repository.
    pub(crate) async fn forget(&self, remote: &Remote) {
        let cache = self.cache_dir.join(remote.cache_name());
        let lock = self.locks.lock().entry(cache.clone()).or_default().clone();
        let held = lock.lock_owned().await;
        let removal = tokio::task::spawn_blocking(move || {
            let _held = held;
            cache::discard(&cache);
            // What cannot be removed now is removed with the whole directory at the next start.
            let _ = std::fs::remove_dir_all(&cache);
        });
        // It ends by itself, and says nothing.
        let _ = removal.await;
    }

    /// Fetches the commit that `reference` names, and reads a file of it that is not larger than `limit` nor the known one.
    pub(crate) async fn read_file(
        &self,
        remote: &Remote,
        reference: &Reference,
        path: &str,
        known_blob: Option<&str>,
        limit: u64,
    ) -> Result<FetchedFile, Error> {
        let (reference, path) = (reference.clone(), path.to_owned());
        let known_blob = known_blob.map(str::to_owned);
        self.with_session(remote, "read a file of", move |session| {
            let revision = session.fetch(&reference)?;
            let state = session.file(&revision.commit, &path, known_blob.as_deref(), limit)?;
            Ok(FetchedFile {
                commit: revision.commit,
                state,
            })
        })
        .await
    }
}

impl Session {
    /// Reads a file of a commit that is in the cached repository.
    fn file(
        &self,
        commit: &str,
        path: &str,
        known_blob: Option<&str>,
        limit: u64,
    ) -> Result<FileState, Error> {
        let reading = "read a fetched file";
        let local = |detail: String| Error::Local {
            action: reading,
            detail,
        };
        let commit =
            ObjectId::from_hex(commit.as_bytes()).map_err(|_| local("it has no id".into()))?;
        let tree = self.tree_of(commit)?;
        let entry = self.look_up(tree, path)?.entry;
        let is_file = |kind| matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable);
        let Some(entry) = entry.filter(|it| is_file(it.kind)) else {
            return Ok(FileState::Missing);
        };
        let blob = entry.id.to_string();
        if known_blob == Some(&*blob) {
            return Ok(FileState::Same);
        }
        if self.size(entry.id, Kind::Blob, u64::MAX)? > limit {
            return Ok(FileState::TooLarge);
        }
        let (_, mut reader) = self.blob(entry.id)?;
        let mut content = Vec::new();
        let read = reader.read_to_end(&mut content);
        read.map_err(|e| local(e.to_string()))?;
        Ok(FileState::Content { blob, content })
    }
}
