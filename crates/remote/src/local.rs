//! The repository somebody works in: files at a revision of it.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};

use gix::sec::Trust;
use gix::sec::trust::{DefaultForLevel as _, Mapping};

type Cause = Box<dyn StdError + Send + Sync>;

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The error of reading a file at a revision.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither the directory nor one above it has a repository.
    #[error("`{}` is not inside of a git repository", .directory.display())]
    NoRepository {
        /// The directory that the search began in.
        directory: PathBuf,
        /// The cause.
        #[source]
        cause: Cause,
    },
    /// The revision names nothing, or nothing that has files.
    #[error("the repository has no commit `{revision}`")]
    UnknownRevision {
        /// The revision, as it was given.
        revision: String,
        /// The cause.
        #[source]
        cause: Cause,
    },
    /// The revision has no such file.
    #[error("there is no file `{path}` at `{revision}`")]
    NoSuchFile {
        /// The path from the top of the repository.
        path: String,
        /// The revision.
        revision: String,
    },
    /// The file is larger than what is read.
    #[error("`{path}` has {size} bytes at `{revision}`, and at most {MAX_FILE_BYTES} are read")]
    TooLarge {
        /// The path from the top of the repository.
        path: String,
        /// The revision.
        revision: String,
        /// Its size in bytes.
        size: u64,
    },
    /// The repository is damaged or cannot be read.
    #[error("cannot read the repository")]
    Unreadable(#[source] Cause),
}

/// Returns the content of the file `path` at `revision` of the repository around `directory`.
///
/// As in git, a path is from the top of the repository unless it begins with `./`: then it is from
/// `directory`.
///
/// # Errors
///
/// Fails when there is no repository, revision or file, the file is too large, or it cannot be read.
pub fn file_at(directory: &Path, revision: &str, path: &str) -> Result<Vec<u8>, Error> {
    let repository = discover(directory).map_err(|cause| Error::NoRepository {
        directory: directory.to_owned(),
        cause: cause.into(),
    })?;
    let path = from_top(&repository, directory, path)?;
    let tree = tree_of(&repository, revision).map_err(|cause| Error::UnknownRevision {
        revision: revision.to_owned(),
        cause,
    })?;
    let missing = || Error::NoSuchFile {
        path: path.display().to_string(),
        revision: revision.to_owned(),
    };
    let entry = tree.lookup_entry_by_path(&path).map_err(unreadable)?;
    let id = entry.ok_or_else(missing)?.object_id();
    let header = repository.find_header(id).map_err(unreadable)?;
    if header.kind() != gix::object::Kind::Blob {
        return Err(missing());
    }
    if header.size() > MAX_FILE_BYTES {
        return Err(Error::TooLarge {
            path: path.display().to_string(),
            revision: revision.to_owned(),
            size: header.size(),
        });
    }
    let mut blob = repository.find_blob(id).map_err(unreadable)?;
    Ok(blob.take_data())
}

/// Finds the repository around a directory, in which nothing larger than a file may be is read whole.
fn discover(directory: &Path) -> gix::Result<gix::Repository> {
    let limited = |trust| {
        let limit = format!("gitoxide.objects.allocLimit={MAX_FILE_BYTES}");
        gix::open::Options::default_for_level(trust).config_overrides([limit])
    };
    let options = Mapping {
        full: limited(Trust::Full),
        reduced: limited(Trust::Reduced),
    };
    let found = gix::ThreadSafeRepository::discover_opts(directory, Default::default(), options)?;
    Ok(found.to_thread_local())
}

fn from_top(repository: &gix::Repository, directory: &Path, path: &str) -> Result<PathBuf, Error> {
    let (Some(beside), Some(top)) = (path.strip_prefix("./"), repository.workdir()) else {
        return Ok(path.trim_start_matches("./").into());
    };
    let top = top.canonicalize().map_err(unreadable)?;
    let directory = directory.canonicalize().map_err(unreadable)?;
    Ok(directory
        .strip_prefix(top)
        .map_err(unreadable)?
        .join(beside))
}

fn tree_of<'repo>(
    repository: &'repo gix::Repository,
    revision: &str,
) -> Result<gix::Tree<'repo>, Cause> {
    let commit = repository.rev_parse_single(revision)?;
    Ok(commit.object()?.peel_to_tree()?)
}

fn unreadable(cause: impl Into<Cause>) -> Error {
    Error::Unreadable(cause.into())
}
