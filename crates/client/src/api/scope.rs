//! Scopes of tokens.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The rights of a token; each scope includes the ones before it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Look at everything.
    Read,
    /// Change what Pathline works on.
    Write,
    /// Make and revoke tokens.
    Admin,
}

impl Scope {
    /// All scopes, the smallest first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is no scope.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no scope: read, write or admin is expected")]
pub struct ParseScopeError(String);

impl FromStr for Scope {
    type Err = ParseScopeError;

    fn from_str(text: &str) -> Result<Self, ParseScopeError> {
        let mut scopes = Self::ALL.into_iter();
        let named = scopes.find(|scope| scope.as_str() == text);
        named.ok_or_else(|| ParseScopeError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_by_the_words_that_json_has() {
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse::<Scope>().unwrap(), scope);
            assert_eq!(serde_json::json!(scope), scope.as_str());
        }
        assert!("root".parse::<Scope>().is_err());
    }
}
