//! The identity of a data directory, by which a copy is recognized.
//!
//! A note in the directory has an identity, and where the directory was when it was used last: its path and its
//! inode. One that was moved keeps the inode, one that was mounted anew or restored keeps the path. Where both
//! are others it is a copy, and gets an identity of its own, so that it takes nothing for its own that the
//! original runs.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The note, in the data directory.
const FILE: &str = "instance";
/// The most former paths that are remembered.
const MAX_FORMER: usize = 8;

/// The identity of a data directory.
#[derive(Clone, Debug)]
pub struct Identity {
    data_dir: PathBuf,
    note: Note,
    change: Change,
}

/// The file `instance` of a data directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note {
    id: String,
    path: String,
    inode: u64,
    /// The paths that it had before, or that it is a copy of: URLs in the cluster may still lead there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former: Vec<String>,
    /// The original, of a copy that was not adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy_of: Option<String>,
}

/// The note that is still to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    Note,
    /// It was found just now that this is a copy.
    Copied,
}

impl Identity {
    /// Finds out who a data directory is, and changes nothing.
    ///
    /// # Errors
    ///
    /// Fails when the directory or its note cannot be read.
    pub fn read(data_dir: &Path) -> io::Result<Self> {
        let data_dir = data_dir.canonicalize()?;
        let here = Place::of(&data_dir)?;
        let (note, change) = match Known::read(&data_dir)? {
            Known::Nothing => (here.note(new_id()), Change::Note),
            Known::Id(id) => (here.note(id), Change::Note),
            Known::Note(note) => {
                let original = is_at(&note, &here);
                judge(note, here, original)
            }
        };
        Ok(Self {
            data_dir,
            note,
            change,
        })
    }

    /// Finds out the identity of a data directory that cannot be a copy, and makes sure that it has one.
    pub(super) fn of_original(data_dir: &Path) -> io::Result<Self> {
        let data_dir = data_dir.canonicalize()?;
        let here = Place::of(&data_dir)?;
        let (note, change) = match Known::read(&data_dir)? {
            Known::Nothing => (here.note(new_id()), Change::Note),
            Known::Id(id) => (here.note(id), Change::Note),
            Known::Note(note) => (note, Change::Nothing),
        };
        let mut identity = Self {
            data_dir,
            note,
            change,
        };
        identity.write_down()?;
        Ok(identity)
    }

    /// Returns where the original is, of a copy that was not adopted.
    pub fn copy_of(&self) -> Option<&str> {
        self.note.copy_of.as_deref()
    }

    /// Returns whether it was found just now that this is a copy, so that it still has what is about the original.
    pub fn is_new_copy(&self) -> bool {
        self.change == Change::Copied
    }

    /// Makes a copy a directory in its own right.
    pub fn adopt(&mut self) {
        if self.note.copy_of.take().is_some() && self.change == Change::Nothing {
            self.change = Change::Note;
        }
    }

    /// Writes down what was found. Until then a copy is found to be one again.
    ///
    /// # Errors
    ///
    /// Fails when the note cannot be written.
    pub fn write_down(&mut self) -> io::Result<()> {
        if self.change == Change::Copied {
            // They are about processes of the original, which would be ended.
            remove_if_there(&runs(&self.data_dir))?;
        }
        if self.change != Change::Nothing {
            self.note.write(&self.data_dir)?;
        }
        self.change = Change::Nothing;
        Ok(())
    }

    /// Returns the identity, which a copy does not share.
    pub fn id(&self) -> &str {
        &self.note.id
    }

    /// Returns the same place in this directory, of one in a directory that this one was, or is a copy of.
    pub(super) fn own(&self, place: &Path) -> Option<PathBuf> {
        let mut former = self.note.former.iter();
        let inside = former.find_map(|former| place.strip_prefix(former).ok())?;
        Some(self.data_dir.join(inside))
    }
}

/// The directory in which running process groups are noted.
pub(super) fn runs(data_dir: &Path) -> PathBuf {
    data_dir.join("runs")
}

fn new_id() -> String {
    Uuid::new_v4().to_string()
}

fn remove_if_there(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The note that is found in a data directory.
enum Known {
    Nothing,
    /// It was used by a Pathline that noted no place.
    Id(String),
    Note(Note),
}

impl Known {
    fn read(data_dir: &Path) -> io::Result<Self> {
        let text = match fs::read(data_dir.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            read => read?,
        };
        let text = String::from_utf8_lossy(&text);
        let note = serde_json::from_str(&text).map(Self::Note);
        let id = || Uuid::parse_str(text.trim()).map(|id| Self::Id(id.to_string()));
        Ok(note.or_else(|_| id()).unwrap_or(Self::Nothing))
    }
}

/// The location of a data directory: path and inode. The device is no part of it: its number may be another after every start of the
/// machine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: String,
    inode: u64,
}

impl Place {
    fn of(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            path: directory.to_string_lossy().into_owned(),
            inode: fs::metadata(directory)?.ino(),
        })
    }

    fn note(self, id: String) -> Note {
        Note {
            id,
            path: self.path,
            inode: self.inode,
            former: Vec::new(),
            copy_of: None,
        }
    }
}

/// Tells whether another directory with the same identity is at the noted path: then this one was not moved
/// from there, whatever its inode.
fn is_at(note: &Note, here: &Place) -> bool {
    let there = Path::new(&note.path);
    let same = |there: &fs::Metadata, here: &fs::Metadata| {
        (there.dev(), there.ino()) == (here.dev(), here.ino())
    };
    match (fs::metadata(there), fs::metadata(&here.path)) {
        (Ok(found), Ok(own)) if !same(&found, &own) => {
            matches!(Known::read(there), Ok(Known::Note(other)) if other.id == note.id)
        }
        _ => false,
    }
}

/// Decides what a noted directory is that is here now; `original` is whether the noted one is elsewhere.
fn judge(note: Note, here: Place, original: bool) -> (Note, Change) {
    let (moved, other) = (note.path != here.path, note.inode != here.inode);
    if !moved && !other {
        return (note, Change::Nothing);
    }
    let is_copy = moved && (other || original);
    let former = former(&note, &here);
    let (id, copy_of, change) = if is_copy {
        (new_id(), Some(note.path), Change::Copied)
    } else {
        (note.id, note.copy_of, Change::Note)
    };
    let note = Note {
        former,
        copy_of,
        ..here.note(id)
    };
    (note, change)
}

/// Returns the paths before this one, the last one last.
fn former(note: &Note, here: &Place) -> Vec<String> {
    let others = note.former.iter().filter(|it| **it != note.path);
    let all = others.chain([&note.path]).filter(|it| **it != here.path);
    let all: Vec<_> = all.cloned().collect();
    all[all.len().saturating_sub(MAX_FORMER)..].to_vec()
}

impl Note {
    /// Writes the note as a whole or not at all.
    fn write(&self, data_dir: &Path) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(data_dir)?;
        writeln!(file, "{}", serde_json::to_string(self)?)?;
        file.as_file().sync_all()?;
        file.persist(data_dir.join(FILE))?;
        fs::File::open(data_dir)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, inode: u64) -> Place {
        let path = path.to_owned();
        Place { path, inode }
    }

    #[test]
    fn hole_3_only_another_path_and_another_inode_make_a_copy() {
        let note = place("/a", 1).note(new_id());
        for (here, original, expected) in [
            (place("/a", 1), false, Change::Nothing),
            // Moved, and mounted anew or restored.
            (place("/b", 1), false, Change::Note),
            (place("/a", 2), false, Change::Note),
            (place("/b", 2), false, Change::Copied),
            // Two file systems may well give the same number.
            (place("/b", 1), true, Change::Copied),
        ] {
            let (judged, change) = judge(note.clone(), here.clone(), original);
            assert_eq!(change, expected, "{here:?}");
            let is_copy = change == Change::Copied;
            assert_eq!(judged.id != note.id, is_copy, "{here:?}");
            assert_eq!(judged.copy_of.as_deref(), is_copy.then_some("/a"));
            assert_eq!((judged.path, judged.inode), (here.path, here.inode));
        }
    }

    #[test]
    fn hole_3_copy_stays_one_when_it_is_moved_and_copies_of_it_name_it() {
        let original = place("/a", 1).note(new_id());
        let (copy, _) = judge(original, place("/b", 2), false);
        let (moved, _) = judge(copy.clone(), place("/c", 2), false);
        assert_eq!(moved.copy_of.as_deref(), Some("/a"));
        assert_eq!(
            (&moved.id, &moved.former[..]),
            (&copy.id, &["/a".into(), "/b".into()][..])
        );
        let (second, change) = judge(moved, place("/d", 4), false);
        assert_eq!(change, Change::Copied);
        assert_eq!(second.copy_of.as_deref(), Some("/c"));
        assert_ne!(second.id, copy.id);
    }

    /// Copies the note, as `cp` would.
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to.join("runs")).unwrap();
        fs::write(to.join("runs/1"), "of the original").unwrap();
        fs::copy(from.join(FILE), to.join(FILE)).unwrap();
    }

    #[test]
    fn hole_3_copy_is_found_again_until_that_is_written_down_and_is_one_until_it_is_adopted() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::create_dir_all(&a).unwrap();
        // As a Pathline left it that noted no place.
        fs::write(a.join(FILE), Uuid::new_v4().to_string()).unwrap();
        let mut original = Identity::read(&a).unwrap();
        assert_eq!(original.copy_of(), None);
        original.write_down().unwrap();
        copy(&a, &b);

        // A crash after that leaves everything as it was.
        assert!(Identity::read(&b).unwrap().is_new_copy());
        let mut found = Identity::read(&b).unwrap();
        assert!(found.is_new_copy());
        assert_ne!(found.id(), original.id());
        found.write_down().unwrap();
        assert!(!b.join("runs").exists(), "they are of the original");
        assert!(a.join(FILE).exists());
        let mut again = Identity::read(&b).unwrap();
        assert!(!again.is_new_copy());
        assert_eq!(again.copy_of(), a.canonicalize().unwrap().to_str());
        assert_eq!(again.id(), found.id());

        again.adopt();
        again.write_down().unwrap();
        assert_eq!(Identity::read(&b).unwrap().copy_of(), None);
        assert_eq!(Identity::read(&a).unwrap().id(), original.id());
    }

    #[test]
    fn hole_3_directory_that_was_moved_is_no_copy_and_knows_its_former_places() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (a, b) = (root.join("a"), root.join("b"));
        fs::create_dir_all(&a).unwrap();
        let original = Identity::of_original(&a).unwrap();
        fs::rename(&a, &b).unwrap();
        let mut moved = Identity::read(&b).unwrap();
        moved.write_down().unwrap();
        assert_eq!((moved.copy_of(), moved.id()), (None, original.id()));
        assert_eq!(
            moved.own(&a.join("artifacts/x.tar.gz")),
            Some(b.join("artifacts/x.tar.gz"))
        );
        assert_eq!(moved.own(&root.join("elsewhere")), None);
    }

    #[test]
    fn hole_3_directory_that_is_seen_at_another_path_is_no_copy() {
        let dir = tempfile::tempdir().unwrap();
        let (a, link) = (dir.path().join("a"), dir.path().join("link"));
        fs::create_dir_all(&a).unwrap();
        let original = Identity::of_original(&a).unwrap();
        std::os::unix::fs::symlink(&a, &link).unwrap();
        let seen = Identity::read(&link).unwrap();
        assert_eq!((seen.copy_of(), seen.id()), (None, original.id()));
        assert_eq!(seen.change, Change::Nothing);
    }
}
