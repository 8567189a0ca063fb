//! Packs, as they come from a remote.
//!
//! A pack is written to disk while it arrives, and read as a stream: the size of each object is known
//! before anything of it is inflated, and refused if it is too large. Deltas are resolved one by one, in
//! memory if they are small and in files if not, so that no pack takes more memory than its list of
//! objects and a few small ones. What is large ends up as a loose object, which can be read as a stream;
//! everything else stays in the pack, whose index is written here.

mod content;
mod delta;
mod entry;
mod index;
mod made;
mod resolve;
mod stream;

use std::fs::{self, File};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::Kind;

use super::wire::guard::{Exceeded, Guard};
use content::Quarantine;
use resolve::Resolver;

pub(super) use content::open_loose;
pub(super) use entry::{Header, read_header};

/// The largest pack, unless [`super::Git::with_max_pack_bytes`] says less.
pub(super) const MAX_PACK_BYTES: u64 = (2 << 30) - 1;
/// The most objects in one pack. Each takes 32 bytes of memory while the pack is read.
const MAX_OBJECTS: u64 = 1_000_000;
/// The largest file: an archive holds no larger one.
const MAX_BLOB_BYTES: u64 = 1 << 30;
/// The largest directory: some hundred thousand files.
pub(super) const MAX_TREE_BYTES: u64 = 4 << 20;
/// The largest commit or tag.
pub(super) const MAX_COMMIT_BYTES: u64 = 1 << 20;
/// The size above which an object is never whole in memory.
pub(super) const MAX_IN_MEMORY: u64 = 4 << 20;
/// The most bytes of all objects of a pack that are not held in memory.
const MAX_LARGE_BYTES: u64 = 4 << 30;

/// The directory of a cached repository that has what is not complete yet.
const INCOMING: &str = "incoming";

/// Finds objects that were there before the pack.
pub(super) trait Base {
    /// Returns the kind and size of an object.
    fn header(&self, id: ObjectId) -> io::Result<Option<(Kind, u64)>>;
    /// Returns the content of an object that is not large.
    fn small(&self, id: ObjectId) -> io::Result<Vec<u8>>;
}

/// Takes a pack into the cached repository `git_dir`. Nothing is left of one that is not sound.
pub(super) fn receive(
    pack: &mut dyn BufRead,
    git_dir: &Path,
    base: &dyn Base,
    guard: &Guard,
) -> io::Result<()> {
    let incoming = Incoming::create(git_dir)?;
    let quarantine = Quarantine::new(incoming.path(), &git_dir.join("objects"));
    let mut received = stream::read(pack, &incoming.path().join("pack"), quarantine, guard)?;
    Resolver::new(&mut received, base, guard).run()?;
    let stream::Received {
        file,
        mut entries,
        quarantine,
        digest,
        ..
    } = received;
    quarantine.keep()?;
    entries.retain(|it| !it.is_loose());
    if !entries.is_empty() {
        let at = incoming.path().join("index");
        index::write(&at, &mut entries, digest)?;
        file.sync_all()?;
        let place = git_dir.join("objects/pack");
        fs::create_dir_all(&place)?;
        // The pack first: whoever finds an index opens its pack.
        for (from, extension) in [("pack", "pack"), ("index", "idx")] {
            let to = place.join(format!("pack-{digest}.{extension}"));
            fs::rename(incoming.path().join(from), to)?;
        }
        File::open(&place)?.sync_all()?;
    }
    Ok(())
}

/// Refuses an object by what its header says.
fn check_size(kind: Kind, size: u64) -> io::Result<u64> {
    let (what, limit) = match kind {
        Kind::Blob => ("a file", MAX_BLOB_BYTES),
        Kind::Tree => ("a directory", MAX_TREE_BYTES),
        Kind::Commit => ("a commit", MAX_COMMIT_BYTES),
        Kind::Tag => ("a tag", MAX_COMMIT_BYTES),
    };
    Exceeded::check(what, size, limit, "bytes")
}

pub(super) fn corrupt(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the pack is corrupt: {what}"),
    )
}

/// The directory for what is not complete yet; it goes with this.
struct Incoming(PathBuf);

impl Incoming {
    /// Creates it anew: a process that was killed may have left one.
    fn create(git_dir: &Path) -> io::Result<Self> {
        let directory = git_dir.join(INCOMING);
        match fs::remove_dir_all(&directory) {
            Err(failed) if failed.kind() != io::ErrorKind::NotFound => return Err(failed),
            _ => fs::create_dir(&directory)?,
        }
        Ok(Self(directory))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // The next fetch tries again.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use pathline_clock::instant;

    use super::*;

    /// Has no objects.
    struct Nothing;

    impl Base for Nothing {
        fn header(&self, _: ObjectId) -> io::Result<Option<(Kind, u64)>> {
            Ok(None)
        }

        fn small(&self, _: ObjectId) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// Returns a pack of some files that are made from each other.
    fn pack(directory: &Path) -> Vec<u8> {
        pathline_testkit::git(directory, &["init", "-q"]);
        for round in 0..4 {
            let lines: String = (0..200 + round).map(|it| format!("line {it}\n")).collect();
            fs::write(directory.join(format!("file-{round}")), lines).unwrap();
        }
        pathline_testkit::git(directory, &["add", "."]);
        pathline_testkit::git(directory, &["commit", "-q", "-m", "files"]);
        let packed = Command::new("git")
            .args([
                "pack-objects",
                "-q",
                "--all",
                "--stdout",
                "--delta-base-offset",
            ])
            .current_dir(directory)
            .stdin(std::process::Stdio::null())
            .output();
        packed.unwrap().stdout
    }

    fn take(pack: &[u8], git_dir: &Path) -> io::Result<()> {
        let guard = Guard::new(instant() + Duration::from_secs(600));
        receive(&mut &*pack, git_dir, &Nothing, &guard)
    }

    #[test]
    fn hole_4_corrupt_pack_is_refused_and_leaves_nothing() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let pack = pack(directory.path());
        let cache = tempfile::tempdir()?;
        fs::create_dir(cache.path().join("objects"))?;
        for place in 0..pack.len() {
            let mut changed = pack.clone();
            changed[place] ^= 0x10;
            for corrupt in [changed.as_slice(), &pack[..place]] {
                assert!(take(corrupt, cache.path()).is_err(), "at {place}");
            }
            assert_eq!(fs::read_dir(cache.path())?.count(), 1, "at {place}");
            let objects = cache.path().join("objects");
            assert_eq!(fs::read_dir(objects)?.count(), 0, "at {place}");
        }
        take(&pack, cache.path())?;
        let kept = fs::read_dir(cache.path().join("objects/pack"))?.count();
        assert_eq!(kept, 2, "a sound one is taken");
        Ok(())
    }
}
