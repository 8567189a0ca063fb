//! Directories that nobody needs any more, whatever children left in them.
//!
//! A directory is set aside first, which takes no time, and removed later, on a thread of its own.

mod tree;

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::fs::{AtFlags, CWD, Mode, mkdirat, renameat, unlinkat};
use rustix::io::Errno;
use uuid::Uuid;

use self::tree::{list, open_directory, remove};

/// The number of entries that are listed at a time.
const MAX_LISTED: usize = 256;

/// A place where directories are set aside.
#[derive(Clone, Debug)]
pub(crate) struct Trash {
    place: PathBuf,
    /// Held by whoever removes something: two would only be in each other's way.
    removing: Arc<Mutex<()>>,
}

impl Trash {
    pub(crate) fn new(place: PathBuf) -> Self {
        Self {
            place,
            removing: Arc::default(),
        }
    }

    /// Takes a directory away from its place; it is removed by [`Trash::empty_in_background`].
    pub(crate) fn set_aside(&self, directory: &Path) -> io::Result<()> {
        let trash = self.open()?;
        match renameat(CWD, directory, &trash, Uuid::new_v4().to_string()) {
            Err(Errno::NOENT) => Ok(()),
            moved => Ok(moved?),
        }
    }

    /// Removes everything that was set aside, on a thread of its own.
    pub(crate) fn empty_in_background(&self) {
        let trash = self.clone();
        self.in_background(move || empty(&trash.open()?));
    }

    /// Removes what cannot be set aside, such as what is on a file system of its own.
    pub(crate) fn remove_in_place(&self, directories: Vec<PathBuf>) {
        self.in_background(move || directories.iter().try_for_each(|it| remove_path(it)));
    }

    fn in_background(&self, work: impl FnOnce() -> io::Result<()> + Send + 'static) {
        let trash = self.clone();
        let emptied = move || {
            let _alone = trash.removing.lock();
            if let Err(error) = work() {
                let directory = trash.place.display();
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

    /// Opens the place, and makes it if there is none. What only leads to a directory is not followed.
    fn open(&self) -> io::Result<OwnedFd> {
        loop {
            match open_path(&self.place) {
                Err(Errno::NOENT) => match mkdirat(CWD, &self.place, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                },
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    unlinkat(CWD, &self.place, AtFlags::empty())?;
                }
                opened => return Ok(opened?),
            }
        }
    }
}

fn open_path(directory: &Path) -> Result<OwnedFd, Errno> {
    let name = CString::new(directory.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
    open_directory(CWD, &name)
}

fn remove_path(directory: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Ok(());
    };
    remove(&open_path(parent)?, &CString::new(name.as_bytes())?)
}

/// Removes everything in a directory. What stays does not keep the rest.
fn empty(directory: &OwnedFd) -> io::Result<()> {
    loop {
        let mut names = Vec::new();
        let is_all = list(directory, |name, _| {
            names.push(name.to_owned());
            names.len() < MAX_LISTED
        })?;
        let (mut removed, mut failed) = (0, None);
        for name in &names {
            match remove(directory, name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => failed = Some(error),
                _ => removed += 1,
            }
        }
        match failed {
            Some(error) if removed == 0 => return Err(error),
            None if is_all => return Ok(()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    /// Makes directories inside one another, deeper than any path can say.
    fn dig(directory: &Path, depth: usize) {
        let mut here = open_path(directory).unwrap();
        for _ in 0..depth {
            mkdirat(&here, "d", Mode::RWXU).unwrap();
            here = open_directory(&here, c"d").unwrap();
        }
    }

    fn count(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    /// Sets a directory aside, and removes it.
    fn throw_away(trash: &Trash, directory: &Path) {
        trash.set_aside(directory).unwrap();
        assert!(!directory.exists(), "it is out of the way at once");
        empty(&trash.open().unwrap()).unwrap();
        assert_eq!(count(&trash.place), 0);
    }

    #[test]
    fn hole_2_directories_are_removed_however_deep_they_are() {
        let scratch = tempfile::tempdir().unwrap();
        let work = scratch.path().join("work");
        fs::create_dir(&work).unwrap();
        let depth = if pathline_testkit::is_nightly() {
            15_000
        } else {
            3_000
        };
        dig(&work, depth);
        throw_away(&Trash::new(scratch.path().join("trash")), &work);
    }

    #[test]
    fn directories_are_removed_however_many_they_are() {
        let scratch = tempfile::tempdir().unwrap();
        let work = scratch.path().join("work");
        for number in 0..500 {
            fs::create_dir_all(work.join(format!("{number}/inner"))).unwrap();
            fs::write(work.join(format!("{number}/file")), "").unwrap();
        }
        throw_away(&Trash::new(scratch.path().join("trash")), &work);
    }

    #[test]
    fn hole_2_whatever_is_in_them_is_removed_and_links_are_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = scratch.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        let work = scratch.path().join("work");
        fs::create_dir_all(work.join("a/b/c")).unwrap();
        fs::write(work.join("a/b/file"), "").unwrap();
        fs::set_permissions(work.join("a/b/file"), Permissions::from_mode(0o000)).unwrap();
        symlink(&kept, work.join("a/link")).unwrap();
        symlink("nowhere", work.join("a/dangling")).unwrap();
        fs::write(work.join("a").join(OsStr::from_bytes(b"\xff\xfe")), "").unwrap();
        fs::create_dir(work.join(OsStr::from_bytes(b"\xff"))).unwrap();
        let _socket = UnixListener::bind(work.join("socket")).unwrap();
        let fifo = Command::new("mkfifo").arg(work.join("fifo")).status();
        assert!(fifo.unwrap().success());
        for (directory, mode) in [("a/b/c", 0o000), ("a/b", 0o500), ("a", 0o000)] {
            fs::set_permissions(work.join(directory), Permissions::from_mode(mode)).unwrap();
        }
        throw_away(&Trash::new(scratch.path().join("trash")), &work);
        assert!(kept.join("file").exists());
    }

    #[test]
    fn hole_2_trash_that_is_a_link_or_a_file_is_replaced_and_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = scratch.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        let (work, place) = (scratch.path().join("work"), scratch.path().join("trash"));
        let trash = Trash::new(place.clone());
        for make in [
            |kept: &Path, place: &Path| symlink(kept, place).unwrap(),
            |_: &Path, place: &Path| fs::write(place, "").unwrap(),
        ] {
            make(&kept, &place);
            fs::create_dir(&work).unwrap();
            throw_away(&trash, &work);
            assert_eq!(count(&kept), 1);
            fs::remove_dir(&place).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_set_aside_is_removed_in_its_place() {
        let scratch = tempfile::tempdir().unwrap();
        let work = scratch.path().join("work");
        fs::create_dir_all(work.join("a/b")).unwrap();
        fs::create_dir_all(work.join("c")).unwrap();
        remove_path(&work.join("a")).unwrap();
        assert_eq!(count(&work), 1);
    }

    #[test]
    fn what_is_not_there_is_set_aside_already() {
        let scratch = tempfile::tempdir().unwrap();
        let trash = Trash::new(scratch.path().join("trash"));
        trash.set_aside(&scratch.path().join("nothing")).unwrap();
    }
}
