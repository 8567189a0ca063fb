//! The file that says what to serve.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use url::Url;

use crate::report::{Exit, Hint};

/// A manifest that has been checked: the archive is a local path and the commit is one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    archive: PathBuf,
    commit: String,
}

/// The manifest as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    image: String,
    commit: String,
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("cannot read the manifest {}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the manifest {} is malformed", .path.display())]
    Parse {
        path: PathBuf,
        source: Box<serde_saphyr::Error>,
    },
    #[error("the manifest {} names the image `{image}`, which is no file:// URL", .path.display())]
    Image { path: PathBuf, image: String },
    #[error("the manifest {} names the commit `{commit}`, which is not a hexadecimal id", .path.display())]
    Commit { path: PathBuf, commit: String },
}

impl Hint for ManifestError {
    fn hint(&self) -> Option<String> {
        Some("`pathline help site` shows what a manifest looks like".to_owned())
    }

    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

impl Manifest {
    /// Reads and checks the manifest at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, ManifestError> {
        let text = std::fs::read_to_string(path).map_err(|source| ManifestError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Returns the path of the archive to serve.
    pub(crate) fn archive(&self) -> &Path {
        &self.archive
    }

    /// Returns the commit the archive was built from.
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ManifestError> {
        let options = serde_saphyr::options! { strict_booleans: true };
        let Document { image, commit } = serde_saphyr::from_str_with_options(text, options)
            .map_err(|source| ManifestError::Parse {
                path: path.to_owned(),
                source: source.into(),
            })?;
        let local = Url::parse(&image).ok().filter(|url| url.scheme() == "file");
        let Some(archive) = local.and_then(|url| url.to_file_path().ok()) else {
            return Err(ManifestError::Image {
                path: path.to_owned(),
                image,
            });
        };
        if commit.is_empty() || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ManifestError::Commit {
                path: path.to_owned(),
                commit,
            });
        }
        Ok(Self { archive, commit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(text, Path::new("site.yaml"))
    }

    #[test]
    fn commit_that_looks_like_a_number_stays_as_written() {
        let manifest = parse("image: file:///a/b.tar.gz\ncommit: 0012345\n").unwrap();
        assert_eq!(manifest.commit(), "0012345");
        assert_eq!(manifest.archive(), Path::new("/a/b.tar.gz"));
    }

    #[test]
    fn wrong_manifests_say_what_is_wrong() {
        assert!(matches!(
            parse("image: file:///a\n"),
            Err(ManifestError::Parse { .. })
        ));
        assert!(matches!(
            parse("image: file:///a\ncommit: ab\nport: 1\n"),
            Err(ManifestError::Parse { .. })
        ));
        assert!(matches!(
            parse("image: https://example.com/a\ncommit: ab\n"),
            Err(ManifestError::Image { .. })
        ));
        assert!(matches!(
            parse("image: file:///a\ncommit: main\n"),
            Err(ManifestError::Commit { .. })
        ));
    }
}
