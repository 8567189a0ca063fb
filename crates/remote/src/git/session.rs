//! One conversation with a remote, on top of its cached repository. Everything here blocks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gix::bstr::BStr;
use gix::credentials::{helper, protocol};
use gix::progress::Discard;
use gix::protocol::handshake::Ref;
use gix::remote::fetch::{Shallow, Tags};
use gix::remote::{Direction, ref_map};
use gix::{ObjectId, Repository};

use super::error::chain;
use super::{Error, Reference, Remote, Revision};

/// Every fetch adds a pack; with this many, starting afresh is cheaper than keeping them.
const MOST_PACKS: usize = 50;

/// A cached repository and the remote it belongs to.
pub(super) struct Session {
    pub(super) repo: Repository,
    pub(super) remote: Remote,
    action: &'static str,
    pub(super) interrupt: Arc<AtomicBool>,
}

impl Session {
    /// Opens the cached repository, or makes a new one when there is none that works.
    pub(super) fn open(
        cache: &Path,
        remote: Remote,
        action: &'static str,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let kept = if pack_count(cache) > MOST_PACKS {
            None
        } else {
            open_cache(cache).ok()
        };
        let repo = match kept {
            Some(repo) => repo,
            None => create_cache(cache)?,
        };
        Ok(Self {
            repo,
            remote,
            action,
            interrupt,
        })
    }

    /// Asks the remote which commit `reference` names.
    pub(super) fn resolve(&self, reference: &Reference) -> Result<Revision, Error> {
        let name = reference.full_name()?;
        if let Reference::Commit { id, .. } = reference {
            return Ok(reference.at(id));
        }
        let remote = self.gix_remote(&name)?;
        let connection = remote
            .connect(Direction::Fetch)
            .map_err(|e| self.failed(&e))?;
        let (map, _) = connection
            .with_credentials(|action| self.authenticate(action))
            .ref_map(Discard, ref_map::Options::default())
            .map_err(|e| self.failed(&e))?;
        let commit = commit_of(&map.remote_refs, &name);
        commit
            .map(|id| reference.at(id))
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
        let remote = self.gix_remote(&name)?;
        let connection = remote
            .connect(Direction::Fetch)
            .map_err(|e| self.failed(&e))?;
        let prepared = connection
            .with_credentials(|action| self.authenticate(action))
            .prepare_fetch(Discard, ref_map::Options::default())
            .map_err(|e| self.failed(&e))?;
        let commit = by_id.or_else(|| commit_of(&prepared.ref_map().remote_refs, &name));
        let commit = commit.ok_or_else(|| self.unknown(reference))?;
        if !self.repo.has_object(commit) {
            prepared
                .with_shallow(Shallow::DepthAtRemote(std::num::NonZeroU32::MIN))
                .receive(Discard, &self.interrupt)
                .map_err(|e| self.failed(&e))?;
        }
        self.repo.find_commit(commit).map_err(|e| self.failed(&e))?;
        Ok(reference.at(commit))
    }

    /// Answers the question of the transport for credentials.
    pub(super) fn authenticate(
        &self,
        action: helper::Action,
    ) -> gix::Result<Option<protocol::Outcome>> {
        let (helper::Action::Get(context), Some(known)) = (action, self.remote.credentials())
        else {
            return Ok(None);
        };
        let identity = gix::sec::identity::Account {
            username: known.username.clone(),
            password: known.password.clone(),
            oauth_refresh_token: None,
        };
        Ok(Some(protocol::Outcome {
            identity,
            next: context.into(),
        }))
    }

    /// Turns a failed conversation into an error that names the remote.
    pub(super) fn failed(&self, error: &gix::Error) -> Error {
        let url = self.remote.url().clone();
        let detail = chain(error);
        if error.is_unauthenticated() {
            Error::Unauthenticated { url, detail }
        } else {
            Error::Unreachable {
                action: self.action,
                url,
                detail,
            }
        }
    }

    fn unknown(&self, reference: &Reference) -> Error {
        let url = self.remote.url().clone();
        Error::UnknownReference {
            url,
            reference: reference.to_string(),
        }
    }

    pub(super) fn gix_remote(&self, source: &str) -> Result<gix::Remote<'_>, Error> {
        let spec = format!("+{source}:refs/pathline/{source}");
        self.repo
            .remote_at(self.remote.url().as_gix().clone())
            .map(|remote| remote.with_fetch_tags(Tags::None))
            .and_then(|remote| remote.with_refspecs([BStr::new(&spec)], Direction::Fetch))
            .map_err(|e| local("prepare a fetch")(e))
    }
}

/// Wraps what went wrong in the cached repository.
pub(super) fn local(action: &'static str) -> impl FnOnce(gix::Error) -> Error {
    move |error| Error::Local {
        action,
        detail: chain(&error),
    }
}

/// The commit a reference stands for: that of the tag, when it names an annotated one.
fn commit_of(refs: &[Ref], name: &str) -> Option<ObjectId> {
    refs.iter()
        .map(Ref::unpack)
        .find(|(found, ..)| *found == name)
        .and_then(|(_, target, peeled)| {
            peeled
                .or(target)
                .filter(|id| !id.is_null())
                .map(ToOwned::to_owned)
        })
}

fn pack_count(cache: &Path) -> usize {
    std::fs::read_dir(cache.join("objects/pack")).map_or(0, |entries| {
        entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|kind| kind == "pack"))
            .count()
    })
}

/// Nobody is asked for a password, and ssh gives up rather than hang.
fn options() -> gix::open::Options {
    gix::open::Options::isolated()
        .open_path_as_is(true)
        .config_overrides([
            "gitoxide.credentials.terminalPrompt=false",
            "core.sshCommand=ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=20",
            "gc.auto=0",
        ])
}

fn open_cache(cache: &Path) -> gix::Result<Repository> {
    options().open(cache).map(|repo| repo.to_thread_local())
}

fn create_cache(cache: &Path) -> Result<Repository, Error> {
    let parent = cache.parent().unwrap_or(cache);
    let prepared = match std::fs::remove_dir_all(cache) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => std::fs::create_dir_all(parent),
    };
    prepared.map_err(|e| Error::Local {
        action: "make room for a cached repository",
        detail: format!("{}: {e}", cache.display()),
    })?;
    gix::ThreadSafeRepository::init_opts(
        cache,
        gix::create::Kind::Bare,
        gix::create::Options::default(),
        options(),
    )
    .map(|repo| repo.to_thread_local())
    .map_err(local("create a cached repository"))
}
