//! A repository with application files, over http or in a directory of this machine.

use std::fs;
use std::path::PathBuf;

use pathline_testkit::git;
use pathline_testkit::git_server::{GitServer, Options};
use tempfile::TempDir;

/// The repository `shop/web` of a server of its own, or of no server.
pub(crate) struct Repository {
    root: TempDir,
    server: Option<GitServer>,
}

impl Repository {
    /// Makes one with an application file, which everybody may read.
    pub(crate) fn with(file: &str) -> Self {
        Self::with_options(file, Options::default())
    }

    pub(crate) fn with_options(file: &str, options: Options) -> Self {
        let root = TempDir::new().expect("a scratch directory");
        let server = GitServer::start(root.path(), options);
        Self::make(root, Some(server), file)
    }

    /// Makes one that is read from its directory.
    pub(crate) fn in_directory(file: &str) -> Self {
        let root = TempDir::new().expect("a scratch directory");
        Self::make(root, None, file)
    }

    fn make(root: TempDir, server: Option<GitServer>, file: &str) -> Self {
        let repository = Self { root, server };
        fs::create_dir_all(repository.directory()).expect("it is writable");
        git(&repository.directory(), &["init", "-q", "-b", "main"]);
        repository.git(&["config", "uploadpack.allowFilter", "true"]);
        repository.commit(file);
        repository
    }

    /// Commits an application file at the top, and returns the commit.
    pub(crate) fn commit(&self, file: &str) -> String {
        self.commit_at("fathomable.yaml", file)
    }

    pub(crate) fn commit_at(&self, path: &str, file: &str) -> String {
        let place = self.directory().join(path);
        fs::create_dir_all(place.parent().expect("it is in a directory")).expect("it is writable");
        fs::write(place, file).expect("it is writable");
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "change it"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.directory(), arguments)
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.root.path().join("shop/web")
    }

    pub(crate) fn url(&self) -> String {
        match &self.server {
            Some(server) => server.url("shop/web"),
            None => format!("file://{}", self.directory().display()),
        }
    }

    /// Returns its host, as the configuration of Pathline names it: a directory has an empty one.
    pub(crate) fn host(&self) -> String {
        let server = self.server.as_ref();
        server.map_or_else(String::new, |it| it.address.to_string())
    }

    /// Returns the scheme of its URL.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.server {
            Some(_) => "http",
            None => "file",
        }
    }

    /// Takes the repository away, or puts it back.
    pub(crate) fn set_there(&self, is_there: bool) {
        let away = self.root.path().join("away");
        let (from, to) = match is_there {
            true => (away, self.directory()),
            false => (self.directory(), away),
        };
        fs::rename(from, to).expect("it is writable");
    }
}
