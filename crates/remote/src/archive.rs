//! Archives whose bytes depend on their content only.
//!
//! The same files give the same `.tar.gz`, byte for byte, whoever packs them and when: entries are
//! sorted, and times, owners and umasks are left out. Archives are kept under the name of their
//! digest, so writing one twice is harmless.

mod headers;
mod links;
mod pack;
mod unpack;

use std::path::{Component, Path, PathBuf};

pub(crate) use pack::Writer;
pub use pack::pack_directory;
pub use unpack::unpack;

/// The most directories inside one another. Git's own limit is 2048 (`core.maxTreeDepth`); deeper ones
/// could hardly be opened, for a path has at most 4095 bytes.
pub(crate) const MAX_DEPTH: usize = 512;

/// Limits of the content of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes all files together may have.
    pub bytes: u64,
    /// The most files, directories and links.
    pub entries: u64,
    /// The most directories on the way to one of them.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 1 << 30,
            entries: 200_000,
            depth: MAX_DEPTH,
        }
    }
}

/// An archive that is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The path: `<directory>/sha256-<digest>.tar.gz`.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
}

/// The error of packing or unpacking an archive.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The content is larger than the [`Limits`] allow.
    #[error("the content has more than {limit} {what}")]
    TooLarge {
        /// The unit that was counted.
        what: &'static str,
        /// The limit that was passed.
        limit: u64,
    },
    /// A name points outside of the archive.
    #[error("`{}` would leave the archive", .path.display())]
    Escapes {
        /// The offending name, or the link and its target.
        path: PathBuf,
    },
    /// Something that is neither a file, a directory nor a symbolic link.
    #[error("`{}` is neither a file, a directory nor a symbolic link", .path.display())]
    Unsupported {
        /// Its name.
        path: PathBuf,
    },
    /// A name occurs twice.
    #[error("`{}` occurs twice", .path.display())]
    Duplicate {
        /// The name.
        path: PathBuf,
    },
    /// Reading or writing failed.
    #[error("cannot {action} `{}`", .path.display())]
    Io {
        /// The operation.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

/// Counts what goes through and stops at the limits.
#[derive(Debug)]
struct Budget {
    limits: Limits,
    bytes: u64,
    entries: u64,
}

impl Budget {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            bytes: 0,
            entries: 0,
        }
    }

    /// Counts an entry, before anybody looks into it.
    fn spend(&mut self, path: &Path, bytes: u64) -> Result<(), Error> {
        if path.components().count() > self.limits.depth {
            return Err(Error::TooLarge {
                what: "directories inside one another",
                limit: self.limits.depth as u64,
            });
        }
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(Error::TooLarge {
                what: "entries",
                limit: self.limits.entries,
            });
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.bytes {
            return Err(Error::TooLarge {
                what: "bytes",
                limit: self.limits.bytes,
            });
        }
        Ok(())
    }
}

/// Tells whether `path` names something below the directory it is joined to.
fn is_inside(path: &Path) -> bool {
    path.components().next().is_some()
        && path
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_dots_or_a_root_is_outside() {
        assert!(is_inside(Path::new("a/b")));
        for name in ["", "/a", "../a", "a/../../b", "."] {
            assert!(!is_inside(Path::new(name)), "{name:?}");
        }
    }
}
