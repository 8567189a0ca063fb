//! Sharing: trackers that ask the same question ask it once.

use std::fmt;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::label::Label;
use crate::release::hex;
use crate::request::SourceLocation;

/// The key of fingerprints: random, and another one in every process.
#[derive(Clone)]
pub struct FingerprintKey([u8; 32]);

/// The mark by which the same credentials are known, and from which nobody finds out what they are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

/// A question to a repository. Answers are shared only among those who ask with the same credentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceKey {
    /// The file and its revision.
    pub source: SourceLocation,
    /// The credentials; nothing for nobody in particular.
    pub credentials: Option<Fingerprint>,
}

/// A question to a registry. Answers are shared only among those who ask with the same credentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageKey {
    /// The repository, with its registry.
    pub repository: String,
    /// The label.
    pub label: String,
    /// The credentials; nothing for nobody in particular.
    pub credentials: Option<Fingerprint>,
}

impl FingerprintKey {
    /// Returns a key; it is as good as its bytes are random.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the fingerprint of a secret; nothing for an empty one.
    pub fn fingerprint(&self, secret: &str) -> Option<Fingerprint> {
        if secret.is_empty() {
            return None;
        }
        // Twice, so that a longer secret cannot be told from the hash of its beginning.
        let inner = Sha256::new()
            .chain_update(self.0)
            .chain_update(secret)
            .finalize();
        let outer = Sha256::new()
            .chain_update(self.0)
            .chain_update(inner)
            .finalize();
        Some(Fingerprint(hex(&outer[..16])))
    }
}

impl ImageKey {
    /// Returns the question for a label.
    pub fn new(repository: &str, label: &Label, credentials: Option<Fingerprint>) -> Self {
        Self {
            repository: repository.to_owned(),
            label: label.as_str().to_owned(),
            credentials,
        }
    }
}

/// Tells whether a shared answer of a repository may be part of a cycle: only if it was asked for after the registry had
/// answered. An older one could miss the configuration that was committed for the image.
pub fn may_pair(registry_answered: Timestamp, source_asked: Timestamp) -> bool {
    source_asked > registry_answered
}

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
