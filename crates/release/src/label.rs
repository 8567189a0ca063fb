//! Labels: which tag of an image an application wants.
//!
//! A label is the `version` of the application file. It names one manifest by its digest, names one tag (a
//! pinned version, or a fixed tag that moves), or follows the highest version of a [`Range`].

mod comparator;
mod range;

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::range::{InvalidRange, Range};
use crate::version::Version;

/// The longest tag, in characters.
const MAX_TAG: usize = 128;

/// The characters that make a label a range.
const OF_RANGES: [char; 9] = ['^', '~', '>', '<', '=', '!', '|', ',', '*'];

/// A label that can be followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label {
    text: String,
    selector: Selector,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Selector {
    Digest,
    Pinned,
    Follow(Range),
    Fixed,
}

/// The kind of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One manifest, by its digest: it never changes.
    Digest,
    /// One version, as a literal tag.
    Pinned,
    /// The highest version in a range.
    Follow,
    /// Any other tag, such as `latest`: it moves.
    Fixed,
}

impl Kind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Pinned => "pinned",
            Self::Follow => "follow",
            Self::Fixed => "fixed",
        }
    }
}

/// Says why a text is no label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLabel {
    /// There is nothing.
    #[error("the version is empty")]
    Empty,
    /// It is neither a tag nor a range nor a digest.
    #[error(
        "not a tag: at most {MAX_TAG} letters, digits, `_`, `.` and `-`, the first of them none of the last two"
    )]
    NotATag,
    /// It begins as a digest, and is none.
    #[error("a digest is `sha256:` and 64 hexadecimal digits, in lower case")]
    NotADigest,
    /// It has a sign of ranges, and is none.
    #[error("not a range")]
    Range(#[source] InvalidRange),
}

impl Label {
    /// Reads a label as it is written in the application file.
    ///
    /// ```
    /// use pathline_release::label::{Kind, Label};
    ///
    /// assert_eq!(Label::parse("v1.8.x")?.kind(), Kind::Follow);
    /// assert_eq!(Label::parse("1.2")?.kind(), Kind::Fixed);
    /// assert!(Label::parse("nightly-*").is_err());
    /// # Ok::<(), pathline_release::label::InvalidLabel>(())
    /// ```
    ///
    /// # Errors
    /// If it is no label, with the reason.
    pub fn parse(text: &str) -> Result<Self, InvalidLabel> {
        let selector = if text.is_empty() {
            return Err(InvalidLabel::Empty);
        } else if is_digest(text) {
            Selector::Digest
        } else if text.starts_with("sha256:") {
            return Err(InvalidLabel::NotADigest);
        } else if is_range(text) {
            Selector::Follow(Range::parse(text).map_err(InvalidLabel::Range)?)
        } else if !is_tag(text) {
            return Err(InvalidLabel::NotATag);
        } else if Version::parse(text).is_some() {
            Selector::Pinned
        } else {
            Selector::Fixed
        };
        let text = text.to_owned();
        Ok(Self { text, selector })
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        match self.selector {
            Selector::Digest => Kind::Digest,
            Selector::Pinned => Kind::Pinned,
            Selector::Follow(_) => Kind::Follow,
            Selector::Fixed => Kind::Fixed,
        }
    }

    /// Returns the label as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Chooses among the tags of a repository; `released` is the tag that is released now, which wins against
    /// another spelling of the same version.
    ///
    /// A digest is no tag; it is chosen if it is among the names that are given.
    pub fn choose<'t>(
        &self,
        tags: impl IntoIterator<Item = &'t str>,
        released: Option<&str>,
    ) -> Option<&'t str> {
        let mut tags = tags.into_iter();
        let Selector::Follow(range) = &self.selector else {
            return tags.find(|tag| *tag == self.text);
        };
        let versions = tags.filter(|tag| is_tag(tag));
        let versions = versions.filter_map(|tag| Some((tag, Version::parse(tag)?)));
        let matching = versions.filter(|(_, version)| range.matches(version));
        let better = |(tag, version): &(&str, Version), (other, than): &(&str, Version)| {
            let by_spelling = |it: &str, version: &Version| {
                (Some(it) == released, version.has_v == range.has_v())
            };
            version
                .cmp_precedence(than)
                .then_with(|| by_spelling(tag, version).cmp(&by_spelling(other, than)))
                .then_with(|| tag.cmp(other))
        };
        matching.max_by(better).map(|(tag, _)| tag)
    }
}

impl TryFrom<String> for Label {
    type Error = InvalidLabel;

    fn try_from(text: String) -> Result<Self, InvalidLabel> {
        Self::parse(&text)
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.text
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Compares two tags as versions; nothing if one of them is none.
pub(crate) fn compare_tags(tag: &str, other: &str) -> Option<Ordering> {
    Some(Version::parse(tag)?.cmp_precedence(&Version::parse(other)?))
}

/// Tells whether a text can be a tag of an image.
pub fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= MAX_TAG
        && text.bytes().next().is_some_and(is_word)
        && text
            .bytes()
            .all(|byte| is_word(byte) || byte == b'.' || byte == b'-')
}

/// Tells whether a text is the digest of a manifest.
pub fn is_digest(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = text.strip_prefix("sha256:");
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_hex))
}

fn is_range(text: &str) -> bool {
    text.contains(OF_RANGES) || text.contains(char::is_whitespace) || has_wildcards(text)
}

/// Tells whether a text is one of `N.x`, `N.N.x` and `N.x.x`, each possibly with `v` before and `-0` behind it.
fn has_wildcards(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let text = text.strip_suffix("-0").unwrap_or(text);
    let is_number = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.is_empty() && !part.starts_with('0'))
    };
    let is_wildcard = |part: &str| part == "x" || part == "X";
    let parts: Vec<&str> = text.split('.').collect();
    match parts[..] {
        [major, minor] => is_number(major) && is_wildcard(minor),
        [major, minor, patch] => {
            is_number(major) && (is_number(minor) || is_wildcard(minor)) && is_wildcard(patch)
        }
        _ => false,
    }
}
