//! Objects in files, ready to be applied.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kube::ResourceExt;
use kube::api::{DynamicObject, TypeMeta};
use serde_json::Value;

use crate::terminal::report::{Exit, Hint};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// An object, and where it stands.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The file, and which document of it.
    pub(super) place: String,
    pub(super) types: TypeMeta,
    pub(super) object: DynamicObject,
}

/// An error in a manifest to apply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("cannot read {name}")]
    Read {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("{name} is larger than 16 MiB")]
    TooLarge { name: String },
    #[error("{name} is neither YAML nor JSON")]
    Syntax {
        name: String,
        #[source]
        source: Box<serde_saphyr::Error>,
    },
    #[error("{place} is no object: apiVersion, kind and metadata.name are needed")]
    NoObject { place: String },
    #[error("there is no object in {names}")]
    Nothing { names: String },
}

impl Hint for Unusable {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Nothing { .. } => Some(
                "a directory is read for its files that end in .yaml, .yml or .json".to_owned(),
            ),
            _ => None,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Read { .. } | Self::TooLarge { .. } | Self::Syntax { .. } => Exit::Unknown,
            Self::NoObject { .. } | Self::Nothing { .. } => Exit::Usage,
        }
    }
}

/// Reads all objects of all files, in their order.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Manifest>, Unusable> {
    let mut manifests = Vec::new();
    for file in files {
        for path in expand(file)? {
            let name = path.display().to_string();
            manifests.extend(parse(&name, &text(&path, &name)?)?);
        }
    }
    if manifests.is_empty() {
        let names: Vec<_> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let names = names.join(", ");
        return Err(Unusable::Nothing { names });
    }
    Ok(manifests)
}

/// Returns the files that a directory stands for, by name; any other file stands for itself.
fn expand(path: &Path) -> Result<Vec<PathBuf>, Unusable> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|source| Unusable::Read {
        name: path.display().to_string(),
        source,
    })?;
    let suffix = |path: &PathBuf| {
        path.extension()
            .and_then(|it| it.to_str().map(str::to_owned))
    };
    let mut files: Vec<_> = entries
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| matches!(suffix(path).as_deref(), Some("yaml" | "yml" | "json")))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    Ok(files)
}

fn text(path: &Path, name: &str) -> Result<String, Unusable> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin()
            .lock()
            .take(MAX_BYTES + 1)
            .read_to_string(&mut text)
    } else {
        File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
    };
    read.map_err(|source| Unusable::Read {
        name: name.to_owned(),
        source,
    })?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Unusable::TooLarge {
            name: name.to_owned(),
        });
    }
    Ok(text)
}

fn parse(name: &str, text: &str) -> Result<Vec<Manifest>, Unusable> {
    let options = serde_saphyr::options! { strict_booleans: true };
    let documents = serde_saphyr::from_multiple_with_options::<Value>(text, options);
    let documents = documents.map_err(|source| Unusable::Syntax {
        name: name.to_owned(),
        source: Box::new(source),
    })?;
    let mut manifests = Vec::new();
    for (index, document) in documents.into_iter().enumerate() {
        let place = format!("{name}, document {}", index + 1);
        match document {
            Value::Null => {}
            list if list["kind"] == "List" => {
                let items = list["items"].as_array().cloned().unwrap_or_default();
                for (item, value) in items.into_iter().enumerate() {
                    manifests.push(manifest(format!("{place}, item {}", item + 1), value)?);
                }
            }
            value => manifests.push(manifest(place, value)?),
        }
    }
    Ok(manifests)
}

fn manifest(place: String, value: Value) -> Result<Manifest, Unusable> {
    let object = serde_json::from_value::<DynamicObject>(value).ok();
    let whole = object.filter(|object| !object.name_any().is_empty());
    let typed = whole.and_then(|object| Some((object.types.clone()?, object)));
    match typed {
        Some((types, object)) => Ok(Manifest {
            place,
            types,
            object,
        }),
        None => Err(Unusable::NoObject { place }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Manifest>, Unusable> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("objects.yaml");
        fs::write(&file, text).unwrap();
        read(&[file])
    }

    const WORKLOAD: &str =
        "apiVersion: carto.run/v1alpha1\nkind: Workload\nmetadata: {name: hello}\n";

    #[test]
    fn objects_of_a_directory_come_by_file_and_document() {
        let dir = tempfile::tempdir().unwrap();
        let second = WORKLOAD.replace("hello", "second");
        let item = "{apiVersion: v1, kind: ConfigMap, metadata: {name: third}}";
        let list = format!("{{apiVersion: v1, kind: List, items: [{item}]}}");
        fs::write(dir.path().join("b.yml"), format!("{second}---\n{list}\n")).unwrap();
        fs::write(
            dir.path().join("a.yaml"),
            format!("---\n{WORKLOAD}---\n# nothing\n"),
        )
        .unwrap();
        fs::write(dir.path().join("README.md"), "no YAML: [").unwrap();
        let manifests = read(&[dir.path().to_owned()]).unwrap();
        let names: Vec<_> = manifests.iter().map(|it| it.object.name_any()).collect();
        assert_eq!(names, ["hello", "second", "third"]);
        assert!(manifests[2].place.ends_with("b.yml, document 2, item 1"));
    }

    #[test]
    fn what_is_no_object_is_named_by_its_place() {
        let nameless = format!("{WORKLOAD}---\napiVersion: v1\nkind: ConfigMap\n");
        let error = read_text(&nameless).unwrap_err().to_string();
        assert!(
            error.contains("objects.yaml, document 2 is no object"),
            "{error}"
        );
        let error = read_text("a: [").unwrap_err();
        assert!(matches!(error, Unusable::Syntax { .. }));
        assert!(matches!(
            read_text("# nothing\n"),
            Err(Unusable::Nothing { .. })
        ));
        let missing = read(&["/nowhere.yaml".into()]);
        assert!(matches!(missing, Err(Unusable::Read { .. })));
    }
}
