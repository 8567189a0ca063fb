//! Manifests, and the digests behind tags.

use reqwest::header::{ACCEPT, HeaderName, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use serde::Deserialize;

use super::conversation::Conversation;
use super::digest::{agrees, is_digest, sha256};
use super::{Head, RegistryError};
use crate::http::{Answer, Request};

/// The kinds of manifests: a registry that is not asked for all of them may answer with another digest.
pub(super) const ACCEPTED: &str = concat!(
    "application/vnd.oci.image.index.v1+json, ",
    "application/vnd.oci.image.manifest.v1+json, ",
    "application/vnd.docker.distribution.manifest.list.v2+json, ",
    "application/vnd.docker.distribution.manifest.v2+json"
);
/// The largest manifest, or configuration of an image.
pub(super) const MAX_MANIFEST_BYTES: u64 = 4 << 20;
/// The beginning of the kinds of manifests that a registry makes up for old clients, with digests of their own.
const OLD: &str = "application/vnd.docker.distribution.manifest.v1+";

/// The header with the digest.
const DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

impl Conversation<'_> {
    /// Asks for the digest of a manifest.
    pub(super) async fn head(
        &mut self,
        reference: &str,
        known: Option<&str>,
    ) -> Result<Head, RegistryError> {
        let url = self.url("manifests", reference)?;
        let condition = known.map(|it| format!("\"{it}\""));
        let prepare = |request: Request| {
            let request = request.header(ACCEPT, ACCEPTED);
            match &condition {
                Some(condition) => request.header(IF_NONE_MATCH, condition),
                None => request,
            }
        };
        let answer = self.send(Method::HEAD, &url, prepare).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if known.is_some() => return Ok(Head::Unchanged),
            StatusCode::NOT_FOUND => return Ok(Head::Missing),
            // Some proxies only let GET pass.
            StatusCode::METHOD_NOT_ALLOWED => {}
            _ => return Err(self.fail(answer)),
        }
        let told = match answer.status {
            StatusCode::OK => self.digest(answer, reference)?,
            _ => None,
        };
        let digest = match told {
            Some(digest) => digest,
            None => match self.manifest(reference).await? {
                Some((_, digest)) => digest,
                None => return Ok(Head::Missing),
            },
        };
        Ok(match known == Some(&*digest) {
            true => Head::Unchanged,
            false => Head::Digest(digest),
        })
    }

    /// Reads a manifest, with the digest of its content; nothing if there is none.
    pub(super) async fn manifest(
        &mut self,
        reference: &str,
    ) -> Result<Option<(Vec<u8>, String)>, RegistryError> {
        let url = self.url("manifests", reference)?;
        let prepare = |request: Request| request.header(ACCEPT, ACCEPTED).cap(MAX_MANIFEST_BYTES);
        let answer = self.send(Method::GET, &url, prepare).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            _ => return Err(self.fail(answer)),
        }
        let content = answer.body.clone();
        if !is_manifest(&content) {
            return Err(self.nonsense(answer, "answers with something that is no manifest"));
        }
        let told = self.digest(answer.clone(), reference)?;
        let digest = told.unwrap_or_else(|| match is_digest(reference) {
            true => reference.to_owned(),
            false => sha256(&content),
        });
        if !agrees(&digest, &content) {
            let why = "answers with a manifest that has not the digest which it says";
            return Err(self.nonsense(answer, why));
        }
        Ok(Some((content, digest)))
    }

    /// Returns the digest that an answer has in its header, if it has one.
    fn digest(&self, answer: Answer, reference: &str) -> Result<Option<String>, RegistryError> {
        if answer.media_type().starts_with(OLD) {
            let why = "only has a manifest of version 1, whose digest is made up for us";
            return Err(self.nonsense(answer, why));
        }
        let digest = match answer.header(&DIGEST) {
            None => return Ok(None),
            Some(digest) if is_digest(digest) => digest.to_owned(),
            Some(_) => return Err(self.nonsense(answer, "answers with no digest")),
        };
        if is_digest(reference) && reference != digest {
            let why = "answers with another digest than it was asked for";
            return Err(self.nonsense(answer, why));
        }
        Ok(Some(digest))
    }
}

/// Tells whether a content is a manifest or an index. Whoever is in between may answer a page of its own, with a good
/// status: its hash would be taken for a digest.
fn is_manifest(content: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Manifest {
        schema_version: u32,
    }
    serde_json::from_slice::<Manifest>(content).is_ok_and(|it| it.schema_version == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_of_a_portal_is_no_manifest() {
        assert!(is_manifest(br#"{"schemaVersion": 2, "config": {}}"#));
        for other in ["", "<html>hi</html>", "{}", "[]", r#"{"schemaVersion": 1}"#] {
            assert!(!is_manifest(other.as_bytes()), "{other}");
        }
    }
}
