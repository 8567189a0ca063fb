//! Small secret files: made once, readable by their owner only.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file of the data directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", .path.display())]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// The action that failed, such as `read`.
    doing: &'static str,
    /// The error of the system.
    #[source]
    source: io::Error,
}

impl Error {
    /// Says what could not be done with `path`.
    pub(crate) fn new(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self {
            path: path.to_owned(),
            doing,
            source,
        }
    }
}

/// Creates a directory that only its owner may enter, with the ones above it.
pub(crate) fn make_dir(path: &Path) -> Result<(), Error> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    made.map_err(|source| Error::new("create", path, source))
}

/// Makes sure that a file exists and that only its owner may read it.
pub(crate) fn make_private(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::new("create", path, source);
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path);
    file.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)))
        .map_err(failed)?;
    sync_parent(path).map_err(failed)
}

/// Returns the content of a secret file; if there is none, or it is empty, `make` provides it first.
pub(crate) fn read_or_create(path: &Path, make: impl FnOnce() -> String) -> Result<String, Error> {
    if let Some(content) = read(path)? {
        // Whoever copied the directory may have lost the mode on the way.
        fs::set_permissions(path, Permissions::from_mode(0o600))
            .map_err(|source| Error::new("protect", path, source))?;
        return Ok(content);
    }
    let content = make();
    create(path, &content).map_err(|source| Error::new("write", path, source))?;
    Ok(content)
}

/// Returns the content of a secret file, if there is one that is not empty.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(content) => Ok(Some(content).filter(|it| !it.trim().is_empty())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::new("read", path, source)),
    }
}

/// Writes the whole file or, if interrupted, nothing under that name.
fn create(path: &Path, content: &str) -> io::Result<()> {
    let draft = path.with_extension("draft");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    sync_parent(path)
}

/// Makes the name of a file as durable as its content.
fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(directory) => fs::File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once_and_only_its_owner_may_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        assert_eq!(read_or_create(&path, || "first".into()).unwrap(), "first");
        assert_eq!(read_or_create(&path, || "second".into()).unwrap(), "first");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_secret_that_was_emptied_is_made_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "\n").unwrap();
        assert_eq!(read_or_create(&path, || "made".into()).unwrap(), "made");
        assert_eq!(fs::read_to_string(&path).unwrap(), "made");
    }

    #[test]
    fn a_lost_mode_is_restored() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "content").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        read_or_create(&path, || "unused".into()).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}
