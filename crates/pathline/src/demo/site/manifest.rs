//! The file that says what to serve.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use url::Url;

use crate::terminal::report::{Exit, Hint};

/// A manifest that has been checked: the archive is a local path, and commit and digest are such.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    archive: PathBuf,
    commit: String,
    digest: String,
}

/// The manifest as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    image: String,
}

/// An error in a manifest.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("cannot read the manifest {}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the manifest {} is malformed", .path.display())]
    Parse {
        path: PathBuf,
        source: Box<serde_saphyr::Error>,
    },
    #[error("the manifest {} names the image `{image}`, which is not like file://PATH:COMMIT@sha256:DIGEST", .path.display())]
    Image { path: PathBuf, image: String },
}

impl Hint for ManifestError {
    fn hint(&self) -> Option<String> {
        Some("`pathline help site` shows what a manifest looks like".to_owned())
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Read { .. } => Exit::Unknown,
            Self::Parse { .. } | Self::Image { .. } => Exit::Usage,
        }
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

    /// Returns the SHA-256 that the archive has, in hexadecimal.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the commit the archive was built from.
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ManifestError> {
        let options = serde_saphyr::options! { strict_booleans: true };
        let Document { image } =
            serde_saphyr::from_str_with_options(text, options).map_err(|source| {
                ManifestError::Parse {
                    path: path.to_owned(),
                    source: source.into(),
                }
            })?;
        Self::refer(&image).ok_or_else(|| ManifestError::Image {
            path: path.to_owned(),
            image,
        })
    }

    /// Takes a reference apart.
    fn refer(image: &str) -> Option<Self> {
        let (tagged, digest) = image.rsplit_once("@sha256:")?;
        let (url, commit) = tagged.rsplit_once(':')?;
        let url = Url::parse(url).ok().filter(|url| url.scheme() == "file")?;
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let whole = digest.len() == 64 && is_hex(digest) && !commit.is_empty() && is_hex(commit);
        Some(Self {
            archive: url.to_file_path().ok().filter(|_| whole)?,
            commit: commit.to_owned(),
            digest: digest.to_ascii_lowercase(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(text, Path::new("site.yaml"))
    }

    fn mk_image(url: &str, commit: &str) -> String {
        format!("image: {url}:{commit}@sha256:{}\n", "0a".repeat(32))
    }

    #[test]
    fn image_names_archive_commit_and_digest() {
        let manifest = parse(&mk_image("file:///a:1/b.tar.gz", "0012345")).unwrap();
        assert_eq!(manifest.commit(), "0012345");
        assert_eq!(manifest.archive(), Path::new("/a:1/b.tar.gz"));
        assert_eq!(manifest.digest(), "0a".repeat(32));
    }

    #[test]
    fn wrong_manifests_say_what_is_wrong() {
        for malformed in ["commit: ab\n", &(mk_image("file:///a", "ab") + "port: 1\n")] {
            let error = parse(malformed).unwrap_err();
            assert!(matches!(error, ManifestError::Parse { .. }), "{malformed}");
        }
        let image = mk_image("file:///a", "ab");
        for wrong in [
            mk_image("https://example.com/a", "ab"),
            mk_image("file:///a", "main"),
            mk_image("file:///a", ""),
            image.replace("@sha256:", "@sha1:"),
            image.replace("0a0a", "0a"),
            "image: file:///a\n".to_owned(),
        ] {
            let error = parse(&wrong).unwrap_err();
            assert!(matches!(error, ManifestError::Image { .. }), "{wrong}");
        }
    }
}
