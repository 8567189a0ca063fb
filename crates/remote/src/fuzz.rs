//! Fuzz targets: every reader of foreign bytes, with the laws it must keep.
//!
//! The targets in `crates/remote/fuzz` call these functions; the test below replays the corpus that
//! is committed there, so that what was found once stays fixed without a fuzzer at hand. None of
//! them returns anything: to break a law is to panic.
//!
//! The first byte of an input tells whether the rest is taken as it is, or as a recipe: digests and
//! compressed content are hard to find by chance.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use crate::archive::{Error, Limits, pack_directory, unpack};
pub use crate::git::fuzz::{pack, protocol, tree};

/// Low, so that they are met.
pub(crate) const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    entries: 1000,
    depth: 100,
};

/// Unpacks an archive: nothing lands outside, and what was unpacked can be packed and unpacked again.
pub fn archive(bytes: &[u8]) {
    let Some((mode, rest)) = bytes.split_first() else {
        return;
    };
    let directory = scratch();
    let file = directory.path().join("given.tar.gz");
    write_archive(&file, mode % 2 == 0, rest).expect("the scratch directory is writable");
    let into = directory.path().join("into");
    let unpacked = unpack(&file, &into, LIMITS);
    assert!(unpacked.is_err() || into.is_dir(), "the content is there");
    let beside = fs::read_dir(directory.path()).expect("it is there");
    assert!(beside.count() <= 2, "nothing lands beside the content");
    if unpacked.is_err() {
        return;
    }
    assert_links_stay(&into);
    let kept = directory.path().join("kept");
    let packed = match pack_directory(&into, &kept, LIMITS) {
        Ok(packed) => packed,
        // The writer of archives refuses a long path that begins with what is no text.
        Err(Error::Io { path, .. }) if path.to_str().is_none() => return,
        Err(other) => panic!("what was unpacked can be packed: {other:?}"),
    };
    let again = directory.path().join("again");
    unpack(&packed.path, &again, LIMITS).expect("what was packed can be unpacked");
}

/// Asserts that no link below a directory leads out of it.
fn assert_links_stay(directory: &Path) {
    let root = directory.canonicalize().expect("it is there");
    let mut ahead = vec![root.clone()];
    while let Some(directory) = ahead.pop() {
        for entry in fs::read_dir(directory).expect("it is there").flatten() {
            let kind = entry.file_type().expect("it is there");
            if kind.is_dir() {
                ahead.push(entry.path());
            } else if kind.is_symlink()
                && let Ok(target) = entry.path().canonicalize()
            {
                assert!(target.starts_with(&root), "{target:?} is outside");
            }
        }
    }
}

fn write_archive(file: &Path, is_raw: bool, rest: &[u8]) -> io::Result<()> {
    let mut gzip = GzEncoder::new(fs::File::create(file)?, Compression::fast());
    if is_raw {
        gzip.write_all(rest)?;
        return gzip.finish().map(drop);
    }
    let mut recipe = Recipe(rest);
    let mut tar = Builder::new(gzip);
    while let Some(kind) = recipe.byte() {
        let kinds = b"0025LKxg17";
        let kind = EntryType::new(kinds[usize::from(kind) % kinds.len()]);
        let (name, target, content) = (recipe.bytes(), recipe.bytes(), recipe.bytes());
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        let fields = header.as_old_mut();
        let most = name.len().min(fields.name.len());
        fields.name[..most].copy_from_slice(&name[..most]);
        let most = target.len().min(fields.linkname.len());
        fields.linkname[..most].copy_from_slice(&target[..most]);
        header.set_cksum();
        tar.append(&header, content)?;
    }
    tar.into_inner()?.finish().map(drop)
}

/// Bytes that tell how to make something.
pub(crate) struct Recipe<'a>(pub(crate) &'a [u8]);

impl<'a> Recipe<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Returns as many bytes as the next one says, if there are as many.
    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let count = self.byte().map_or(0, usize::from);
        let (bytes, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        bytes
    }
}

/// A directory, in memory where that is possible.
pub(crate) fn scratch() -> TempDir {
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    made.expect("there is room for scratch files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_corpus_keeps_every_law() {
        type Target = fn(&[u8]);
        let targets: [(&str, Target); 4] = [
            ("archive", archive),
            ("pack", pack),
            ("protocol", protocol),
            ("tree", tree),
        ];
        for (name, target) in targets {
            let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("fuzz/corpus")
                .join(name);
            let inputs = fs::read_dir(&corpus).expect("every target has a corpus");
            let mut count = 0;
            for input in inputs {
                let path = input.expect("listed").path();
                eprintln!("{}", path.display());
                target(&fs::read(path).expect("readable"));
                count += 1;
            }
            assert!(count > 0, "the corpus of {name} is not empty");
        }
    }
}
