//! The repository somebody works in: what a file was at a revision.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};

type Cause = Box<dyn StdError + Send + Sync>;

/// Why a file at a revision cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither the directory nor one above it has a repository.
    #[error("`{}` is not inside of a git repository", .directory.display())]
    NoRepository {
        /// Where the search began.
        directory: PathBuf,
        /// What was found instead.
        #[source]
        cause: Cause,
    },
    /// The revision names nothing, or nothing that has files.
    #[error("the repository has no commit `{revision}`")]
    UnknownRevision {
        /// What was asked for.
        revision: String,
        /// What git makes of it.
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
/// When there is no repository, revision or file, or it cannot be read.
pub fn file_at(directory: &Path, revision: &str, path: &str) -> Result<Vec<u8>, Error> {
    let repository = gix::discover(directory).map_err(|cause| Error::NoRepository {
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
    let object = entry.ok_or_else(missing)?.object().map_err(unreadable)?;
    match object.kind {
        gix::object::Kind::Blob => Ok(object.data.clone()),
        _ => Err(missing()),
    }
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
