//! Tokens: secrets that show themselves only when told to.

use std::fmt;

use zeroize::Zeroizing;

/// The longest token, in bytes.
const MAX_TOKEN: usize = 512;

/// The secret by which a repository is read. It is printed nowhere, and wiped when it is dropped; without content it
/// means that nobody logs in.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// Takes a token; nothing if it is not visible ASCII, or too long.
    pub fn new(text: String) -> Option<Self> {
        // Wrapped first, so that a text which is refused is wiped as well.
        let token = Self(Zeroizing::new(text));
        let is_visible = token.0.bytes().all(|byte| byte.is_ascii_graphic());
        (is_visible && token.0.len() <= MAX_TOKEN).then_some(token)
    }

    /// Tells whether there is none: the repository is read anonymously.
    pub fn is_anonymous(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the secret, for the header of a request and for sealing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
