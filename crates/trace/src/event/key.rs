//! Keys of events: what subscriptions match.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest, Sha256};

/// A digest of the name and all labels of events: a subscription takes those whose key is its own.
///
/// It is the one PipeCD has, except where that gives one key to different events: characters that separate the
/// parts are escaped within them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey(Box<str>);

impl EventKey {
    /// Returns the key of events with a name and labels.
    #[must_use]
    pub fn of(name: &str, labels: &BTreeMap<String, String>) -> Self {
        let mut text = escaped(name);
        for (key, value) in labels {
            text.push_str(&format!("/{}:{}", escaped(key), escaped(value)));
        }
        let digest = Sha256::digest(text.as_bytes());
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(digits.into())
    }

    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn escaped(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for letter in part.chars() {
        if matches!(letter, '/' | ':' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}
