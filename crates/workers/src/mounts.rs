//! ConfigMaps and Secrets that a command is given, as files and as variables.
//!
//! A process has no root directory of its own, as a container does: what is mounted lies below the directory that it
//! runs in.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use pathline_kinds::workers::{KeyReference, KeyToPath, Variable, Volume, VolumeMount};

/// The reason for which a command is not given what it is declared to read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("there is no {kind} `{name}` in this namespace")]
    Missing { kind: &'static str, name: String },
    #[error("the {kind} `{name}` has no key `{key}`")]
    MissingKey {
        kind: &'static str,
        name: String,
        key: String,
    },
    #[error("the {kind} `{name}` cannot be read")]
    Read {
        kind: &'static str,
        name: String,
        #[source]
        source: kube::Error,
    },
    #[error("the value of variable `{0}` is no text")]
    NoText(String),
    #[error("the variable `{0}` needs one of configMapKeyRef and secretKeyRef in valueFrom")]
    NoSource(String),
    #[error("no volume is called `{0}`; volumes have a configMap, a secret or projected sources")]
    NoVolume(String),
    #[error("`{0}` leads out of the directory that the command runs in; write it without `..`")]
    Outside(String),
    #[error("cannot write `{0}`")]
    Write(String, #[source] io::Error),
}

impl Error {
    /// Tells whether the same may succeed later: somebody may create the object, or the API server answer.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. } | Self::MissingKey { .. } | Self::Read { .. }
        )
    }
}

/// A ConfigMap or a Secret.
#[derive(Clone, Copy, Debug)]
enum Kind {
    ConfigMap,
    Secret,
}

/// The content of a ConfigMap or Secret, by key.
type Content = BTreeMap<String, Vec<u8>>;

/// Reads ConfigMaps and Secrets of one namespace.
pub(crate) struct Mounts<'c> {
    pub(crate) client: &'c Client,
    pub(crate) namespace: &'c str,
}

impl Mounts<'_> {
    /// Returns variables with their values, those from ConfigMaps and Secrets too.
    pub(crate) async fn variables(&self, declared: &[Variable]) -> Result<Vec<Variable>, Error> {
        let mut variables = Vec::with_capacity(declared.len());
        for variable in declared {
            let value = match &variable.value_from {
                None => variable.value.clone(),
                Some(from) => {
                    let (kind, reference) = match (&from.config_map_key_ref, &from.secret_key_ref) {
                        (Some(reference), None) => (Kind::ConfigMap, reference),
                        (None, Some(reference)) => (Kind::Secret, reference),
                        _ => return Err(Error::NoSource(variable.name.clone())),
                    };
                    let bytes = self.value(kind, reference).await?;
                    let text = String::from_utf8(bytes);
                    text.map_err(|_| Error::NoText(variable.name.clone()))?
                }
            };
            variables.push(Variable {
                name: variable.name.clone(),
                value,
                value_from: None,
            });
        }
        Ok(variables)
    }

    /// Writes the files of volumes to where they are mounted, below a directory.
    pub(crate) async fn write(
        &self,
        volumes: &[Volume],
        mounts: &[VolumeMount],
        directory: &Path,
    ) -> Result<(), Error> {
        for mount in mounts {
            let volume = volumes.iter().find(|it| it.name == mount.name);
            let no_volume = || Error::NoVolume(mount.name.clone());
            let volume = volume.ok_or_else(no_volume)?;
            for (kind, name, items) in sources(volume).ok_or_else(no_volume)? {
                let content = self.read(kind, name).await?;
                for (path, bytes) in files(kind, name, items, content)? {
                    write_file(directory, &[&mount.mount_path, &path], &bytes, kind)?;
                }
            }
        }
        Ok(())
    }

    async fn value(&self, kind: Kind, reference: &KeyReference) -> Result<Vec<u8>, Error> {
        let mut content = self.read(kind, &reference.name).await?;
        let value = content.remove(&reference.key);
        value.ok_or_else(|| kind.missing_key(&reference.name, &reference.key))
    }

    async fn read(&self, kind: Kind, name: &str) -> Result<Content, Error> {
        let content = match kind {
            Kind::ConfigMap => {
                let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), self.namespace);
                api.get_opt(name).await.map(|it| it.map(of_config_map))
            }
            Kind::Secret => {
                let api: Api<Secret> = Api::namespaced(self.client.clone(), self.namespace);
                api.get_opt(name).await.map(|it| it.map(of_secret))
            }
        };
        let (kind, name) = (kind.name(), name.to_owned());
        match content {
            Ok(Some(content)) => Ok(content),
            Ok(None) => Err(Error::Missing { kind, name }),
            Err(source) => Err(Error::Read { kind, name, source }),
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }

    fn missing_key(self, name: &str, key: &str) -> Error {
        Error::MissingKey {
            kind: self.name(),
            name: name.to_owned(),
            key: key.to_owned(),
        }
    }
}

/// Returns the objects of a volume, each with the keys that are wanted; none if it says not what it is.
fn sources(volume: &Volume) -> Option<Vec<(Kind, &str, &[KeyToPath])>> {
    match (&volume.config_map, &volume.secret, &volume.projected) {
        (Some(it), None, None) => Some(vec![(Kind::ConfigMap, &it.name, &it.items)]),
        (None, Some(it), None) => Some(vec![(Kind::Secret, &it.secret_name, &it.items)]),
        (None, None, Some(projected)) => {
            let sources = projected.sources.iter();
            let sources = sources.map(|it| match (&it.config_map, &it.secret) {
                (Some(it), None) => Some((Kind::ConfigMap, it.name.as_str(), &it.items[..])),
                (None, Some(it)) => Some((Kind::Secret, it.name.as_str(), &it.items[..])),
                _ => None,
            });
            sources.collect()
        }
        _ => None,
    }
}

fn of_config_map(object: ConfigMap) -> Content {
    let texts = object.data.unwrap_or_default().into_iter();
    let texts = texts.map(|(key, text)| (key, text.into_bytes()));
    let bytes = object.binary_data.unwrap_or_default().into_iter();
    texts.chain(bytes.map(|(key, it)| (key, it.0))).collect()
}

fn of_secret(object: Secret) -> Content {
    let data = object.data.unwrap_or_default().into_iter();
    data.map(|(key, bytes)| (key, bytes.0)).collect()
}

/// Returns the files of a volume, by their paths below its mount.
fn files(
    kind: Kind,
    name: &str,
    items: &[KeyToPath],
    mut content: Content,
) -> Result<Content, Error> {
    if items.is_empty() {
        return Ok(content);
    }
    let files = items.iter().map(|KeyToPath { key, path }| {
        let bytes = content.remove(key);
        let bytes = bytes.ok_or_else(|| kind.missing_key(name, key))?;
        Ok((path.clone(), bytes))
    });
    files.collect()
}

/// Writes a file below a directory. What the command starts with is somebody else's, too: links in it are not followed.
fn write_file(directory: &Path, parts: &[&str], bytes: &[u8], kind: Kind) -> Result<(), Error> {
    let told = parts.join("/");
    let mut path = directory.to_owned();
    let mut steps = Vec::new();
    for component in parts.iter().flat_map(|it| Path::new(it).components()) {
        match component {
            Component::Normal(step) => steps.push(step),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return Err(Error::Outside(told)),
        }
    }
    let Some((file, directories)) = steps.split_last() else {
        return Err(Error::Outside(told));
    };
    let failed = |error| Error::Write(told.clone(), error);
    for step in directories {
        path.push(step);
        make_directory(&path).map_err(failed)?;
    }
    path.push(file);
    replace(&path, bytes, kind).map_err(failed)
}

fn make_directory(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other("something else than a directory is there")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(path),
        Err(error) => Err(error),
    }
}

fn replace(path: &PathBuf, bytes: &[u8], kind: Kind) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mode = match kind {
        Kind::ConfigMap => 0o644,
        Kind::Secret => 0o600,
    };
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn write(directory: &Path, parts: &[&str], kind: Kind) -> Result<(), String> {
        write_file(directory, parts, b"it", kind).map_err(|error| crate::explain(&error))
    }

    #[test]
    fn files_are_written_below_the_directory_and_nowhere_else() {
        let scratch = tempfile::tempdir().unwrap();
        let (inside, outside) = (scratch.path().join("in"), scratch.path().join("out"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        write(&inside, &["/etc/web", "a.yaml"], Kind::ConfigMap).unwrap();
        assert_eq!(fs::read(inside.join("etc/web/a.yaml")).unwrap(), b"it");
        write(&inside, &["/etc/web/", "deep/a.yaml"], Kind::Secret).unwrap();
        let secret = fs::metadata(inside.join("etc/web/deep/a.yaml")).unwrap();
        assert_eq!(secret.permissions().mode() & 0o777, 0o600);
        for wrong in [&["../out", "a"], &["/etc", "../../../out/a"], &["/", "."]] {
            let told = write(&inside, wrong, Kind::ConfigMap).unwrap_err();
            assert!(told.contains("leads out of the directory"), "{told}");
        }
        symlink(&outside, inside.join("link")).unwrap();
        let told = write(&inside, &["/link", "a"], Kind::ConfigMap).unwrap_err();
        assert!(told.contains("something else than a directory"), "{told}");
        let target = outside.join("target");
        symlink(&target, inside.join("etc/web/b.yaml")).unwrap();
        write(&inside, &["/etc/web", "b.yaml"], Kind::ConfigMap).unwrap();
        assert!(!target.exists(), "a link was followed");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
    }
}
