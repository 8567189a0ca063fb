//! Cached repositories on disk.

use std::io;
use std::path::Path;

use gix::{ObjectId, Repository};

use super::Error;
use super::session::local;
use super::wire::guard::Exceeded;

/// Every fetch adds a pack; with this many, starting afresh is cheaper than keeping them.
const MOST_PACKS: usize = 50;
/// The size of a cached repository at which it is made anew.
const MAX_CACHE_BYTES: u64 = 4 << 30;
/// The most commits whose parents are not there: each is told to the remote at every fetch.
const MAX_SHALLOW: u64 = 20_000;
/// A file that says by which rules the objects of a cached repository are kept.
const LAYOUT: (&str, &str) = ("pathline-layout", "2\n");

/// Says whether a cached repository that is too large is made anew when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upkeep {
    /// Started afresh when it has become large.
    Limited,
    /// Left alone: what was fetched just before is needed.
    AsIs,
}

/// Returns the commits whose parents are not in the cached repository.
pub(super) fn read_shallow(git_dir: &Path) -> io::Result<Vec<ObjectId>> {
    match std::fs::read_to_string(git_dir.join("shallow")) {
        Ok(text) => Ok(text
            .lines()
            .filter_map(|it| ObjectId::from_hex(it.as_bytes()).ok())
            .collect()),
        Err(failed) if failed.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(failed) => Err(failed),
    }
}

pub(super) fn write_shallow(git_dir: &Path, mut commits: Vec<ObjectId>) -> io::Result<()> {
    if commits.is_empty() {
        return Ok(());
    }
    commits.sort_unstable();
    commits.dedup();
    let what = "the cached repository";
    let unit = "commits without parents";
    Exceeded::check(what, commits.len() as u64, MAX_SHALLOW, unit)?;
    let lines: String = commits.iter().map(|it| format!("{it}\n")).collect();
    let mut file = tempfile::NamedTempFile::new_in(git_dir)?;
    io::Write::write_all(&mut file, lines.as_bytes())?;
    file.persist(git_dir.join("shallow"))?;
    Ok(())
}

/// Opens the cached repository, if there is one that is neither of another kind nor too large.
pub(super) fn open(cache: &Path, upkeep: Upkeep) -> Option<Repository> {
    let (name, layout) = LAYOUT;
    let found = std::fs::read_to_string(cache.join(name)).ok();
    found.filter(|it| it == layout)?;
    if upkeep == Upkeep::Limited {
        let (packs, bytes) = usage(&cache.join("objects"));
        if packs > MOST_PACKS || bytes > MAX_CACHE_BYTES {
            return None;
        }
    }
    let repo = options().open(cache).ok()?;
    Some(repo.to_thread_local())
}

/// Counts the packs and bytes of an object database.
fn usage(objects: &Path) -> (usize, u64) {
    let list = |directory: &Path| std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut sum = (0, 0);
    for directory in list(objects) {
        for file in list(&directory.path()) {
            sum.1 += file.metadata().map_or(0, |it| it.len());
            let path = file.path();
            sum.0 += usize::from(path.extension().is_some_and(|kind| kind == "pack"));
        }
    }
    sum
}

/// No object is whole in memory that is larger than what [`super::pack`] leaves in a pack.
fn options() -> gix::open::Options {
    gix::open::Options::isolated()
        .open_path_as_is(true)
        .config_overrides(["gitoxide.objects.allocLimit=16777216", "gc.auto=0"])
}

/// Makes a new one, in the place of whatever is there.
pub(super) fn create(cache: &Path) -> Result<Repository, Error> {
    let parent = cache.parent().unwrap_or(cache);
    let failed = |e: io::Error| Error::Local {
        action: "make room for a cached repository",
        detail: format!("{}: {e}", cache.display()),
    };
    let prepared = match std::fs::remove_dir_all(cache) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => std::fs::create_dir_all(parent),
    };
    prepared.map_err(failed)?;
    let repo = gix::ThreadSafeRepository::init_opts(
        cache,
        gix::create::Kind::Bare,
        gix::create::Options::default(),
        options(),
    )
    .map(|repo| repo.to_thread_local())
    .map_err(local("create a cached repository"))?;
    let (name, layout) = LAYOUT;
    std::fs::write(cache.join(name), layout).map_err(failed)?;
    Ok(repo)
}
