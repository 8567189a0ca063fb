//! The content of one commit: files to write and remove, and the words that go with them.

use std::collections::BTreeMap;

use super::message::{self, Trailer};
use super::{Error, tree};
use crate::archive::MAX_DEPTH;

/// The author of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The address, without brackets.
    pub email: String,
}

impl Default for Author {
    fn default() -> Self {
        Self {
            name: "Pathline".into(),
            email: "pathline@localhost".into(),
        }
    }
}

/// Files to write and to remove in one commit, with its message.
///
/// An edit that names no files, or files that are as they shall be, makes no commit.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// The new content of files by their paths; nothing removes a file. Others stay as they are, and what
    /// is executable stays so.
    pub files: BTreeMap<String, Option<Vec<u8>>>,
    /// The message, without trailers.
    pub message: String,
    /// The trailers at the end of the message, in this order.
    pub trailers: Vec<Trailer>,
    /// The author; the committer is always Pathline.
    pub author: Author,
}

impl Edits {
    /// Begins an edit that has no files yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Writes a file, in the place of what is there.
    #[must_use]
    pub fn write(mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), Some(content.into()));
        self
    }

    /// Removes a file, if it is there.
    #[must_use]
    pub fn remove(mut self, path: impl Into<String>) -> Self {
        self.files.insert(path.into(), None);
        self
    }

    /// Adds a trailer.
    #[must_use]
    pub fn trailer(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.trailers.push(Trailer::new(key, value));
        self
    }

    /// Checks what can never be written, whatever the branch has.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_paths()?;
        message::with_trailers(&self.message, &self.trailers)?;
        let Author { name, email } = &self.author;
        if [name, email]
            .iter()
            .any(|part| part.trim().is_empty() || part.contains(['<', '>', '\n', '\0']))
        {
            return Err(Error::InvalidMessage {
                what: format!("the author `{name} <{email}>`"),
                reason: "name and address must not be empty nor contain `<`, `>` or line breaks",
            });
        }
        Ok(())
    }

    /// Checks the paths alone: an edit that changes nothing needs no message.
    pub(super) fn check_paths(&self) -> Result<(), Error> {
        for path in self.files.keys() {
            check_path(path)?;
        }
        for (path, content) in &self.files {
            let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
            let is_file = |above: &str| matches!(self.files.get(above), Some(Some(_)));
            if content.is_some() && above.any(is_file) {
                let reason = "another file shall be where one of its directories is";
                return Err(tree::refused(path.clone(), reason));
            }
        }
        Ok(())
    }
}

/// Refuses paths that leave the repository, or that git itself would not check out.
pub(super) fn check_path(path: &str) -> Result<(), Error> {
    let refuse = |reason| Err(tree::refused(path.to_owned(), reason));
    if path.is_empty() || path.ends_with('/') {
        return refuse("it names no file");
    }
    if path.starts_with('/') {
        return refuse("it is absolute");
    }
    for part in path.split('/') {
        if matches!(part, "" | "." | "..") {
            return refuse("`.`, `..` and empty parts are not allowed");
        }
        let strict = gix::validate::path::component::Options::default();
        if part.contains('\\')
            || gix::validate::path::component(part.as_bytes().into(), None, strict).is_err()
        {
            return refuse("git does not allow such a name");
        }
    }
    if path.split('/').count() > MAX_DEPTH {
        return refuse("it is in too many directories");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_repository_are_refused() {
        let deep = "d/".repeat(MAX_DEPTH);
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "a/",
            "./a",
            ".git/config",
            "sub/.GIT/hooks/post-update",
            "a\\..\\b",
            "a\0b",
            &format!("{deep}f"),
        ] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        for path in [
            "a",
            "clusters/prod/site.yaml",
            ".github/workflows/x.yaml",
            "…/ü",
            &format!("{}f", &deep[2..]),
        ] {
            assert!(check_path(path).is_ok(), "{path:?}");
        }
    }

    #[test]
    fn file_cannot_be_a_directory_in_the_same_commit() {
        let both = Edits::new("m").write("a", "").write("a/b", "");
        assert!(both.check().is_err());
        let deeper = Edits::new("m").write("a/b/c/d", "").write("a/b", "");
        assert!(deeper.check().is_err());
        let beside = Edits::new("m").write("a", "").write("a.b", "");
        assert!(beside.check().is_ok());
        let moved = Edits::new("m").remove("a").write("a/b", "");
        assert!(moved.check().is_ok(), "the file makes room");
    }

    #[test]
    fn author_must_fit_into_the_header_of_a_commit() {
        for (name, email) in [
            ("", "a@b"),
            (" ", "a@b"),
            ("A", ""),
            ("A <b>", "a@b"),
            ("A", "<a@b>"),
            ("A\nparent 1", "a@b"),
            ("A", "a@b\0"),
        ] {
            let (name, email) = (name.to_owned(), email.to_owned());
            let edits = Edits {
                author: Author { name, email },
                ..Edits::new("m")
            };
            assert!(edits.check().is_err(), "{:?}", edits.author);
        }
        assert!(Edits::new("m").check().is_ok());
    }
}
