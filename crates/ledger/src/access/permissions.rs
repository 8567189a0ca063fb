//! Permissions: what the bearer of a token may do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One thing that the bearer of a token may do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Look at everything.
    Read,
    /// Change what Pathline works on.
    Write,
    /// Make and revoke tokens.
    Admin,
}

impl Permission {
    /// All permissions.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// Returns the bits of the permissions without which nobody has this one.
    const fn included(self) -> u32 {
        match self {
            Self::Read => 0,
            Self::Write => Self::Read.bit(),
            Self::Admin => Self::Read.bit() | Self::Write.bit(),
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of permissions, which has with each permission those that it includes.
///
/// As text it is a scope, as people give it to a token: `write` is to read and to write.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Permissions {
    bits: u32,
}

/// A text that is no scope.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no scope: read, write or admin is expected")]
pub struct NotAScope(String);

impl Permissions {
    /// No permission at all.
    pub const NONE: Self = Self { bits: 0 };
    /// The scope `read`.
    pub const READ: Self = Self::of(Permission::Read);
    /// The scope `write`.
    pub const WRITE: Self = Self::of(Permission::Write);
    /// The scope `admin`.
    pub const ADMIN: Self = Self::of(Permission::Admin);

    /// Returns a permission with all that it includes.
    pub const fn of(permission: Permission) -> Self {
        Self {
            bits: permission.bit() | permission.included(),
        }
    }

    /// Tells whether a permission is among them.
    pub const fn contains(self, permission: Permission) -> bool {
        self.bits & permission.bit() != 0
    }

    /// Returns each of them.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        let all = Permission::ALL.into_iter();
        all.filter(move |permission| self.contains(*permission))
    }

    /// Returns the text for the table: all of them by name, so that what a permission includes in a
    /// later version gives nobody more than they were given.
    pub(super) fn to_stored(self) -> String {
        self.iter()
            .map(Permission::as_str)
            .collect::<Vec<_>>()
            .join(",")
    }

    /// Reads the text of the table. Words that are not known here are no permission, nor is one that
    /// comes without those it includes: whoever edits the table by hand gives too little, not too
    /// much.
    pub(super) fn from_stored(text: &str) -> Self {
        let words = text.split(',').filter_map(Permission::from_word);
        let stored = words.fold(0, |bits, permission| bits | permission.bit());
        let whole = |permission: &Permission| {
            let all = Self::of(*permission).bits;
            stored & all == all
        };
        let kept = Permission::ALL.into_iter().filter(whole);
        Self {
            bits: kept.fold(0, |bits, permission| bits | permission.bit()),
        }
    }
}

/// Shows the fewest permissions that include all of them.
impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_included =
            |it: Permission| self.iter().any(|other| other.included() & it.bit() != 0);
        let words = self.iter().filter(|it| !is_included(*it));
        let words: Vec<&str> = words.map(Permission::as_str).collect();
        match words.is_empty() {
            true => f.pad("none"),
            false => f.pad(&words.join(",")),
        }
    }
}

impl FromStr for Permissions {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        let named = Permission::from_word(text);
        named
            .map(Self::of)
            .ok_or_else(|| NotAScope(text.to_owned()))
    }
}

impl TryFrom<String> for Permissions {
    type Error = NotAScope;

    fn try_from(text: String) -> Result<Self, NotAScope> {
        text.parse()
    }
}

impl From<Permissions> for String {
    fn from(permissions: Permissions) -> Self {
        permissions.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_by_their_words_and_each_includes_the_ones_before() {
        for permission in Permission::ALL {
            let scope: Permissions = permission.as_str().parse().unwrap();
            assert_eq!(scope.to_string(), permission.as_str());
            let included: Vec<_> = Permission::ALL
                .into_iter()
                .filter(|it| *it <= permission)
                .collect();
            assert_eq!(scope.iter().collect::<Vec<_>>(), included);
        }
        for wrong in ["root", "", "none", "Read", "read,write", " read"] {
            assert!(wrong.parse::<Permissions>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn stored_permissions_are_all_named() {
        let stored = [
            Permissions::NONE,
            Permissions::READ,
            Permissions::WRITE,
            Permissions::ADMIN,
        ]
        .map(|it| {
            (
                it.to_stored(),
                Permissions::from_stored(&it.to_stored()) == it,
            )
        });
        let expected = ["", "read", "read,write", "read,write,admin"];
        assert_eq!(stored, expected.map(|it| (it.to_owned(), true)));
    }

    #[test]
    fn what_is_stored_is_never_widened() {
        let read = |text| Permissions::from_stored(text).to_string();
        assert_eq!(read("read,events:write,write"), "write");
        assert_eq!(read("events:write"), "none");
        assert_eq!(read("read,admin"), "read");
        for nothing in [
            "",
            ",",
            "admin",
            "write",
            "write,admin",
            "Read",
            "read write",
        ] {
            assert_eq!(read(nothing), "none", "{nothing}");
        }
    }

    #[test]
    fn scope_is_a_word_in_json() {
        let json = serde_json::to_string(&Permissions::WRITE).unwrap();
        assert_eq!(json, r#""write""#);
        assert_eq!(
            serde_json::from_str::<Permissions>(&json).unwrap(),
            Permissions::WRITE
        );
        assert!(serde_json::from_str::<Permissions>(r#""root""#).is_err());
    }
}
