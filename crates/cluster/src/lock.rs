//! One process a data directory.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Holds a data directory until dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
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
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(Error::Held {
                    path: data_dir.to_owned(),
                    holder: holder(&mut file),
                });
            }
            Err(error) => return Err(failed(error.into())),
        }
        write_pid(&mut file).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "unknown".to_owned(),
    }
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
}
