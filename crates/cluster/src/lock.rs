//! One process a data directory.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Holds a data directory until dropped.
///
/// Both the file `lock` and the directory itself are locked: somebody may remove the file.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    _directory: File,
}

/// The directory cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody else holds it.
    #[error(
        "the data directory {} is in use by process {holder}; stop that process, or use another \
         data directory",
        .path.display()
    )]
    Held {
        /// The data directory.
        path: PathBuf,
        /// The process id it wrote down, or `unknown`.
        holder: String,
    },
    /// The lock file cannot be used.
    #[error("cannot lock the data directory {}", .path.display())]
    Io {
        /// The data directory.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
}

impl Lock {
    /// Takes hold of `data_dir`. The system lets go of it when this process ends, however it ends.
    ///
    /// # Errors
    /// [`Error::Held`] if another process, or this one, holds it already.
    pub(crate) fn acquire(data_dir: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Io {
            path: data_dir.to_owned(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(data_dir.join("lock"))
            .map_err(failed)?;
        let held = |file: &mut File, holder: Option<String>| Error::Held {
            path: data_dir.to_owned(),
            holder: holder
                .or_else(|| read_holder(file))
                .unwrap_or_else(|| "unknown".to_owned()),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(held(&mut file, None)),
            Err(error) => return Err(failed(error.into())),
        }
        let directory = File::open(data_dir).map_err(failed)?;
        // Some file systems have no locks for directories, such as NFS: there the file has to do.
        let locked = flock(&directory, FlockOperation::NonBlockingLockExclusive);
        if locked == Err(Errno::WOULDBLOCK) {
            return Err(held(&mut file, holder_of(&directory)));
        }
        write_pid(&mut file).map_err(failed)?;
        Ok(Self {
            _file: file,
            _directory: directory,
        })
    }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

/// Returns the process that has written itself down.
fn read_holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the process that has locked a file, where the system tells.
fn holder_of(file: &File) -> Option<String> {
    let suffix = format!(":{}", file.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // Such as `7: FLOCK  ADVISORY  WRITE 4242 08:01:1234 0 EOF`.
    let holder = locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, _, pid, inode, ..] if inode.ends_with(&suffix) => Some(pid),
            _ => None,
        }
    });
    holder.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_refused_and_told_who_is_first() {
        let directory = tempfile::tempdir().unwrap();
        let first = Lock::acquire(directory.path()).unwrap();
        let refused = Lock::acquire(directory.path()).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("process {}", std::process::id())),
            "{refused}"
        );
        drop(first);
        Lock::acquire(directory.path()).expect("the first holder let go");
    }

    #[test]
    fn directory_stays_held_when_the_file_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let first = Lock::acquire(directory.path()).unwrap();
        std::fs::remove_file(directory.path().join("lock")).unwrap();
        let refused = Lock::acquire(directory.path()).unwrap_err();
        assert!(matches!(refused, Error::Held { .. }), "{refused}");
        drop(first);
        Lock::acquire(directory.path()).expect("the first holder let go");
    }
}
