//! One conversation with a remote, on top of its cached repository. Everything here blocks.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use gix::refs::transaction::PreviousValue;
use gix::{ObjectId, Repository};
use pathline_clock::Clock;
use tokio::time::Instant;

use super::cache::{self, CachePolicy};
use super::error::chain;
use super::wire::advertisement::{Advertisement, Tip, handshake};
use super::wire::fetch::Want;
use super::wire::guard::{Exceeded, Guard, Unauthenticated};
use super::wire::{Connection, Service, Version};
use super::{Error, Reference, Remote, Revision, pack};

/// The references whose commits are in the cached repository.
const REFERENCES: &str = "refs/pathline/";
/// The most commits that a remote is told to be there.
const MAX_HAVES: usize = 64;

/// A cached repository and the remote it belongs to.
pub(super) struct Session {
    pub(super) repo: Repository,
    pub(super) remote: Remote,
    action: &'static str,
    pub(super) guard: Rc<Guard>,
    max_pack_bytes: u64,
    pub(super) clock: Clock,
    is_damaged: Cell<bool>,
}

impl Session {
    /// Opens the cached repository, or makes a new one when there is none that works.
    pub(super) fn open(
        path: &Path,
        policy: CachePolicy,
        remote: Remote,
        action: &'static str,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let repo = match cache::open(path, policy) {
            Some(repo) => repo,
            None => cache::create(path)?,
        };
        Ok(Self {
            repo,
            remote,
            action,
            guard: Rc::new(Guard::new(deadline)),
            max_pack_bytes: pack::MAX_PACK_BYTES,
            clock: Clock::system(),
            is_damaged: Cell::new(false),
        })
    }

    pub(super) fn with_max_pack_bytes(mut self, bytes: u64) -> Self {
        self.max_pack_bytes = bytes;
        self
    }

    pub(super) fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Notes that an object of the cached repository cannot be read, and says so.
    pub(super) fn damaged(&self, action: &'static str, detail: String) -> Error {
        self.is_damaged.set(true);
        Error::Local { action, detail }
    }

    /// Ends the session; a cached repository that cannot be read is made anew by the next one.
    pub(super) fn close(self) {
        if self.is_damaged.get() {
            cache::discard(self.repo.git_dir());
        }
    }

    /// Asks the remote which commit `reference` names.
    pub(super) fn resolve(&self, reference: &Reference) -> Result<Revision, Error> {
        let name = reference.full_name()?;
        if let Reference::Commit { id, .. } = reference {
            return Ok(reference.at(id));
        }
        let (mut connection, known) = self.connect(Service::UploadPack, &name)?;
        let tip = known.find(&mut connection, &self.guard, &name);
        let tip = tip.map_err(|e| self.failed(&e))?;
        connection.finish();
        tip.map(|it| reference.at(it.commit()))
            .ok_or_else(|| self.unknown(reference))
    }

    /// Makes sure that the commit and its content are in the cached repository.
    pub(super) fn fetch(&self, reference: &Reference) -> Result<Revision, Error> {
        let name = reference.full_name()?;
        let by_id = match reference {
            Reference::Commit { id, .. } => ObjectId::from_hex(id.as_bytes()).ok(),
            _ => None,
        };
        if let Some(commit) = by_id.filter(|id| self.repo.has_object(id)) {
            return Ok(reference.at(commit));
        }
        let (mut connection, known) = self.connect(Service::UploadPack, &name)?;
        let tip = match by_id {
            Some(id) => Some(Tip { id, peeled: None }),
            None => known
                .find(&mut connection, &self.guard, &name)
                .map_err(|e| self.failed(&e))?,
        };
        let tip = tip.ok_or_else(|| self.unknown(reference))?;
        let commit = tip.commit();
        if !self.repo.has_object(commit) {
            let haves = self.known_tips()?;
            self.receive(&mut connection, &known, tip.id, &haves, true)?;
            self.record_tip(&name, commit)?;
        }
        connection.finish();
        self.tree_of(commit)?;
        Ok(reference.at(commit))
    }

    /// Connects, and looks for the reference `name` in what the remote says first.
    pub(super) fn connect(
        &self,
        service: Service,
        name: &str,
    ) -> Result<(Connection, Advertisement), Error> {
        let version = match service {
            Service::UploadPack => Version::V2,
            Service::ReceivePack => Version::V0,
        };
        let connected = Connection::open(&self.remote, service, version, self.guard.clone())
            .and_then(|mut connection| {
                let known = handshake(&mut connection, &self.guard, name)?;
                Ok((connection, known))
            });
        connected.map_err(|e| self.failed(&e))
    }

    /// Fetches an object and everything it needs, except what the cached repository has.
    pub(super) fn receive(
        &self,
        connection: &mut Connection,
        known: &Advertisement,
        id: ObjectId,
        haves: &[ObjectId],
        without_history: bool,
    ) -> Result<(), Error> {
        let git_dir = self.repo.git_dir();
        let received = cache::read_shallow(git_dir).and_then(|mut shallow| {
            let want = Want {
                id,
                haves,
                shallow: &shallow,
                without_history,
            };
            let changed =
                want.fetch(connection, known, &self.guard, self.max_pack_bytes, |it| {
                    pack::receive(it, git_dir, self, &self.guard)
                })?;
            shallow.retain(|it| !changed.removed.contains(it));
            shallow.extend(changed.added);
            cache::write_shallow(git_dir, shallow)
        });
        received.map_err(|e| self.failed(&e))
    }

    /// Remembers that a commit and everything it needs is there.
    pub(super) fn record_tip(&self, name: &str, commit: ObjectId) -> Result<(), Error> {
        let name = format!("{REFERENCES}{name}");
        self.repo
            .reference(name, commit, PreviousValue::Any, "fetch")
            .map_err(local("note what was fetched"))?;
        Ok(())
    }

    /// Returns commits that are there with everything they need.
    pub(super) fn known_tips(&self) -> Result<Vec<ObjectId>, Error> {
        let listing = "list what was fetched";
        let references = self.repo.references().map_err(local(listing))?;
        let references = references.prefixed(REFERENCES).map_err(local(listing))?;
        let known = references
            .filter_map(Result::ok)
            .filter_map(|it| it.try_id().map(gix::Id::detach))
            .filter(|id| self.repo.has_object(id));
        Ok(known.take(MAX_HAVES).collect())
    }

    /// Turns a failed conversation into an error that names the remote.
    pub(super) fn failed(&self, error: &io::Error) -> Error {
        let (action, url) = (self.action, self.remote.url().clone());
        let detail = error.to_string();
        let cause = error.get_ref();
        if error.kind() == io::ErrorKind::TimedOut {
            let seconds = self.remote.timeout().as_secs();
            Error::TimedOut {
                action,
                url,
                seconds,
            }
        } else if cause.is_some_and(|it| it.is::<Unauthenticated>()) {
            Error::Unauthenticated { url, detail }
        } else if cause.is_some_and(|it| it.is::<Exceeded>()) {
            Error::TooLarge {
                action,
                url,
                detail,
            }
        } else {
            Error::Unreachable {
                action,
                url,
                detail,
            }
        }
    }

    /// Refuses what the remote has more of than is read.
    pub(super) fn too_large(&self, detail: String) -> Error {
        Error::TooLarge {
            action: self.action,
            url: self.remote.url().clone(),
            detail,
        }
    }

    /// Ends an operation that took too long.
    pub(super) fn check_time(&self) -> Result<(), Error> {
        let left = self.guard.remaining();
        left.map(drop).map_err(|e| self.failed(&e))
    }

    pub(super) fn unknown(&self, reference: &Reference) -> Error {
        let url = self.remote.url().clone();
        Error::UnknownReference {
            url,
            reference: reference.to_string(),
        }
    }
}

/// Wraps what went wrong in the cached repository.
pub(super) fn local(action: &'static str) -> impl FnOnce(gix::Error) -> Error {
    move |error| Error::Local {
        action,
        detail: chain(&error),
    }
}
