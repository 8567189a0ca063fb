//! Removing a directory with all that is in it, however deep, and whatever it is.
//!
//! Nothing is named by more than one name, so no path grows; and only the directory that is looked at is open,
//! so no descriptors run out. The way back up is `..`, and it is checked that it leads back.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;

/// The most subdirectories that are remembered at a time; those after them are listed again later.
const MAX_PENDING: usize = 64;

/// Removes an entry of a directory. What cannot be removed is left, and the first reason returned.
pub(super) fn remove(parent: &OwnedFd, name: &CStr) -> io::Result<()> {
    let is_directory = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .map(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)?;
    if !is_directory {
        return Ok(unlinkat(parent, name, AtFlags::empty())?);
    }
    let mut walk = Walk::begin(parent, name)?;
    while walk.step()? {}
    walk.failed.map_or(Ok(()), |why| Err(why.into()))
}

/// Opens a directory, and nothing that only leads to one.
pub(super) fn open_directory(parent: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// Lists what is in a directory, up to a number of entries; says whether that is all.
pub(super) fn list(
    directory: &OwnedFd,
    mut each: impl FnMut(&CStr, FileType) -> bool,
) -> Result<bool, Errno> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if !each(name, entry.file_type()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The device and inode of a directory.
type Id = (u64, u64);

fn id(found: &Stat) -> Id {
    // The types differ between systems.
    #[allow(clippy::unnecessary_cast, reason = "not on every system")]
    (found.st_dev as u64, found.st_ino as u64)
}

/// The removal of one directory.
struct Walk {
    /// The directory that is looked at.
    here: OwnedFd,
    here_id: Id,
    /// It, and those it is in.
    levels: Vec<Level>,
    /// The first reason why something stays.
    failed: Option<Errno>,
}

struct Level {
    name: CString,
    parent: Id,
    /// Directories that were found in it and are still there.
    pending: Vec<CString>,
    /// True once it was listed to its end.
    is_listed: bool,
    /// The number of entries that were removed since it was listed last.
    removed: usize,
}

impl Walk {
    fn begin(parent: &OwnedFd, name: &CStr) -> io::Result<Self> {
        let above = id(&fstat(parent)?);
        let (here, here_id) = enter(parent, name, above)?;
        let mut walk = Self {
            here,
            here_id,
            levels: vec![Level::new(name, above)],
            failed: None,
        };
        walk.list();
        Ok(walk)
    }

    /// Removes a little; says whether there is more to do.
    fn step(&mut self) -> io::Result<bool> {
        let Some(level) = self.levels.last_mut() else {
            return Ok(false);
        };
        match level.pending.pop() {
            Some(inner) => self.descend(&inner),
            None if !level.is_listed && level.removed > 0 => self.list(),
            None => self.ascend()?,
        }
        Ok(true)
    }

    fn descend(&mut self, inner: &CStr) {
        match enter(&self.here, inner, self.here_id) {
            Ok((next, next_id)) => {
                self.levels.push(Level::new(inner, self.here_id));
                (self.here, self.here_id) = (next, next_id);
                self.list();
            }
            Err(error) => self.note(Err(error)),
        }
    }

    /// Goes back to the parent, and removes the directory from it.
    fn ascend(&mut self) -> io::Result<()> {
        let Some(level) = self.levels.last() else {
            return Ok(());
        };
        let parent = open_directory(&self.here, c"..")?;
        if id(&fstat(&parent)?) != level.parent {
            return Err(io::Error::other(
                "a directory was moved while it was removed",
            ));
        }
        let removed = unlinkat(&parent, &level.name, AtFlags::REMOVEDIR);
        if matches!(removed, Err(Errno::NOTEMPTY | Errno::EXIST)) && level.removed > 0 {
            // What was not listed while others were removed is listed now.
            self.list();
            return Ok(());
        }
        (self.here, self.here_id) = (parent, level.parent);
        self.levels.pop();
        self.note(removed);
        Ok(())
    }

    /// Removes the files of a directory, and notes the directories in it.
    fn list(&mut self) {
        let (mut pending, mut removed, mut failed) = (Vec::new(), 0, None);
        let here = &self.here;
        let listed = list(here, |name, kind| {
            match remove_file(here, name, kind) {
                Ok(()) | Err(Errno::NOENT) => removed += 1,
                Err(Errno::ISDIR) => pending.push(name.to_owned()),
                Err(error) => failed = failed.or(Some(error)),
            }
            pending.len() < MAX_PENDING
        });
        self.failed = self.failed.or(failed).or(listed.err());
        if let Some(level) = self.levels.last_mut() {
            (level.pending, level.removed) = (pending, removed);
            level.is_listed = listed.unwrap_or(true);
        }
    }

    fn note(&mut self, removed: Result<(), Errno>) {
        match removed {
            Ok(()) | Err(Errno::NOENT) => {
                if let Some(level) = self.levels.last_mut() {
                    level.removed += 1;
                }
            }
            Err(error) => self.failed = self.failed.or(Some(error)),
        }
    }
}

impl Level {
    fn new(name: &CStr, parent: Id) -> Self {
        Self {
            name: name.to_owned(),
            parent,
            pending: Vec::new(),
            is_listed: true,
            removed: 0,
        }
    }
}

/// Removes what is no directory.
fn remove_file(directory: &OwnedFd, name: &CStr, kind: FileType) -> Result<(), Errno> {
    let kind = match kind {
        // Not every file system says it in its lists.
        FileType::Unknown => {
            FileType::from_raw_mode(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
        }
        known => known,
    };
    match kind {
        FileType::Directory => Err(Errno::ISDIR),
        _ => unlinkat(directory, name, AtFlags::empty()),
    }
}

/// Opens a directory so that what is in it can be removed. One of another file system is none of ours.
fn enter(parent: &OwnedFd, name: &CStr, above: Id) -> Result<(OwnedFd, Id), Errno> {
    let directory = match open_directory(parent, name) {
        // A build may have made it so; whoever owns it may undo that.
        Err(Errno::ACCESS) => {
            chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
            open_directory(parent, name)?
        }
        opened => opened?,
    };
    let found = fstat(&directory)?;
    let found_id = id(&found);
    if found_id.0 != above.0 {
        return Err(Errno::XDEV);
    }
    if !Mode::from_raw_mode(found.st_mode).contains(Mode::RWXU) {
        fchmod(&directory, Mode::RWXU)?;
    }
    Ok((directory, found_id))
}
