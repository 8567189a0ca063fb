//! Cached repositories on disk.

use std::io;
use std::path::Path;

use gix::{ObjectId, Repository};

use super::Error;
use super::session::local;
use super::wire::guard::Exceeded;

/// Every fetch adds a pack; with this many, starting afresh is cheaper than keeping them.
const MAX_PACKS: usize = 50;
/// A history is worth more packs: each is looked into for every commit, but none is fetched again.
const MAX_HISTORY_PACKS: usize = 1_000;
/// The size of a cached repository at which it is made anew.
const MAX_CACHE_BYTES: u64 = 4 << 30;
/// The most commits whose parents are not there: each is told to the remote at every fetch.
const MAX_SHALLOW: u64 = 20_000;
/// A file that says by which rules the objects of a cached repository are kept.
const LAYOUT: (&str, &str) = ("pathline-layout", "2\n");

/// Says whether a cached repository that is too large is made anew when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CachePolicy {
    /// Started afresh when it has become large.
    Limited,
    /// Started afresh only when it has become very large: a history is fetched whole, and then bit by bit.
    History,
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
pub(super) fn open(cache: &Path, policy: CachePolicy) -> Option<Repository> {
    let (name, layout) = LAYOUT;
    let found = std::fs::read_to_string(cache.join(name)).ok();
    found.filter(|it| it == layout)?;
    let max_packs = match policy {
        CachePolicy::Limited => Some(MAX_PACKS),
        CachePolicy::History => Some(MAX_HISTORY_PACKS),
        CachePolicy::AsIs => None,
    };
    if let Some(max_packs) = max_packs {
        let (packs, bytes) = usage(&cache.join("objects"));
        if packs > max_packs || bytes > MAX_CACHE_BYTES {
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

/// Marks a cached repository as one that is made anew when it is opened next.
pub(super) fn discard(cache: &Path) {
    // If this fails, too, the next operation meets the same damage.
    let _ = std::fs::remove_file(cache.join(LAYOUT.0));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shallow_commits_are_kept_once_and_in_order() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path();
        assert!(read_shallow(path)?.is_empty());
        write_shallow(path, Vec::new())?;
        assert!(!path.join("shallow").exists());
        let ids = [b"2", b"1", b"2"].map(|it| ObjectId::from_hex(&it.repeat(40)));
        let [two, one, again] = ids.map(|it| it.expect("it is an id"));
        write_shallow(path, vec![two, one, again])?;
        assert_eq!(read_shallow(path)?, [one, two]);
        let text = format!("{one}\nnonsense\n\n12\n{two}");
        std::fs::write(path.join("shallow"), text)?;
        assert_eq!(read_shallow(path)?, [one, two], "what is no id is left out");
        Ok(())
    }

    #[test]
    fn too_many_shallow_commits_are_refused_and_the_old_ones_stay() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let id = |number: u64| {
            let hex = format!("{number:040x}");
            ObjectId::from_hex(hex.as_bytes()).expect("it is an id")
        };
        write_shallow(directory.path(), vec![id(7)])?;
        let many = (0..=MAX_SHALLOW).map(id).collect();
        let error = write_shallow(directory.path(), many).unwrap_err();
        assert!(
            error.to_string().contains("at most 20000 are taken"),
            "{error}"
        );
        assert_eq!(read_shallow(directory.path())?, [id(7)]);
        Ok(())
    }

    #[test]
    fn cache_of_another_layout_is_not_opened_but_replaced() -> Result<(), Box<dyn std::error::Error>>
    {
        let directory = tempfile::tempdir()?;
        let cache = directory.path().join("a.git");
        assert!(
            open(&cache, CachePolicy::Limited).is_none(),
            "there is none"
        );
        create(&cache)?;
        std::fs::write(cache.join("objects/left"), "over")?;
        assert!(open(&cache, CachePolicy::Limited).is_some());
        for layout in ["1\n", "", "2"] {
            std::fs::write(cache.join(LAYOUT.0), layout)?;
            assert!(open(&cache, CachePolicy::AsIs).is_none(), "{layout:?}");
        }
        create(&cache)?;
        assert!(!cache.join("objects/left").exists(), "it is a new one");
        assert!(open(&cache, CachePolicy::AsIs).is_some());
        Ok(())
    }

    #[test]
    fn cache_with_many_packs_is_made_anew_unless_it_is_in_use()
    -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        let cache = directory.path().join("a.git");
        create(&cache)?;
        let packs = cache.join("objects/pack");
        std::fs::create_dir_all(&packs)?;
        for number in 0..=MAX_PACKS {
            assert!(
                open(&cache, CachePolicy::Limited).is_some(),
                "{number} packs"
            );
            std::fs::write(packs.join(format!("pack-{number}.pack")), "x")?;
        }
        assert_eq!(
            usage(&cache.join("objects")),
            (MAX_PACKS + 1, MAX_PACKS as u64 + 1)
        );
        assert!(open(&cache, CachePolicy::Limited).is_none());
        assert!(open(&cache, CachePolicy::History).is_some());
        assert!(open(&cache, CachePolicy::AsIs).is_some());
        Ok(())
    }
}
