//! The directories in which the workers keep their files, below the data directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use url::Url;
use uuid::Uuid;

use crate::identity::{self, Identity};
use crate::trash::Trash;

/// The directories of the workers.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    data_dir: PathBuf,
    identity: Identity,
    trash: Trash,
}

impl Places {
    /// Creates the directories, and empties those that a stopped run may have left full.
    pub(crate) fn prepare(data_dir: &Path, identity: Option<Identity>) -> io::Result<Self> {
        fs::create_dir_all(data_dir)?;
        // Children see these paths in URLs and from other directories.
        let data_dir = data_dir.canonicalize()?;
        let identity = match identity {
            Some(identity) => identity,
            None => Identity::of_original(&data_dir)?,
        };
        let places = Self {
            trash: Trash::new(data_dir.join("trash")),
            data_dir,
            identity,
        };
        for directory in [
            places.artifacts(),
            places.logs(),
            places.work(),
            places.runs(),
            places.git_cache(),
        ] {
            fs::create_dir_all(directory)?;
        }
        Ok(places)
    }

    /// The name of this data directory in the environment of every child.
    pub(crate) fn instance(&self) -> &str {
        self.identity.id()
    }

    /// The archive of a URL. One in a directory that this one was, or is a copy of, is here if it can be.
    pub(crate) fn archive(&self, url: &str) -> Option<PathBuf> {
        let url = Url::parse(url).ok().filter(|url| url.scheme() == "file")?;
        let place = url.to_file_path().ok()?;
        let own = self.identity.own(&place).filter(|own| own.is_file());
        Some(own.unwrap_or(place))
    }

    /// Removes the directories of children that are gone. Whatever they left, it keeps nobody waiting.
    pub(crate) fn clear_work(&self) -> io::Result<()> {
        if self.trash.set_aside(&self.work()).is_err() {
            // It may be a file system of its own. New directories have other names.
            let left = fs::read_dir(self.work()).into_iter().flatten().flatten();
            let left = left.map(|entry| entry.path()).collect();
            self.trash.remove_in_place(left);
        }
        self.trash.empty_in_background();
        fs::create_dir_all(self.work())
    }

    /// Returns the directory of archives: sources below `gitrepository/`, outputs of tasks beside it.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.data_dir.join("artifacts")
    }

    /// Returns the directory of cached repositories.
    pub(crate) fn git_cache(&self) -> PathBuf {
        self.data_dir.join("git")
    }

    /// Returns the directory that has one file for every process group that runs.
    pub(crate) fn runs(&self) -> PathBuf {
        identity::runs(&self.data_dir)
    }

    /// Returns the path of the log of an object, such as `logs/task/default/build/3.log`.
    pub(crate) fn log(&self, kind: &str, namespace: &str, name: &str, run: &str) -> PathBuf {
        self.logs()
            .join(kind)
            .join(namespace)
            .join(name)
            .join(format!("{run}.log"))
    }

    /// A directory for one run of a child; not created yet.
    pub(crate) fn new_work(&self) -> PathBuf {
        self.work().join(Uuid::new_v4().to_string())
    }

    /// The place for directories of children that are gone.
    pub(crate) fn trash(&self) -> Trash {
        self.trash.clone()
    }

    fn logs(&self) -> PathBuf {
        self.data_dir.join("logs")
    }

    fn work(&self) -> PathBuf {
        self.data_dir.join("work")
    }
}
