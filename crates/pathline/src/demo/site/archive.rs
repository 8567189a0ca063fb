//! Reading a `.tar.gz` that may be anything.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use axum::body::Bytes;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use tar::{Archive, Entry, EntryType};

use crate::terminal::report::Hint;

/// The most a site may hold, unpacked.
const MAX_BYTES: u64 = 64 << 20;
/// The most entries an archive may have.
const MAX_ENTRIES: usize = 10_000;

/// The files of a site by their path.
pub(super) type Files = BTreeMap<String, Bytes>;

/// An error in an archive, which cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve the archive {}", .archive.display())]
pub(crate) struct ArchiveError {
    archive: PathBuf,
    source: Problem,
}

/// The kinds of errors in an archive.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("`{0}` leaves the directory of the site")]
    Escapes(String),
    #[error("`{0}` is neither a file nor a directory")]
    NotAFile(String),
    #[error("it holds more than {} MiB or {MAX_ENTRIES} entries", MAX_BYTES >> 20)]
    TooLarge,
    #[error("it holds no files")]
    Empty,
    #[error("it has another content than the manifest says: sha256:{0}")]
    Other(String),
}

impl Hint for ArchiveError {
    fn hint(&self) -> Option<String> {
        Some("the `image` of the manifest must be a .tar.gz of plain files".to_owned())
    }
}

/// Returns the files of the archive by their path. The archive must have this SHA-256.
pub(super) fn read(path: &Path, digest: &str) -> Result<Files, ArchiveError> {
    let files = check(path, digest).and_then(|()| read_file(path));
    files.map_err(|source| ArchiveError {
        archive: path.to_owned(),
        source,
    })
}

fn check(path: &Path, digest: &str) -> Result<(), Problem> {
    let mut hash = Sha256::new();
    let mut file = BufReader::new(File::open(path)?);
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            break;
        }
        hash.update(read);
        let count = read.len();
        file.consume(count);
    }
    let is: String = hash
        .finalize()
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect();
    if is == digest {
        Ok(())
    } else {
        Err(Problem::Other(is))
    }
}

fn read_file(path: &Path) -> Result<Files, Problem> {
    // One byte more than allowed shows that there is more.
    let unpacked = GzDecoder::new(File::open(path)?).take(MAX_BYTES + 1);
    let mut archive = Archive::new(unpacked);
    let files = read_entries(&mut archive);
    if archive.into_inner().limit() == 0 {
        return Err(Problem::TooLarge);
    }
    files
}

fn read_entries(archive: &mut Archive<impl Read>) -> Result<Files, Problem> {
    let mut files = Files::new();
    for (count, entry) in archive.entries()?.enumerate() {
        if count == MAX_ENTRIES {
            return Err(Problem::TooLarge);
        }
        files.extend(read_entry(entry?)?);
    }
    if files.is_empty() {
        Err(Problem::Empty)
    } else {
        Ok(files)
    }
}

/// Returns name and content of a file, or nothing for a directory.
fn read_entry(mut entry: Entry<'_, impl Read>) -> Result<Option<(String, Bytes)>, Problem> {
    let shown = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    match entry.header().entry_type() {
        EntryType::Directory | EntryType::XGlobalHeader => return Ok(None),
        EntryType::Regular => {}
        _ => return Err(Problem::NotAFile(shown)),
    }
    let Some(name) = plain_name(Path::new(&shown)) else {
        return Err(Problem::Escapes(shown));
    };
    let mut content = Vec::new();
    entry.read_to_end(&mut content)?;
    Ok(Some((name, content.into())))
}

/// Returns the path without `.` parts, or nothing if it would lead out of the archive.
fn plain_name(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;

    /// Packs entries without the checks that `tar` would make on the way in.
    fn pack(entries: &[(&str, EntryType, &[u8])]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut builder = Builder::new(GzEncoder::new(file.reopen().unwrap(), Compression::fast()));
        for (name, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap();
        file
    }

    fn problem(archive: &tempfile::NamedTempFile) -> Problem {
        read_file(archive.path()).unwrap_err()
    }

    #[test]
    fn files_are_read_by_their_plain_path() {
        let archive = pack(&[
            ("./", EntryType::Directory, b""),
            ("./index.html", EntryType::Regular, b"home"),
            ("css/a.css", EntryType::Regular, b"body{}"),
        ]);
        let files = read_file(archive.path()).unwrap();
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            ["css/a.css", "index.html"]
        );
        assert_eq!(files["index.html"], "home");
    }

    #[test]
    fn archive_with_another_content_is_refused() {
        let archive = pack(&[("index.html", EntryType::Regular, b"home")]);
        let Problem::Other(is) = read(archive.path(), "0a").unwrap_err().source else {
            panic!("the content was not compared");
        };
        assert_eq!(read(archive.path(), &is).unwrap().len(), 1);
    }

    #[test]
    fn paths_that_leave_the_archive_are_refused() {
        for name in ["../evil", "/etc/passwd", "a/../../b"] {
            let archive = pack(&[(name, EntryType::Regular, b"x")]);
            assert!(matches!(problem(&archive), Problem::Escapes(entry) if entry == name));
        }
    }

    #[test]
    fn links_and_devices_are_refused() {
        for kind in [
            EntryType::Symlink,
            EntryType::Link,
            EntryType::Fifo,
            EntryType::Char,
        ] {
            let archive = pack(&[("index.html", kind, b"")]);
            assert!(
                matches!(problem(&archive), Problem::NotAFile(_)),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn small_archive_of_huge_files_is_refused() {
        let zeros = vec![0; 40 << 20];
        let archive = pack(&[
            ("a", EntryType::Regular, &zeros),
            ("b", EntryType::Regular, &zeros),
        ]);
        assert!(archive.as_file().metadata().unwrap().len() < 1 << 20);
        assert!(matches!(problem(&archive), Problem::TooLarge));
    }

    #[test]
    fn truncated_or_empty_archives_are_refused() {
        let archive = pack(&[("index.html", EntryType::Regular, b"home")]);
        let length = archive.as_file().metadata().unwrap().len();
        archive.as_file().set_len(length / 2).unwrap();
        assert!(matches!(problem(&archive), Problem::Read(_)));
        assert!(matches!(problem(&pack(&[])), Problem::Empty));
    }
}
