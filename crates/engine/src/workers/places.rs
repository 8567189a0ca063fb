//! Where the workers keep their files, below the data directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::workers::trash::Trash;

/// The directories of the workers.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    data_dir: PathBuf,
    /// Names this data directory in the environment of every child.
    pub(crate) instance: String,
}

impl Places {
    /// Creates the directories, and empties those that a stopped run may have left full.
    pub(crate) fn prepare(data_dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(data_dir)?;
        // Children see these paths in URLs and from other directories.
        let data_dir = data_dir.canonicalize()?;
        let instance = instance_id(&data_dir)?;
        let places = Self { data_dir, instance };
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

    /// Removes the directories of children that are gone. Whatever they left, it keeps nobody waiting.
    pub(crate) fn clear_work(&self) -> io::Result<()> {
        let trash = self.trash();
        if let Err(error) = trash.set_aside(&self.work()) {
            tracing::warn!(%error, "cannot set aside what children left behind");
        }
        trash.empty_in_background();
        fs::create_dir_all(self.work())
    }

    /// Archives: sources below `gitrepository/`, outputs of tasks beside it.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.data_dir.join("artifacts")
    }

    /// Cached repositories.
    pub(crate) fn git_cache(&self) -> PathBuf {
        self.data_dir.join("git")
    }

    /// One file for every process group that runs.
    pub(crate) fn runs(&self) -> PathBuf {
        self.data_dir.join("runs")
    }

    /// The log of an object, such as `logs/task/default/build/3.log`.
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
        Trash::new(self.data_dir.join("trash"))
    }

    fn logs(&self) -> PathBuf {
        self.data_dir.join("logs")
    }

    fn work(&self) -> PathBuf {
        self.data_dir.join("work")
    }
}

/// Reads the id of the data directory, or gives it one.
fn instance_id(data_dir: &Path) -> io::Result<String> {
    let file = data_dir.join("instance");
    if let Some(known) = fs::read_to_string(&file)
        .ok()
        .and_then(|id| Uuid::parse_str(id.trim()).ok())
    {
        return Ok(known.to_string());
    }
    let fresh = Uuid::new_v4().to_string();
    let partial = data_dir.join("instance.partial");
    fs::write(&partial, &fresh)?;
    fs::File::open(&partial)?.sync_all()?;
    fs::rename(&partial, &file)?;
    fs::File::open(data_dir)?.sync_all()?;
    Ok(fresh)
}
