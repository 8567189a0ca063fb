//! The client.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::conversation::Conversation;
use super::tokens::Tokens;
use super::{Description, Head, ImageRepository, RegistryError, RegistryLogin};
use crate::http::{HttpClient, Pace, Signs};

/// Asks registries; cheap to clone.
#[derive(Clone, Debug)]
pub struct RegistryClient {
    pub(super) http: HttpClient,
    pub(super) insecure: Arc<BTreeSet<String>>,
    pub(super) tokens: Tokens,
}

impl RegistryClient {
    /// Asks over `http`; the registries of `insecure` (`host[:port]`) without TLS.
    pub fn new(http: HttpClient, insecure: BTreeSet<String>) -> Self {
        Self {
            http,
            insecure: Arc::new(insecure),
            tokens: Tokens::new(),
        }
    }

    /// Returns the same client, with the same tokens, whose requests wait for their turn.
    #[must_use]
    pub fn paced(&self, pace: Arc<dyn Pace>) -> Self {
        Self {
            http: self.http.paced(pace),
            ..self.clone()
        }
    }

    /// Asks for the digest of a tag or digest, unless it is the known one.
    ///
    /// # Errors
    ///
    /// See [`super::RegistryErrorKind`]. An image that is not there is an answer.
    pub async fn head(
        &self,
        image: &ImageRepository,
        reference: &str,
        login: Option<&RegistryLogin>,
        known_digest: Option<&str>,
    ) -> Result<(Head, Signs), RegistryError> {
        let mut conversation = Conversation::new(self, image, login)?;
        let head = conversation.head(reference, known_digest).await?;
        Ok((head, conversation.signs))
    }

    /// Lists all tags of a repository, sorted, with the number of pages that took.
    ///
    /// # Errors
    ///
    /// See [`super::RegistryErrorKind`]. Where a page is missing there is no list.
    pub async fn tags(
        &self,
        image: &ImageRepository,
        login: Option<&RegistryLogin>,
    ) -> Result<(Vec<String>, usize, Signs), RegistryError> {
        let mut conversation = Conversation::new(self, image, login)?;
        let (tags, pages) = conversation.tags().await?;
        Ok((tags, pages, conversation.signs))
    }

    /// Reads what an image says it was made from, in its manifest and its configuration.
    ///
    /// # Errors
    ///
    /// See [`super::RegistryErrorKind`].
    pub async fn describe(
        &self,
        image: &ImageRepository,
        digest: &str,
        login: Option<&RegistryLogin>,
    ) -> Result<(Description, Signs), RegistryError> {
        let mut conversation = Conversation::new(self, image, login)?;
        let description = conversation.describe(digest).await?;
        Ok((description, conversation.signs))
    }
}
