//! The outputs of a task.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use pathline_kinds::workers::Output;
use pathline_remote::archive::{self, Limits, pack_directory};

use crate::source::archive_url;

/// A value ends up in a Kubernetes object, which is no place for more.
const MAX_VALUE_BYTES: u64 = 64 << 10;

/// The longest tag a registry would take.
const MAX_TAG_BYTES: usize = 128;

/// The reason for which an output is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("output `{0}` must have either `file` or `directory`")]
    Malformed(String),
    #[error("output `{0}` has a `tag`, which only a `directory` can have")]
    TaggedFile(String),
    #[error(
        "output `{name}`: `{path}` holds no tag: at most 128 letters, digits, `_`, `.` and `-` are one"
    )]
    NoTag { name: String, path: String },
    #[error("output `{name}`: `{path}` is not in the directory of the task")]
    Missing { name: String, path: String },
    #[error("output `{name}`: `{path}` is not text of at most {MAX_VALUE_BYTES} bytes")]
    NotText { name: String, path: String },
    #[error("output `{name}`: cannot read `{path}`")]
    Read {
        name: String,
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("output `{name}`: cannot pack `{path}`")]
    Pack {
        name: String,
        path: String,
        #[source]
        source: archive::Error,
    },
}

/// Collects the outputs from `files`; directories are packed into `artifacts`. Blocks.
pub(super) fn collect(
    outputs: &[Output],
    files: &Path,
    artifacts: &Path,
) -> Result<BTreeMap<String, String>, Error> {
    outputs
        .iter()
        .map(|output| {
            let name = &output.name;
            let value = match (&output.file, &output.directory) {
                (Some(_), None) if output.tag.is_some() => {
                    return Err(Error::TaggedFile(name.clone()));
                }
                (Some(path), None) => read(name, files, path)?,
                (None, Some(path)) => pack(output, files, path, artifacts)?,
                _ => return Err(Error::Malformed(name.clone())),
            };
            Ok((name.clone(), value))
        })
        .collect()
}

fn read(name: &str, files: &Path, path: &str) -> Result<String, Error> {
    let place = locate(name, files, path, Path::is_file)?;
    let mut text = String::new();
    let content = std::fs::File::open(place)
        .and_then(|file| file.take(MAX_VALUE_BYTES + 1).read_to_string(&mut text));
    match content {
        Ok(_) if text.len() as u64 <= MAX_VALUE_BYTES => Ok(text.trim().to_owned()),
        Err(source) if source.kind() != std::io::ErrorKind::InvalidData => Err(Error::Read {
            name: name.into(),
            path: path.into(),
            source,
        }),
        _ => Err(Error::NotText {
            name: name.into(),
            path: path.into(),
        }),
    }
}

fn pack(output: &Output, files: &Path, path: &str, artifacts: &Path) -> Result<String, Error> {
    let name = output.name.as_str();
    let place = locate(name, files, path, Path::is_dir)?;
    let tag = output.tag.as_ref();
    let tag = tag.map(|path| read_tag(name, files, path)).transpose()?;
    let archive =
        pack_directory(&place, artifacts, Limits::default()).map_err(|source| Error::Pack {
            name: name.into(),
            path: path.into(),
            source,
        })?;
    let url = archive_url(&archive.path);
    Ok(match tag {
        Some(tag) => format!("{url}:{tag}@sha256:{}", archive.digest),
        None => url,
    })
}

fn read_tag(name: &str, files: &Path, path: &str) -> Result<String, Error> {
    let tag = read(name, files, path)?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if tag.is_empty() || tag.len() > MAX_TAG_BYTES || !tag.bytes().all(fits) {
        let (name, path) = (name.to_owned(), path.to_owned());
        return Err(Error::NoTag { name, path });
    }
    Ok(tag)
}

/// Resolves a path, through links, to something inside of `files`.
fn locate(
    name: &str,
    files: &Path,
    path: &str,
    is_right: fn(&Path) -> bool,
) -> Result<PathBuf, Error> {
    let root = files.canonicalize().ok();
    let place = files.join(path).canonicalize().ok();
    place
        .filter(|place| root.is_some_and(|root| place.starts_with(root)) && is_right(place))
        .ok_or_else(|| Error::Missing {
            name: name.into(),
            path: path.into(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(file: Option<&str>, directory: Option<&str>) -> [Output; 1] {
        [Output {
            name: "out".into(),
            file: file.map(Into::into),
            directory: directory.map(Into::into),
            tag: None,
        }]
    }

    fn tagged(file: Option<&str>, directory: Option<&str>, tag: &str) -> [Output; 1] {
        let [plain] = output(file, directory);
        let tag = Some(tag.to_owned());
        [Output { tag, ..plain }]
    }

    #[test]
    fn files_give_their_text_and_directories_the_same_archive_every_time() {
        let dir = tempfile::tempdir().unwrap();
        let (files, artifacts) = (dir.path().join("files"), dir.path().join("artifacts"));
        std::fs::create_dir_all(files.join("public")).unwrap();
        std::fs::write(files.join("version"), " 1.2.3\n\n").unwrap();
        std::fs::write(files.join("public/index.html"), "<h1>").unwrap();
        let text = collect(&output(Some("version"), None), &files, &artifacts).unwrap();
        assert_eq!(text["out"], "1.2.3");
        let packed = collect(&output(None, Some("public")), &files, &artifacts).unwrap();
        let again = collect(&output(None, Some("./public/")), &files, &artifacts).unwrap();
        assert_eq!(packed, again);
        let path = packed["out"].strip_prefix("file://").unwrap();
        assert!(
            path.contains("/sha256-") && Path::new(path).is_file(),
            "{path}"
        );
    }

    #[test]
    fn tagged_directory_is_referred_to_by_tag_and_digest() {
        let dir = tempfile::tempdir().unwrap();
        let (files, artifacts) = (dir.path().join("files"), dir.path().join("artifacts"));
        std::fs::create_dir_all(files.join("public")).unwrap();
        std::fs::write(files.join("commit"), "8f1c2e7d\n").unwrap();
        let plain = collect(&output(None, Some("public")), &files, &artifacts).unwrap();
        let wanted = tagged(None, Some("public"), "commit");
        let reference = collect(&wanted, &files, &artifacts).unwrap();
        let (url, digest) = reference["out"].split_once(":8f1c2e7d@sha256:").unwrap();
        assert_eq!(url, plain["out"]);
        assert!(url.contains(digest), "{url} is named by {digest}");
    }

    #[test]
    fn what_is_missing_elsewhere_or_unsuitable_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let files = dir.path().join("files");
        std::fs::create_dir_all(&files).unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("../secret", files.join("link")).unwrap();
        std::fs::write(files.join("binary"), [0xff, 0xfe]).unwrap();
        std::fs::write(files.join("text"), "two words").unwrap();
        std::fs::write(files.join("big"), vec![b'x'; MAX_VALUE_BYTES as usize + 1]).unwrap();
        let both = output(Some("a"), Some("b"));
        for wanted in [
            &output(Some("nothing"), None),
            &output(Some("../secret"), None),
            &output(Some("/etc/hostname"), None),
            &output(Some("link"), None),
            &output(Some("."), None),
            &output(None, Some("binary")),
            &output(None, Some("..")),
            &output(Some("binary"), None),
            &output(Some("big"), None),
            &output(None, None),
            &both,
            &tagged(Some("text"), None, "text"),
            &tagged(None, Some("."), "nothing"),
            &tagged(None, Some("."), "text"),
        ] {
            let refused = collect(wanted, &files, &dir.path().join("artifacts"));
            assert!(
                refused.unwrap_err().to_string().contains("`out`"),
                "{wanted:?}"
            );
        }
    }
}
