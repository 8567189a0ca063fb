//! A bare repository that the real `git` program looks after.

use std::path::{Path, PathBuf};

use pathline_remote::git::{Change, Edits, Git, Remote};
use pathline_testkit::git;
use tempfile::TempDir;

/// A bare repository, a clone to commit from, and a cache directory; all gone on drop.
pub(crate) struct Repository {
    dir: Directory,
}

/// A directory that goes with this, or one of another process.
enum Directory {
    Own(TempDir),
    Other(PathBuf),
}

impl Directory {
    fn path(&self) -> &Path {
        match self {
            Self::Own(directory) => directory.path(),
            Self::Other(directory) => directory,
        }
    }
}

impl Repository {
    /// An empty repository whose default branch is `main`.
    pub(crate) fn empty() -> Self {
        let dir = Directory::Own(TempDir::new().expect("a scratch directory"));
        let repository = Self { dir };
        git(
            repository.dir.path(),
            &["init", "-q", "--bare", "-b", "main", "origin.git"],
        );
        repository
    }

    /// A repository with one commit on `main` that has `README` and an executable `run.sh`.
    pub(crate) fn with_a_commit() -> Self {
        let repository = Self::empty();
        repository.commit(
            &[("README", "hello\n"), ("bin/run.sh", "#!/bin/sh\n")],
            "first",
        );
        repository.in_clone(&["update-index", "--chmod=+x", "bin/run.sh"]);
        repository.in_clone(&["commit", "-q", "--amend", "--no-edit"]);
        repository.in_clone(&["push", "-q", "-f", "origin", "HEAD:main"]);
        repository
    }

    /// The repository in the directory of another process.
    pub(crate) fn at(directory: impl Into<PathBuf>) -> Self {
        let dir = Directory::Other(directory.into());
        Self { dir }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn bare(&self) -> PathBuf {
        self.dir.path().join("origin.git")
    }

    pub(crate) fn remote(&self) -> Remote {
        Remote::new(&format!("file://{}", self.bare().display())).expect("a path makes a good URL")
    }

    /// A new cache directory of that name.
    pub(crate) fn cache(&self, name: &str) -> Git {
        Git::new(self.dir.path().join(name))
    }

    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Commits files with the real git and pushes to `main`; returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)], message: &str) -> String {
        let clone = self.clone_dir();
        for (path, content) in files {
            let path = clone.join(path);
            std::fs::create_dir_all(path.parent().expect("a file is in a directory"))
                .and_then(|()| std::fs::write(&path, content))
                .expect("the clone is writable");
        }
        self.in_clone(&["add", "-A"]);
        self.in_clone(&["commit", "-q", "--allow-empty", "-m", message]);
        self.in_clone(&["push", "-q", "origin", "HEAD:main"]);
        self.in_clone(&["rev-parse", "HEAD"])
    }

    /// Runs git in the clone.
    pub(crate) fn in_clone(&self, arguments: &[&str]) -> String {
        git(&self.clone_dir(), arguments)
    }

    /// Runs git in the bare repository.
    pub(crate) fn in_bare(&self, arguments: &[&str]) -> String {
        git(&self.bare(), arguments)
    }

    /// Asserts that git finds nothing wrong with the repository.
    pub(crate) fn assert_sound(&self) {
        let said = self.in_bare(&["fsck", "--full", "--strict", "--no-dangling"]);
        assert_eq!(said, "", "git fsck complains");
    }

    fn clone_dir(&self) -> PathBuf {
        let clone = self.dir.path().join("clone");
        if !clone.exists() {
            git(self.dir.path(), &["clone", "-q", "origin.git", "clone"]);
            git(&clone, &["checkout", "-q", "-B", "main"]);
        }
        clone
    }
}

/// Files to write, with a message and nothing else special.
pub(crate) fn edits(files: &[(&str, &str)]) -> Edits {
    let edits = Edits::new("write files");
    files
        .iter()
        .fold(edits, |edits, (path, content)| edits.write(*path, *content))
}

/// Writes files to `main`, whatever is there.
pub(crate) fn change(files: &[(&str, &str)]) -> Change {
    Change::fixed("main", edits(files)).expect("git takes it")
}
