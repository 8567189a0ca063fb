//! The origin of an image, from its manifest and its configuration.

use std::collections::BTreeMap;

use reqwest::{Method, StatusCode};
use serde::Deserialize;

use super::conversation::Conversation;
use super::digest::{agrees, is_digest};
use super::manifest::MAX_MANIFEST_BYTES;
use super::{Description, RegistryError, RegistryErrorKind};
use crate::http::Request;

/// The label with the commit.
const REVISION: &str = "org.opencontainers.image.revision";
/// The label with the repository.
const SOURCE: &str = "org.opencontainers.image.source";
/// The annotation of entries of an index that are no images but say something about one.
const ATTACHED: &str = "vnd.docker.reference.type";

type Labels = BTreeMap<String, String>;

/// A manifest or an index, as far as it is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Manifest {
    manifests: Option<Vec<Entry>>,
    config: Option<Entry>,
    annotations: Option<Labels>,
}

/// A reference to something else.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    digest: String,
    platform: Option<Platform>,
    annotations: Option<Labels>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Platform {
    os: String,
}

/// The configuration of an image, as far as it is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Configuration {
    config: Option<Runtime>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Runtime {
    #[serde(rename = "Labels")]
    labels: Option<Labels>,
}

impl Conversation<'_> {
    /// Reads the origin; what is nearer to the index counts more.
    pub(super) async fn describe(&mut self, digest: &str) -> Result<Description, RegistryError> {
        let mut found = Description::default();
        let mut manifest = self.parsed(digest).await?;
        found.take(manifest.annotations.as_ref());
        if let Some(entries) = manifest.manifests.take() {
            let Some(image) = entries.iter().find(|it| it.is_image()) else {
                return Ok(found);
            };
            found.take(image.annotations.as_ref());
            manifest = self.parsed(&image.digest).await?;
            found.take(manifest.annotations.as_ref());
        }
        let config = manifest.config.filter(|_| !found.is_complete());
        if let Some(config) = config.filter(|it| is_digest(&it.digest)) {
            let configuration = self.configuration(&config.digest).await?;
            let labels = configuration.config.and_then(|it| it.labels);
            found.take(labels.as_ref());
        }
        Ok(found)
    }

    async fn parsed(&mut self, digest: &str) -> Result<Manifest, RegistryError> {
        let Some((content, _)) = self.manifest(digest).await? else {
            let told = format!("there is no manifest {digest}");
            return Err(RegistryError {
                kind: RegistryErrorKind::NotFound,
                status: Some(StatusCode::NOT_FOUND.as_u16()),
                signs: Box::new(self.signs.clone()),
                message: told,
            });
        };
        serde_json::from_slice(&content)
            .map_err(|_| RegistryError::new(format!("the manifest {digest} cannot be read")))
    }

    async fn configuration(&mut self, digest: &str) -> Result<Configuration, RegistryError> {
        let url = self.url("blobs", digest)?;
        let prepare = |request: Request| request.cap(MAX_MANIFEST_BYTES);
        let answer = self.send(Method::GET, &url, prepare).await?;
        if answer.status != StatusCode::OK {
            return Err(self.fail(answer));
        }
        if !agrees(digest, &answer.body) {
            let why = "answers with a configuration that has not the digest which it says";
            return Err(self.nonsense(answer, why));
        }
        // Other artifacts than images have configurations of their own.
        Ok(serde_json::from_slice(&answer.body).unwrap_or_default())
    }
}

impl Entry {
    /// Tells whether it is an image that can run somewhere, and not an attestation of one.
    fn is_image(&self) -> bool {
        let annotations = self.annotations.as_ref();
        let is_attached = annotations.is_some_and(|it| it.contains_key(ATTACHED));
        let is_unknown = self.platform.as_ref().is_some_and(|it| it.os == "unknown");
        is_digest(&self.digest) && !is_attached && !is_unknown
    }
}

impl Description {
    /// Takes what is not known yet.
    fn take(&mut self, labels: Option<&Labels>) {
        let Some(labels) = labels else {
            return;
        };
        for (field, label) in [(&mut self.revision, REVISION), (&mut self.source, SOURCE)] {
            if field.is_none() {
                *field = labels.get(label).filter(|it| !it.is_empty()).cloned();
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.revision.is_some() && self.source.is_some()
    }
}
