//! Unpacking archives that nobody has vouched for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use rustix::fs::OFlags;
use tar::{Entry, EntryType};

use super::headers::LongNames;
use super::links::Links;
use super::{Budget, Error, Limits, is_inside};

/// Unpacks `archive` into the directory `into`, which is created when it is missing.
///
/// Links are made last, so nothing is ever written through one. Owners, times and special bits are
/// not taken over.
///
/// # Errors
///
/// Fails when a name or a link leaves `into`, an entry occurs twice or is something special, a limit is
/// passed, or reading or writing fails. `into` may hold a part of the content then.
pub fn unpack(archive: &Path, into: &Path, limits: Limits) -> Result<(), Error> {
    let file = open(archive).map_err(Error::io("open", archive))?;
    fs::create_dir_all(into).map_err(Error::io("create", into))?;
    let mut budget = Budget::new(limits);
    let mut links = Links::default();
    let mut tar = tar::Archive::new(GzDecoder::new(io::BufReader::new(file)));
    // Raw, for the names of long paths would otherwise be read whole, however long they are.
    let entries = tar.entries().map_err(Error::io("read", archive))?.raw(true);
    let mut long_names = LongNames::default();
    for entry in entries {
        let mut entry = entry.map_err(Error::io("read", archive))?;
        if long_names
            .take(&mut entry)
            .map_err(Error::io("read", archive))?
        {
            continue;
        }
        let names = std::mem::take(&mut long_names);
        let name = names.path(&entry);
        budget.spend(&name, entry.size())?;
        if let Some((path, target)) = unpack_entry(into, name, &names, &mut entry)? {
            links.add(path, target)?;
        }
    }
    links.check()?;
    for (path, target) in links.into_iter() {
        let place = into.join(&path);
        make_parent(&place)?;
        symlink(&target, &place).map_err(|failed| explain(failed, "link", path))?;
    }
    Ok(())
}

/// Opens a regular file; whoever opens a named pipe waits for somebody to write to it.
fn open(archive: &Path) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nonblocking)
        .open(archive)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ))
    }
}

/// Writes a file or directory; returns a link, with its target, for later.
fn unpack_entry(
    into: &Path,
    name: PathBuf,
    names: &LongNames,
    entry: &mut Entry<'_, impl Read>,
) -> Result<Option<(PathBuf, PathBuf)>, Error> {
    // `tar -C dir .` writes names as `./a`, and the directory itself as `./`.
    let path: PathBuf = name
        .components()
        .filter(|part| part.as_os_str() != ".")
        .collect();
    if path.as_os_str().is_empty() && entry.header().entry_type() == EntryType::Directory {
        return Ok(None);
    }
    if !is_inside(&path) {
        return Err(Error::Escapes { path: name });
    }
    let place = into.join(&path);
    match entry.header().entry_type() {
        EntryType::Directory => {
            fs::create_dir_all(&place).map_err(Error::io("create", &place))?;
        }
        EntryType::Regular | EntryType::Continuous => write_file(&path, &place, entry)?,
        EntryType::Symlink => {
            let target = names.target(entry);
            return Ok(Some((path, target)));
        }
        _ => return Err(Error::Unsupported { path }),
    }
    Ok(None)
}

fn write_file(path: &Path, place: &Path, entry: &mut Entry<'_, impl Read>) -> Result<(), Error> {
    make_parent(place)?;
    let executable = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
    let mode = if executable { 0o755 } else { 0o644 };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(place)
        .map_err(|failed| explain(failed, "create", path.to_owned()))?;
    io::copy(entry, &mut file).map_err(Error::io("write", place))?;
    Ok(())
}

fn make_parent(place: &Path) -> Result<(), Error> {
    let parent = place
        .parent()
        .expect("every place lies below the target directory");
    fs::create_dir_all(parent).map_err(Error::io("create", parent))
}

fn explain(failed: io::Error, action: &'static str, path: PathBuf) -> Error {
    match failed.kind() {
        io::ErrorKind::AlreadyExists => Error::Duplicate { path },
        _ => Error::Io {
            action,
            path,
            source: failed,
        },
    }
}
