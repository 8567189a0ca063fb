//! Directories that nobody needs any more, whatever children left in them.
//!
//! A directory is set aside first, which takes no time, and removed later. Directories inside of it are
//! moved out beside it rather than descended into: however deep they are, one is open at a time, and no
//! path grows.

use std::fs::{self, DirEntry, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// A place where directories are set aside.
#[derive(Clone, Debug)]
pub(crate) struct Trash(PathBuf);

impl Trash {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Takes a directory away from its place; it is removed by [`Trash::empty`].
    pub(crate) fn set_aside(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        match fs::rename(directory, self.new_place()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            moved => moved,
        }
    }

    /// Removes everything that was set aside, on a thread of its own.
    pub(crate) fn empty_in_background(&self) {
        let trash = self.clone();
        let emptied = move || {
            if let Err(error) = trash.empty() {
                let directory = trash.0.display();
                tracing::warn!(%directory, %error, "cannot remove what children left behind");
            }
        };
        let started = std::thread::Builder::new()
            .name("trash".into())
            .spawn(emptied);
        if let Err(error) = started {
            tracing::warn!(%error, "what children left behind is removed at the next start");
        }
    }

    /// Removes everything that was set aside. Others may do the same at the same time.
    fn empty(&self) -> io::Result<()> {
        loop {
            let (mut is_empty, mut has_moved, mut failed) = (true, false, None);
            for entry in fs::read_dir(&self.0)? {
                is_empty = false;
                match self.remove(&entry?) {
                    Ok(()) => has_moved = true,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => has_moved = true,
                    Err(error) => failed = Some(error),
                }
            }
            match failed {
                Some(error) if !has_moved => return Err(error),
                None if is_empty => return Ok(()),
                _ => {}
            }
        }
    }

    /// Removes what is in a directory, and the directory when nothing is left in it.
    fn remove(&self, entry: &DirEntry) -> io::Result<()> {
        let directory = entry.path();
        if !entry.file_type()?.is_dir() {
            return fs::remove_file(directory);
        }
        let writable = Permissions::from_mode(0o700);
        fs::set_permissions(&directory, writable.clone())?;
        for inner in fs::read_dir(&directory)? {
            let inner = inner?;
            if inner.file_type()?.is_dir() {
                // To move a directory is to write to it, and a build may have made it read-only.
                fs::set_permissions(inner.path(), writable.clone())?;
                fs::rename(inner.path(), self.new_place())?;
            } else {
                fs::remove_file(inner.path())?;
            }
        }
        match fs::remove_dir(&directory) {
            // What was not listed while others were removed is listed the next time.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }

    fn new_place(&self) -> PathBuf {
        self.0.join(Uuid::new_v4().to_string())
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

    use super::*;

    /// Makes directories inside one another, deeper than any path can say.
    fn dig(directory: &Path, depth: usize) {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut here = openat(CWD, directory, flags, Mode::empty()).unwrap();
        for _ in 0..depth {
            mkdirat(&here, "d", Mode::RWXU).unwrap();
            here = openat(&here, "d", flags, Mode::empty()).unwrap();
        }
    }

    #[test]
    fn hole_2_directories_are_removed_however_deep_they_are() {
        let scratch = tempfile::tempdir().unwrap();
        let (work, trash) = (scratch.path().join("work"), scratch.path().join("trash"));
        fs::create_dir(&work).unwrap();
        let depth = if pathline_testkit::is_nightly() {
            15_000
        } else {
            3_000
        };
        dig(&work, depth);
        let trash = Trash::new(trash);
        trash.set_aside(&work).unwrap();
        assert!(!work.exists(), "it is out of the way at once");
        trash.empty().unwrap();
        assert_eq!(fs::read_dir(&trash.0).unwrap().count(), 0);
    }

    #[test]
    fn directories_that_a_build_made_read_only_are_removed_and_links_are_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = scratch.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        let work = scratch.path().join("work");
        fs::create_dir_all(work.join("a/b")).unwrap();
        fs::write(work.join("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink(&kept, work.join("a/link")).unwrap();
        for directory in ["a/b", "a"] {
            fs::set_permissions(work.join(directory), Permissions::from_mode(0o500)).unwrap();
        }
        let trash = Trash::new(scratch.path().join("trash"));
        trash.set_aside(&work).unwrap();
        trash.empty().unwrap();
        assert_eq!(fs::read_dir(&trash.0).unwrap().count(), 0);
        assert!(kept.join("file").exists());
    }

    #[test]
    fn what_is_not_there_is_set_aside_already() {
        let scratch = tempfile::tempdir().unwrap();
        let trash = Trash::new(scratch.path().join("trash"));
        trash.set_aside(&scratch.path().join("nothing")).unwrap();
    }
}
