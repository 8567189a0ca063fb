//! Sources: one file of a git repository, followed by its hash.
//!
//! A poll that finds nothing new is one small request: GitHub answers 304 to the commit that is known, other hosts list one
//! reference in version 2 of git's protocol. Only when the commit has moved, its trees are asked for on the way to the
//! file, and the file only when it is another one.

mod asking;
mod cached;
mod error;
mod github;
mod hosts;
mod request;
mod smart;
mod walk;

pub use self::error::{SourceError, SourceErrorKind};
pub use self::request::{Known, SourceAnswer, SourceReference, SourceRequest};

use std::sync::Arc;

use self::hosts::Hosts;
use crate::git::Git;
use crate::http::{HttpClient, Pace, Signs};

/// The largest file that is read.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// Reads files of repositories elsewhere; cheap to clone.
#[derive(Clone, Debug)]
pub struct SourceClient {
    http: HttpClient,
    git: Git,
    hosts: Hosts,
}

impl SourceClient {
    /// Asks over `http`; repositories that need more than that are cached by `git`.
    pub fn new(http: HttpClient, git: Git) -> Self {
        Self {
            http,
            git,
            hosts: Hosts::default(),
        }
    }

    /// Returns the same client, which knows the same of hosts, whose requests wait for their turn.
    #[must_use]
    pub fn paced(&self, pace: Arc<dyn Pace>) -> Self {
        Self {
            http: self.http.paced(pace),
            ..self.clone()
        }
    }

    /// Reads a file, unless it is as it is known.
    ///
    /// # Errors
    ///
    /// See [`SourceErrorKind`].
    pub async fn read(
        &self,
        request: &SourceRequest,
        known: Option<&Known>,
    ) -> Result<(SourceAnswer, Signs), SourceError> {
        if let (SourceReference::Commit(commit), Some(known)) = (&request.reference, known)
            && *commit == known.commit
        {
            return Ok((SourceAnswer::Unchanged, Signs::default()));
        }
        if request.github_api.is_some() {
            return self.read_github(request, known).await;
        }
        match request.url.split_once("://").map(|(scheme, _)| scheme) {
            Some("https" | "http") => self.read_smart(request, known).await,
            _ => self.read_cached(request, known).await,
        }
    }
}

/// Tells whether the commit is the known one.
fn is_known(known: Option<&Known>, commit: &str) -> bool {
    known.is_some_and(|it| it.commit == commit)
}

/// Returns the blob that is known.
fn known_blob(known: Option<&Known>) -> Option<&str> {
    known.and_then(|it| it.blob.as_deref())
}

/// Makes an answer of a file that was read.
fn answer(known: Option<&Known>, commit: String, blob: String, content: Vec<u8>) -> SourceAnswer {
    if is_known(known, &commit) && known_blob(known) == Some(&*blob) {
        SourceAnswer::Unchanged
    } else if known_blob(known) == Some(&*blob) {
        SourceAnswer::Moved { commit, blob }
    } else {
        SourceAnswer::Read {
            commit,
            blob,
            content,
        }
    }
}
