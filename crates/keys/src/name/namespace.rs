//! The namespaces and their order.

use std::fmt;

/// The first part of a name's identity; sorts in the order listed.
///
/// ```
/// use pathline_keys::Namespace;
///
/// assert_eq!(Namespace::User.prefix(), "user:");
/// assert!(Namespace::Dir < Namespace::System);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Namespace {
    /// No namespace written: for look-up only, and left out of every diff.
    Cascading = 1,
    /// Metadata of other keys.
    Meta = 2,
    /// Specification.
    Spec = 3,
    /// One process: its command line and environment.
    Proc = 4,
    /// The current directory.
    Dir = 5,
    /// The current user.
    User = 6,
    /// The whole machine.
    System = 7,
    /// Defaults made from the specification.
    Default = 8,
}

impl Namespace {
    /// Every namespace, in order.
    pub const ALL: [Self; 8] = [
        Self::Cascading,
        Self::Meta,
        Self::Spec,
        Self::Proc,
        Self::Dir,
        Self::User,
        Self::System,
        Self::Default,
    ];

    /// Returns what is written before the first `/`.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Cascading => "",
            Self::Meta => "meta:",
            Self::Spec => "spec:",
            Self::Proc => "proc:",
            Self::Dir => "dir:",
            Self::User => "user:",
            Self::System => "system:",
            Self::Default => "default:",
        }
    }

    pub(crate) fn byte(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|namespace| namespace.byte() == byte)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.prefix())
    }
}
