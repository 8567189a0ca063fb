//! Ranges of versions: `>=1.1 <2 !=1.2.3 || ^3`.

use super::comparator::Comparator;
use crate::version::Version;

/// A range of versions: groups of comparators, of which one group has to match as a whole.
///
/// Matches as Masterminds/semver v3 does, but for `~0.0.0`, which means `<0.1.0` as `~` does everywhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    groups: Vec<Vec<Comparator>>,
}

/// Says why a text is no range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{part}` {problem}")]
pub struct InvalidRange {
    /// The part of the text that is wrong.
    pub part: String,
    /// The complaint.
    pub problem: &'static str,
}

impl Range {
    /// Reads a range.
    ///
    /// # Errors
    /// If it is none, with the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidRange> {
        let groups = text.split("||").map(group).collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// Tells whether a version is in the range. A pre-release is only in a group that names one.
    ///
    /// ```
    /// use pathline_release::{Version, label::Range};
    ///
    /// let range = Range::parse(">=1.1 <2 || ^3.0.0-0")?;
    /// let has = |version| range.matches(&Version::parse(version).expect("a version"));
    /// assert!(has("1.9.9") && has("3.0.0-rc.1"));
    /// assert!(!has("1.2.0-rc.1") && !has("2.0.0"));
    /// # Ok::<(), pathline_release::label::InvalidRange>(())
    /// ```
    pub fn matches(&self, version: &Version) -> bool {
        let number = version.number();
        self.groups.iter().any(|group| {
            let admits = number.pre.is_empty() || group.iter().any(Comparator::has_pre_release);
            admits && group.iter().all(|it| it.matches(number))
        })
    }

    /// Tells whether versions of the range are written with `v`.
    pub fn has_v(&self) -> bool {
        self.groups.iter().flatten().any(Comparator::has_v)
    }
}

/// Reads comparators that commas or blanks separate.
fn group(text: &str) -> Result<Vec<Comparator>, InvalidRange> {
    let mut comparators = Vec::new();
    let mut rest = text.trim_ascii();
    loop {
        let (comparator, after) = Comparator::read(rest)?;
        comparators.push(comparator);
        let next = after.trim_ascii_start();
        rest = match next.strip_prefix(',') {
            _ if next.is_empty() => return Ok(comparators),
            Some(next) => next.trim_ascii_start(),
            None => next,
        };
    }
}
