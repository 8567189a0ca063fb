//! Secrets: tokens and passwords on their way into a header.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// The variables by which Pathline itself is given secrets: no program that it runs inherits them.
pub const SECRET_VARIABLES: [&str; 3] = ["PATHLINE_LEDGER", "PATHLINE_SEAL_KEY", "PATHLINE_TOKEN"];

/// A token or a password. It is printed nowhere, and wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Returns the secret, for the header of a request and for nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_not_printed() {
        let secret = Secret::new("s3cret");
        assert_eq!(
            format!("{secret:?} {:?}", Some(&secret)),
            "[redacted] Some([redacted])"
        );
        assert_eq!(secret.reveal(), "s3cret");
    }
}
