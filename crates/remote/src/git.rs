//! Git repositories elsewhere: their references, the content of their commits, and new commits.
//!
//! There is no work tree and no `git` program behind this (`file://` and `ssh://` start the
//! server's side of git, as git itself does). Every operation works on a small bare repository in a
//! cache directory, which may be deleted at any time.
//!
//! ```no_run
//! # async fn example() -> Result<(), pathline_remote::git::Error> {
//! use pathline_remote::git::{Git, Reference, Remote};
//!
//! let git = Git::new("cache/git");
//! let remote = Remote::new("https://example.org/team/app.git")?;
//! let revision = git.fetch(&remote, &Reference::branch("main")).await?;
//! println!("{revision}"); // main@sha1:4f0c…
//! # Ok(())
//! # }
//! ```

mod ancestry;
mod base_tree;
mod cache;
mod carrier;
mod change;
mod edits;
mod error;
mod file;
pub(crate) mod fuzz;
mod history;
mod let_in;
mod message;
mod objects;
mod pack;
mod push;
mod reference;
mod remote;
mod session;
pub(crate) mod smart;
mod snapshot;
mod tree;
mod wire;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use pathline_clock::{Clock, instant};

pub use ancestry::Kept;
pub use base_tree::{BaseTree, DirEntry, FileKind};
pub use change::{Carrier, Change, Written};
pub use edits::{Author, Edits};
pub use error::Error;
pub(crate) use file::{FetchedFile, FileState};
pub use history::{History, HistoryCommit, IsWanted, Relation};
pub use message::{Trailer, trailers};
pub use reference::{Reference, Revision};
pub(crate) use remote::HttpAccess;
pub use remote::{Credentials, RedactedUrl, Remote};

use crate::archive::{Archive, Limits};
use cache::CachePolicy;
use let_in::LetIn;
use session::Session;

/// Talks to remote repositories; cheap to clone.
#[derive(Clone, Debug)]
pub struct Git {
    cache_dir: Arc<Path>,
    locks: Arc<Mutex<HashMap<PathBuf, CacheLock>>>,
    max_pack_bytes: u64,
    clock: Clock,
    let_in: LetIn,
}

/// Held while somebody works in one cached repository.
type CacheLock = Arc<tokio::sync::Mutex<()>>;

impl Git {
    /// Keeps its cached repositories in `cache_dir`, which is created when it is needed.
    ///
    /// One process at a time may use a cache directory.
    pub fn new(cache_dir: impl AsRef<Path>) -> Self {
        Self {
            cache_dir: cache_dir.as_ref().into(),
            locks: Arc::default(),
            max_pack_bytes: pack::MAX_PACK_BYTES,
            clock: Clock::system(),
            let_in: LetIn::new(),
        }
    }

    /// Takes no packs that are larger than this, nor than 2 GiB.
    #[must_use]
    pub fn with_max_pack_bytes(mut self, bytes: u64) -> Self {
        self.max_pack_bytes = bytes.min(pack::MAX_PACK_BYTES);
        self
    }

    /// Dates the commits that it makes by a clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the commit that `reference` names on the remote, without fetching it.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownReference`] when the remote has no such reference, else whatever kept the
    /// remote from answering.
    pub async fn resolve(&self, remote: &Remote, reference: &Reference) -> Result<Revision, Error> {
        let reference = reference.clone();
        self.with_session(remote, "list the references of", move |session| {
            session.resolve(&reference)
        })
        .await
    }

    /// Fetches the commit that `reference` names, with its content but without its history.
    ///
    /// # Errors
    ///
    /// As [`Git::resolve`].
    pub async fn fetch(&self, remote: &Remote, reference: &Reference) -> Result<Revision, Error> {
        let reference = reference.clone();
        self.with_session(remote, "fetch from", move |session| {
            session.fetch(&reference)
        })
        .await
    }

    /// Packs the content of a fetched commit into an archive in `into`.
    ///
    /// Submodules are left out. The same commit always gives the same bytes.
    ///
    /// # Errors
    ///
    /// Fails when the commit was not fetched before, or a link in it leaves the repository.
    pub async fn archive(
        &self,
        remote: &Remote,
        revision: &Revision,
        into: &Path,
        limits: Limits,
    ) -> Result<Archive, Error> {
        let (commit, into) = (revision.commit.clone(), into.to_owned());
        let (cache, policy) = (remote.cache_name(), CachePolicy::AsIs);
        self.with_cache(cache, policy, remote, "pack a commit of", move |session| {
            session.archive(&commit, &into, limits)
        })
        .await
    }

    /// Edits a branch in one commit and pushes it.
    ///
    /// Other writers may push to the branch at the same time: the push only succeeds on top of the
    /// commit this one was built on; otherwise the edit runs again, on the newer one. A branch that
    /// does not exist is created. When the edit changes nothing, nothing is written, and the answer
    /// names the commit that carries the change.
    ///
    /// # Errors
    ///
    /// The error of the edit itself, and [`Error::UnknownReference`] when it writes nothing to a branch
    /// that does not exist, [`Error::Contended`] when others were faster every time,
    /// [`Error::Rejected`] when the remote declines, or whatever kept it from answering. The branch is as it
    /// was in all those cases, except after a [`Error::TimedOut`] or a broken connection, when the commit
    /// may have arrived: doing the same again is right, and then writes nothing.
    pub async fn commit<E>(&self, remote: &Remote, mut change: Change<E>) -> Result<Written, E>
    where
        E: From<Error> + Send + 'static,
    {
        change.check()?;
        self.with_session(remote, "write to", move |session| {
            session.commit(&mut change)
        })
        .await
    }

    /// Tells what became, at the commit `later`, of files that the commit `written` has.
    ///
    /// Both are full ids. The history is kept beside the content that [`Git::fetch`] keeps, and only
    /// what is new is fetched the next time.
    ///
    /// # Errors
    ///
    /// Fails when the remote does not have `later`, or does not answer.
    pub async fn kept(
        &self,
        remote: &Remote,
        written: &str,
        files: &[String],
        later: &str,
    ) -> Result<Kept, Error> {
        let (written, later, files) = (written.to_owned(), later.to_owned(), files.to_vec());
        self.with_history(remote, move |session| {
            session.kept(&written, &files, &later)
        })
        .await
    }

    /// Lists the commits that lead from one commit to another, with the wanted files that each of them touches.
    ///
    /// Both are full ids. The commits are those of `git rev-list --full-history FROM..TO -- FILES`, except merges
    /// that are like one of their parents.
    ///
    /// # Errors
    ///
    /// Fails when the remote does not have `to`, does not answer, or has too many commits between the two.
    pub async fn history(
        &self,
        remote: &Remote,
        from: &str,
        to: &str,
        is_wanted: IsWanted,
    ) -> Result<History, Error> {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.with_history(remote, move |session| {
            session.history(&from, &to, &is_wanted)
        })
        .await
    }

    /// Works on the repository that has all commits, beside the one that has the content of some.
    async fn with_history<T: Send + 'static>(
        &self,
        remote: &Remote,
        operation: impl FnOnce(&Session) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let cache = format!("{}-history", remote.cache_name());
        let policy = CachePolicy::History;
        self.with_cache(cache, policy, remote, "read the history of", operation)
            .await
    }

    async fn with_session<T, E>(
        &self,
        remote: &Remote,
        action: &'static str,
        operation: impl FnOnce(&Session) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (cache, policy) = (remote.cache_name(), CachePolicy::Limited);
        self.with_cache(cache, policy, remote, action, operation)
            .await
    }

    /// Runs `operation` on a thread of its own, within the time-out of the remote.
    ///
    /// Not on the runtime's pool: an unresponsive remote would keep the runtime from shutting down.
    /// The lock goes with the thread, so at most one thread waits for an unresponsive remote, and it
    /// gives up when the time is over.
    async fn with_cache<T, E>(
        &self,
        cache_name: String,
        policy: CachePolicy,
        remote: &Remote,
        action: &'static str,
        operation: impl FnOnce(&Session) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let unproven = self.let_in.unproven(&cache_name, remote);
        let cache = self.cache_dir.join(cache_name);
        let lock = self.locks.lock().entry(cache.clone()).or_default().clone();
        let deadline = instant() + remote.timeout();
        let (max_pack_bytes, clock) = (self.max_pack_bytes, self.clock.clone());
        let (answer, answered) = tokio::sync::oneshot::channel();
        let session_remote = remote.clone();
        let work = async move {
            let held = lock.lock_owned().await;
            let started = std::thread::Builder::new()
                .name("git".into())
                .spawn(move || {
                    let _held = held;
                    let result = Session::open(&cache, policy, session_remote, action, deadline)
                        .map(|it| it.with_max_pack_bytes(max_pack_bytes).with_clock(clock))
                        .and_then(|session| {
                            unproven.prove(&session)?;
                            Ok(session)
                        })
                        .map_err(E::from)
                        .and_then(|session| {
                            let result = operation(&session);
                            session.close();
                            result
                        });
                    // Nobody listens any more after a time-out.
                    let _ = answer.send(result);
                });
            if let Err(source) = started {
                return Err(E::from(Error::Local {
                    action: "start a thread",
                    detail: source.to_string(),
                }));
            }
            answered.await.unwrap_or_else(|_| {
                Err(E::from(Error::Local {
                    action,
                    detail: "the operation panicked".into(),
                }))
            })
        };
        match tokio::time::timeout(remote.timeout(), work).await {
            Ok(result) => result,
            Err(_) => Err(E::from(Error::TimedOut {
                action,
                url: remote.url().clone(),
                seconds: remote.timeout().as_secs(),
            })),
        }
    }
}
