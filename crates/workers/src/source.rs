//! The files a child starts with.

use std::path::{Path, PathBuf};

use pathline_kinds::workers::Source;
use pathline_remote::archive::{self, Limits};
use url::Url;

use crate::places::Places;
use crate::trash::Trash;

/// The reason for which the files of a [`Source`] are not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the source `{0}` is not a `file://` URL of an archive")]
    NotAFile(String),
    #[error("the source `{0}` cannot be unpacked")]
    Unpack(String, #[source] archive::Error),
    #[error("cannot prepare a directory for the source")]
    Directory(#[source] std::io::Error),
}

/// The directories of one run: its files, its home and its temporary files. Removed on drop.
#[derive(Debug)]
pub(crate) struct WorkDir {
    place: PathBuf,
    trash: Trash,
}

impl WorkDir {
    /// Unpacks the source, if there is one, into a fresh directory.
    pub(crate) async fn create(places: &Places, source: Option<Source>) -> Result<Self, Error> {
        let work = Self {
            place: places.new_work(),
            trash: places.trash(),
        };
        let places = places.clone();
        let made = tokio::task::spawn_blocking(move || {
            for directory in [work.files(), work.home(), work.temporary()] {
                std::fs::create_dir_all(directory).map_err(Error::Directory)?;
            }
            if let Some(source) = source {
                let archive = places.archive(&source.url);
                let archive = archive.ok_or_else(|| Error::NotAFile(source.url.clone()))?;
                archive::unpack(&archive, &work.files(), Limits::default())
                    .map_err(|why| Error::Unpack(source.url, why))?;
            }
            Ok(work)
        });
        made.await.expect("unpacking does not panic")
    }

    /// Returns the directory in which the command runs.
    pub(crate) fn files(&self) -> PathBuf {
        self.place.join("files")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.place.join("home")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.place.join("tmp")
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        match self.trash.set_aside(&self.place) {
            Ok(()) => self.trash.empty_in_background(),
            Err(_) => self.trash.remove_in_place(vec![self.place.clone()]),
        }
    }
}

/// The URL under which an archive is published.
pub(crate) fn archive_url(path: &Path) -> String {
    Url::from_file_path(path)
        .expect("the data directory is an absolute path")
        .into()
}
