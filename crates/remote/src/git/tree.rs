//! The entries of a tree, as far as they may be trusted.

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use gix::validate::path::component;

use super::Error;
use super::session::{Session, local};

const READING: &str = "read a fetched tree";

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) kind: EntryKind,
    pub(super) id: ObjectId,
}

impl Entry {
    pub(super) fn new(entry: &gix::object::tree::EntryRef<'_, '_>) -> Self {
        Self {
            name: entry.filename().to_vec(),
            kind: entry.kind(),
            id: entry.object_id(),
        }
    }
}

impl Session {
    /// Returns the entries of a tree, in git's order.
    pub(super) fn entries(&self, tree: ObjectId) -> Result<Vec<Entry>, Error> {
        let tree = self.tree(tree)?;
        let entries = tree.iter().map(|entry| entry.map(|it| Entry::new(&it)));
        entries.collect::<Result<_, _>>().map_err(local(READING))
    }
}

/// Refuses names that git would not check out: whoever finds a `.git` in a directory runs what is
/// configured there.
pub(super) fn check_name(name: &[u8]) -> Result<(), Error> {
    // Names that only Windows can't have are good names.
    let options = component::Options {
        protect_windows: false,
        ..component::Options::default()
    };
    let checked = gix::validate::path::component(name.as_bstr(), None, options);
    match checked {
        Ok(_) if !name.contains(&0) => Ok(()),
        _ => Err(refused(
            name.as_bstr().to_string(),
            "git does not allow such a name",
        )),
    }
}

pub(super) fn refused(path: String, reason: &'static str) -> Error {
    Error::InvalidPath { path, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hole_7_names_that_stand_for_a_git_directory_are_refused() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            "git~1",
            ".git ",
            ".git...",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            "..",
            ".",
            "",
            "a/b",
            "a\0b",
        ] {
            assert!(check_name(name.as_bytes()).is_err(), "{name:?}");
        }
        for name in [
            ".gitignore",
            ".github",
            "git",
            "aux.c",
            "a:b",
            "back\\slash",
            "…",
        ] {
            assert!(check_name(name.as_bytes()).is_ok(), "{name:?}");
        }
        assert!(check_name(b"not-\xff-unicode").is_ok());
    }
}
