//! The names of trackers: `group.name`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest half of a name, in characters.
const MAX_PART: usize = 63;

/// The name of a tracker. Its case is kept, and does not make two of it: see [`TrackerName::key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrackerName {
    text: String,
    dot: usize,
}

/// Says why a text is no name of a tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// It is not of the form.
    #[error(
        "a name is `group.name`: two parts of 1 to {MAX_PART} letters, digits, `_` and `-`, which begin and end with a letter or a digit"
    )]
    Malformed,
    /// It is a word that the application file needs.
    #[error("no application can be called `group`, and no group `mandatory`")]
    Reserved,
}

impl TrackerName {
    /// Reads a segment of the path of a URL: percent-decoded once, and then a name.
    ///
    /// # Errors
    /// If it is no name, a reserved one included.
    pub fn from_path_segment(segment: &str) -> Result<Self, InvalidName> {
        let bytes = percent_decoded(segment).ok_or(InvalidName::Malformed)?;
        let text = String::from_utf8(bytes).map_err(|_| InvalidName::Malformed)?;
        text.parse()
    }

    /// Returns the half before the dot.
    pub fn group(&self) -> &str {
        &self.text[..self.dot]
    }

    /// Returns the half after the dot.
    pub fn name(&self) -> &str {
        &self.text[self.dot + 1..]
    }

    /// Returns the name as it is given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text by which names are compared: registries and DNS fold case.
    pub fn key(&self) -> String {
        self.text.to_ascii_lowercase()
    }
}

impl FromStr for TrackerName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let (group, name) = text.split_once('.').ok_or(InvalidName::Malformed)?;
        if !is_part(group) || !is_part(name) {
            return Err(InvalidName::Malformed);
        }
        // Names are compared without case, and so are words.
        if group.eq_ignore_ascii_case("mandatory") || name.eq_ignore_ascii_case("group") {
            return Err(InvalidName::Reserved);
        }
        Ok(Self {
            text: text.to_owned(),
            dot: group.len(),
        })
    }
}

impl TryFrom<String> for TrackerName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<TrackerName> for String {
    fn from(name: TrackerName) -> Self {
        name.text
    }
}

impl fmt::Display for TrackerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_part(text: &str) -> bool {
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let mut bytes = text.bytes();
    text.len() <= MAX_PART
        && is_edge(bytes.clone().next())
        && is_edge(bytes.clone().next_back())
        && bytes.all(is_inner)
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?].map(|byte| char::from(byte).to_digit(16));
            let value = digits[0]? * 16 + digits[1]?;
            decoded.push(u8::try_from(value).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    Some(decoded)
}
