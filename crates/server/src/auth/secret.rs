//! The secret of a token.

use std::fmt;

use pathline_ledger::TokenHash;
use sha2::{Digest, Sha256};

/// The prefix of every secret, so that people and scanners recognize one.
const PREFIX: &str = "pathline_";
const BYTES: usize = 32;

/// The secret of a token. It shows itself only when told to.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(String);

impl Secret {
    /// Makes a new one: `pathline_` and 256 random bits.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self(format!("{PREFIX}{digits}")))
    }

    /// Reads a secret; `None` if the text has not the shape of one.
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let whole = digits.len() == 2 * BYTES && digits.bytes().all(is_digit);
        whole.then(|| Self(text.to_owned()))
    }

    /// Returns what the ledger knows it by.
    pub fn hash(&self) -> TokenHash {
        Sha256::digest(&self.0).into()
    }

    /// Returns the text, to be shown once to whoever asked for it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_read_back() {
        let [one, other] = [(); 2].map(|()| Secret::random().unwrap());
        assert_ne!(one, other);
        assert_ne!(one.hash(), other.hash());
        assert_eq!(Secret::read(one.reveal()).unwrap(), one);
        assert_eq!(one.reveal().len(), PREFIX.len() + 64);
    }

    #[test]
    fn whatever_else_is_sent_is_no_secret() {
        let digits = "0".repeat(64);
        for text in ["", "pathline_", "pathline_12", &digits, "Pathline_0"] {
            assert!(Secret::read(text).is_none(), "{text}");
        }
        let upper = format!("pathline_{}", "A".repeat(64));
        assert!(Secret::read(&upper).is_none());
    }

    #[test]
    fn secret_is_not_printed_by_accident() {
        let secret = Secret::random().unwrap();
        assert_eq!(format!("{secret:?}"), "pathline_…");
    }
}
