//! Versions as tags spell them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// A version of three parts as a tag spells it: strict SemVer behind at most one `v`, and no build
/// metadata, for which a tag has no character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Whether the tag begins with `v`.
    pub has_v: bool,
    number: semver::Version,
}

/// The size of the step from one version to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The same version, or the same tag; only the content is another.
    Digest,
    /// The patch, or the pre-release, is another.
    Patch,
    /// The minor part is another.
    Minor,
    /// The major part is another, or the tags are no versions.
    Major,
}

impl Version {
    /// Reads a tag; nothing if it is not a version.
    ///
    /// ```
    /// use pathline_release::Version;
    ///
    /// assert!(Version::parse("v1.2.3-rc.1").is_some());
    /// for tag in ["1.2", "01.2.3", "V1.2.3", "1.2.3+b5", "99999999999999999999.0.0"] {
    ///     assert_eq!(Version::parse(tag), None);
    /// }
    /// ```
    pub fn parse(tag: &str) -> Option<Self> {
        let stripped = tag.strip_prefix('v');
        let number = semver::Version::parse(stripped.unwrap_or(tag)).ok()?;
        number.build.is_empty().then_some(Self {
            has_v: stripped.is_some(),
            number,
        })
    }

    /// Compares precedence: `v1.0.0` and `1.0.0` are equal.
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        self.number.cmp_precedence(&other.number)
    }

    pub(crate) fn number(&self) -> &semver::Version {
        &self.number
    }
}

impl Level {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }

    /// Returns the size of the step from one tag to another.
    ///
    /// ```
    /// use pathline_release::Level;
    ///
    /// assert_eq!(Level::between("1.2.3", "1.3.0"), Level::Minor);
    /// assert_eq!(Level::between("latest", "latest"), Level::Digest);
    /// assert_eq!(Level::between("latest", "stable"), Level::Major);
    /// ```
    pub fn between(from: &str, to: &str) -> Self {
        if from == to {
            return Self::Digest;
        }
        let (Some(from), Some(to)) = (Version::parse(from), Version::parse(to)) else {
            return Self::Major;
        };
        let (from, to) = (from.number, to.number);
        if from.major != to.major {
            Self::Major
        } else if from.minor != to.minor {
            Self::Minor
        } else if from.cmp_precedence(&to).is_ne() {
            Self::Patch
        } else {
            Self::Digest
        }
    }
}
