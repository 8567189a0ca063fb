//! Writing archives.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};
use tempfile::NamedTempFile;

use super::links::Links;
use super::{Archive, Budget, Error, Limits, is_inside};

/// Packs everything below `source` into `into` and returns the archive.
///
/// Symbolic links are kept as links and must stay inside; nothing is followed.
///
/// # Errors
///
/// Fails when a link escapes, a limit is passed, or reading or writing fails. Nothing is left behind then.
pub fn pack_directory(source: &Path, into: &Path, limits: Limits) -> Result<Archive, Error> {
    let mut writer = Writer::create(into, limits)?;
    // What is still to be packed, the next one last.
    let mut pending = list(source, Path::new(""), limits)?;
    while let Some(path) = pending.pop() {
        let location = source.join(&path);
        let found = fs::symlink_metadata(&location).map_err(Error::io("read", &location))?;
        if found.is_dir() {
            writer.directory(&path)?;
            pending.extend(list(source, &path, limits)?);
        } else if found.is_symlink() {
            let target = fs::read_link(&location).map_err(Error::io("read", &location))?;
            writer.link(&path, &target)?;
        } else if found.is_file() {
            let file = File::open(&location).map_err(Error::io("open", &location))?;
            let executable = found.permissions().mode() & 0o100 != 0;
            writer.file(&path, executable, found.len(), file)?;
        } else {
            return Err(Error::Unsupported { path });
        }
    }
    writer.finish()
}

/// Returns the paths of what is in a directory, the last one first.
fn list(root: &Path, directory: &Path, limits: Limits) -> Result<Vec<PathBuf>, Error> {
    let location = root.join(directory);
    let most = usize::try_from(limits.entries).unwrap_or(usize::MAX);
    let names = fs::read_dir(&location).and_then(|entries| {
        // One more than is allowed is enough to be refused.
        let entries = entries.take(most.saturating_add(1));
        let names = entries.map(|entry| entry.map(|found| found.file_name()));
        names.collect::<Result<Vec<_>, _>>()
    });
    let mut names = names.map_err(Error::io("list", &location))?;
    names.sort_by(|one, two| two.cmp(one));
    Ok(names.into_iter().map(|name| directory.join(name)).collect())
}

/// Writes one archive; entries must come in the order in which they shall be kept.
pub(crate) struct Writer {
    tar: Builder<GzEncoder<HashedFile>>,
    budget: Budget,
    links: Links,
    into: PathBuf,
}

impl Writer {
    /// Starts an archive that will be kept in `into`, which is created when it is missing.
    pub(crate) fn create(into: &Path, limits: Limits) -> Result<Self, Error> {
        fs::create_dir_all(into).map_err(Error::io("create", into))?;
        let file = NamedTempFile::new_in(into).map_err(Error::io("write to", into))?;
        let hashed = HashedFile {
            file,
            hasher: Sha256::new(),
            size: 0,
        };
        // 255 means "unknown system": the default differs between platforms.
        let gzip = GzBuilder::new().mtime(0).operating_system(255);
        let tar = Builder::new(gzip.write(hashed, Compression::default()));
        Ok(Self {
            tar,
            budget: Budget::new(limits),
            links: Links::default(),
            into: into.to_owned(),
        })
    }

    /// Adds a directory.
    pub(crate) fn directory(&mut self, path: &Path) -> Result<(), Error> {
        self.check(path, 0)?;
        let mut header = plain_header(EntryType::Directory, 0o755, 0);
        let added = self.tar.append_data(&mut header, path, io::empty());
        added.map_err(Error::io("pack", path))
    }

    /// Adds a file with exactly `size` bytes of `content`.
    pub(crate) fn file(
        &mut self,
        path: &Path,
        executable: bool,
        size: u64,
        content: impl Read,
    ) -> Result<(), Error> {
        self.check(path, size)?;
        let mode = if executable { 0o755 } else { 0o644 };
        let mut header = plain_header(EntryType::Regular, mode, size);
        let mut exact = Exactly {
            inner: content,
            left: size,
        };
        let added = self.tar.append_data(&mut header, path, &mut exact);
        added.map_err(Error::io("pack", path))
    }

    /// Adds a symbolic link. Whether it leads out is known when all are there.
    pub(crate) fn link(&mut self, path: &Path, target: &Path) -> Result<(), Error> {
        self.check(path, 0)?;
        self.links.add(path.to_owned(), target.to_owned())?;
        let mut header = plain_header(EntryType::Symlink, 0o777, 0);
        self.tar
            .append_link(&mut header, path, target)
            .map_err(Error::io("pack", path))
    }

    /// Completes the archive and moves it, synced, to its place.
    pub(crate) fn finish(self) -> Result<Archive, Error> {
        let Self {
            tar, into, links, ..
        } = self;
        links.check()?;
        let hashed = tar
            .into_inner()
            .and_then(GzEncoder::finish)
            .map_err(Error::io("complete an archive in", &into))?;
        let digest = hex(&hashed.hasher.finalize());
        let path = into.join(format!("sha256-{digest}.tar.gz"));
        hashed
            .file
            .as_file()
            .sync_all()
            .map_err(Error::io("sync", &path))?;
        hashed
            .file
            .persist(&path)
            .map_err(|failed| Error::io("write", &path)(failed.error))?;
        File::open(&into)
            .and_then(|directory| directory.sync_all())
            .map_err(Error::io("sync", &into))?;
        Ok(Archive {
            path,
            digest,
            size: hashed.size,
        })
    }

    fn check(&mut self, path: &Path, size: u64) -> Result<(), Error> {
        if !is_inside(path) {
            return Err(Error::Escapes {
                path: path.to_owned(),
            });
        }
        self.budget.spend(path, size)
    }
}

fn plain_header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes any text");
        text
    })
}

/// A reader that fails rather than ends early: a file that shrinks while it is packed would
/// otherwise shift everything behind it.
struct Exactly<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Exactly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let count = self.inner.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it shrank while being read",
            ));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// A file that knows the digest of what was written to it.
struct HashedFile {
    file: NamedTempFile,
    hasher: Sha256,
    size: u64,
}

impl Write for HashedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.file.write(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_that_shrinks_or_grows_is_not_packed_as_it_was_not() {
        let read = |content: &[u8], size| {
            let mut exact = Exactly {
                inner: content,
                left: size,
            };
            let mut found = Vec::new();
            exact.read_to_end(&mut found).map(|_| found)
        };
        assert_eq!(read(b"abc", 3).unwrap(), b"abc");
        assert_eq!(read(b"abcdef", 3).unwrap(), b"abc", "what came later");
        assert_eq!(read(b"", 0).unwrap(), b"");
        let shrunk = read(b"ab", 3).unwrap_err();
        assert_eq!(shrunk.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn archive_that_fails_leaves_nothing() -> io::Result<()> {
        let into = tempfile::tempdir()?;
        let limits = Limits {
            bytes: 10,
            entries: 2,
            depth: 2,
        };
        let begin = || Writer::create(into.path(), limits).unwrap();
        let content = || [0_u8; 20].as_slice();
        assert!(begin().file(Path::new("a"), false, 11, content()).is_err());
        assert!(
            begin()
                .file(Path::new("../a"), false, 1, content())
                .is_err()
        );
        assert!(
            begin().directory(Path::new("a/b/c")).is_err(),
            "it is too deep"
        );
        assert!(begin().link(Path::new("/a"), Path::new("b")).is_err());
        let mut writer = begin();
        writer.link(Path::new("a"), Path::new("../b")).unwrap();
        assert!(matches!(writer.finish(), Err(Error::Escapes { .. })));
        let mut writer = begin();
        for name in ["a", "b"] {
            writer.directory(Path::new(name)).unwrap();
        }
        let third = writer.directory(Path::new("c"));
        assert!(matches!(
            third,
            Err(Error::TooLarge {
                what: "entries",
                ..
            })
        ));
        drop(writer);
        assert_eq!(fs::read_dir(into.path())?.count(), 0);
        Ok(())
    }
}
