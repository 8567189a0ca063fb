//! One comparator of a range: an operator, and a version that need not be complete.

use std::cmp::Ordering;

use semver::{Prerelease, Version};

use super::InvalidRange;

/// An operator and a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparator {
    operator: Operator,
    /// The version; parts that are not given are zero.
    bound: Version,
    given: Given,
    has_v: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// Without an operator, too.
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Tilde,
    Caret,
}

/// The parts of a version that are given as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    Nothing,
    Major,
    Minor,
    Patch,
}

/// The longer ones first: `>=` begins with `>`.
const OPERATORS: [(&str, Operator); 8] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("=", Operator::Equal),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

impl Comparator {
    /// Reads a comparator from the beginning of a text, and returns what follows it.
    pub(super) fn read(text: &str) -> Result<(Self, &str), InvalidRange> {
        let operators = OPERATORS.iter();
        let mut written = operators.filter_map(|(sign, it)| Some((*it, text.strip_prefix(*sign)?)));
        let (operator, rest) = written.next().unwrap_or((Operator::Equal, text));
        let rest = rest.trim_ascii_start();
        let end = rest.find(|it: char| it == ',' || it.is_ascii_whitespace());
        let (version, rest) = rest.split_at(end.unwrap_or(rest.len()));
        Ok((Self::new(operator, version)?, rest))
    }

    fn new(operator: Operator, text: &str) -> Result<Self, InvalidRange> {
        let invalid = |problem| InvalidRange {
            part: text.to_owned(),
            problem,
        };
        if text.is_empty() {
            return Err(invalid("is there where a version is expected"));
        }
        if text == "-" {
            return Err(invalid(
                "is no sign of ranges; write `>=1.0 <=2.0` for `1.0 - 2.0`",
            ));
        }
        let stripped = text.strip_prefix('v');
        let version = stripped.unwrap_or(text);
        let (numbers, pre_release) = match version.split_once('-') {
            Some((numbers, pre_release)) => (numbers, Some(pre_release)),
            None => (version, None),
        };
        let (numbers, is_open) = parts(numbers).map_err(invalid)?;
        if is_open && pre_release.is_some_and(|it| it != "0") {
            return Err(invalid(
                "has a wildcard, which takes no pre-release but `-0`",
            ));
        }
        let pre = match pre_release {
            None => Prerelease::EMPTY,
            Some("") => return Err(invalid("has an empty pre-release")),
            Some(text) => Prerelease::new(text).map_err(|_| invalid("has no valid pre-release"))?,
        };
        let part = |index: usize| numbers.get(index).copied().unwrap_or_default();
        let mut bound = Version::new(part(0), part(1), part(2));
        bound.pre = pre;
        let given = [Given::Nothing, Given::Major, Given::Minor, Given::Patch][numbers.len()];
        Ok(Self {
            operator,
            bound,
            given,
            has_v: stripped.is_some(),
        })
    }

    pub(super) fn has_v(&self) -> bool {
        self.has_v
    }

    pub(super) fn has_pre_release(&self) -> bool {
        !self.bound.pre.is_empty()
    }

    /// Tells whether a version satisfies the comparator, pre-release or not.
    // The cases of each operator are those of Masterminds/semver 3.4, constraints.go.
    pub(super) fn matches(&self, version: &Version) -> bool {
        let Self { bound, given, .. } = self;
        let order = version.cmp_precedence(bound);
        let major = version.major.cmp(&bound.major);
        let minor = major.then(version.minor.cmp(&bound.minor));
        match (self.operator, given) {
            (Operator::Equal, Given::Patch) => order.is_eq(),
            (Operator::Equal | Operator::Tilde, _) => order.is_ge() && self.is_near(major, minor),
            (Operator::NotEqual, Given::Major) => major.is_ne(),
            (Operator::NotEqual, Given::Minor) => minor.is_ne() || version.pre != bound.pre,
            (Operator::NotEqual, Given::Nothing | Given::Patch) => order.is_ne(),
            (Operator::Greater, Given::Major) => major.is_gt(),
            (Operator::Greater, Given::Minor) => minor.is_gt(),
            (Operator::Greater, Given::Nothing | Given::Patch) => order.is_gt(),
            (Operator::GreaterOrEqual, _) => order.is_ge(),
            (Operator::Less, _) => order.is_lt(),
            (Operator::LessOrEqual, Given::Major) => major.is_le(),
            (Operator::LessOrEqual, Given::Nothing | Given::Minor) => minor.is_le(),
            (Operator::LessOrEqual, Given::Patch) => order.is_le(),
            (Operator::Caret, _) => order.is_ge() && self.is_compatible(version, major, minor),
        }
    }

    /// Tells whether a version has the parts that `~` keeps: the minor one, or the major one if no other is given.
    fn is_near(&self, major: Ordering, minor: Ordering) -> bool {
        match self.given {
            Given::Nothing => true,
            Given::Major => major.is_eq(),
            Given::Minor | Given::Patch => minor.is_eq(),
        }
    }

    /// Tells whether a version has the parts that `^` keeps: those up to the first that is not zero.
    fn is_compatible(&self, version: &Version, major: Ordering, minor: Ordering) -> bool {
        if self.bound.major > 0 || self.given == Given::Major {
            major.is_eq()
        } else if self.bound.minor > 0 || self.given == Given::Minor {
            minor.is_eq()
        } else {
            minor.is_eq() && version.patch == self.bound.patch
        }
    }
}

/// Reads up to three parts; wildcards stand at the end. Returns the numbers, and whether there are wildcards.
fn parts(text: &str) -> Result<(Vec<u64>, bool), &'static str> {
    let mut numbers = Vec::new();
    let mut is_open = false;
    for (index, part) in text.split('.').enumerate() {
        if index == 3 {
            return Err("has more than three parts");
        }
        if matches!(part, "x" | "X" | "*") {
            is_open = true;
        } else if is_open {
            return Err("has a wildcard before a number");
        } else {
            numbers.push(number(part)?);
        }
    }
    Ok((numbers, is_open))
}

fn number(text: &str) -> Result<u64, &'static str> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        Err("is not a version")
    } else if text.starts_with('0') && text != "0" {
        Err("has a part with a leading zero")
    } else {
        text.parse().map_err(|_| "has a part that is too large")
    }
}
