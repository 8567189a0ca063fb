//! Names of keys: a namespace and a list of parts.
//!
//! A name is written like a path (`user:/sw/app/#0`). Identity, order and hierarchy look only at the
//! *unescaped* form: one byte for the namespace, a NUL, and every part followed by a NUL. Since NUL
//! sorts before everything, a parent comes directly before its whole subtree, and any subtree is one
//! contiguous range.
//!
//! The rules are those of Elektra's written specification. Its C library is laxer in two places (`/%`
//! and malformed `\#`), which would give two names to one key; here both are errors.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

mod escape;
mod namespace;
mod parse;

pub use self::escape::{array_part, escape_part};
pub use self::namespace::Namespace;

/// The longest unescaped name, in bytes. Far beyond any use, it keeps the arithmetic of packed
/// nodes inside 32 bits.
pub const MAX_LEN: usize = 16 * 1024 * 1024;

/// The reason for which a name is not one.
///
/// ```
/// use pathline_keys::Name;
/// use pathline_keys::name::Error;
///
/// assert_eq!(Name::parse("sw/app"), Err(Error::Namespace));
/// assert_eq!(Name::parse("user:/./%"), Err(Error::EmptyBelowRoot));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The empty string names nothing.
    #[error("the name is empty")]
    Empty,
    /// Neither `/` nor a known namespace with `:/` is at the beginning.
    #[error("the name begins neither with `/` nor with a known namespace and `:/`")]
    Namespace,
    /// A NUL byte separates parts in the unescaped form and cannot be in one.
    #[error("the name contains a NUL byte")]
    Nul,
    /// The last byte is a backslash that escapes nothing.
    #[error("a `\\` at the end escapes nothing")]
    Dangling,
    /// The escape is not one of those allowed in its place.
    #[error("`{part}` contains an escape that is not allowed there")]
    Escape {
        /// The part as written.
        part: String,
    },
    /// The canonical form is `/%` or `ns:/%`: an empty part directly below a root.
    #[error("an empty part directly below a root cannot be told from the root")]
    EmptyBelowRoot,
    /// A root has no base name to replace or remove.
    #[error("a root has no base name")]
    Root,
    /// The unescaped form is longer than [`MAX_LEN`].
    #[error("the name is longer than {MAX_LEN} bytes")]
    TooLong,
}

/// A canonical, valid name.
///
/// ```
/// use pathline_keys::{Name, Namespace};
///
/// let name: Name = "user://sw/./app/#10/".parse()?;
/// assert_eq!(name.to_string(), "user:/sw/app/#_10");
/// assert_eq!(name.namespace(), Namespace::User);
/// assert_eq!(name.base_name(), Some(&b"#_10"[..]));
/// assert!(name.is_below(&"/sw".parse()?));
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<[u8]>);

impl Name {
    /// Reads an escaped name, which need not be canonical.
    ///
    /// # Errors
    ///
    /// Fails if there is no namespace that is known, an escape is not one, a byte is NUL, or the name is longer than
    /// [`MAX_LEN`].
    pub fn parse(escaped: impl AsRef<[u8]>) -> Result<Self, Error> {
        parse::complete(escaped.as_ref())
    }

    /// Returns the root of a namespace.
    #[must_use]
    pub fn root(namespace: Namespace) -> Self {
        Self(Arc::from([namespace.byte(), 0, 0]))
    }

    /// Takes the canonical unescaped bytes of a name that is known to be valid.
    pub(crate) fn from_unescaped(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the unescaped form; a root is `ns NUL NUL`, as in Elektra.
    #[must_use]
    pub fn unescaped(&self) -> &[u8] {
        &self.0
    }

    /// Returns the escaped, canonical form. Parts may be any bytes, so this need not be UTF-8.
    #[must_use]
    pub fn escaped(&self) -> Vec<u8> {
        let mut out = self.namespace().prefix().as_bytes().to_vec();
        if self.is_root() {
            out.push(b'/');
        }
        for part in self.parts() {
            out.push(b'/');
            escape::push(&mut out, part);
        }
        out
    }

    /// Returns the namespace.
    #[must_use]
    pub fn namespace(&self) -> Namespace {
        Namespace::from_byte(self.0[0]).expect("the first byte was written by a namespace")
    }

    /// Tells whether this is the root of its namespace.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.len() == 3
    }

    /// Returns the parts, unescaped, from the root down.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        let path = if self.is_root() {
            &[]
        } else {
            &self.0[2..self.0.len() - 1]
        };
        let mut parts = path.split(|byte| *byte == 0);
        if self.is_root() {
            parts.next();
        }
        parts
    }

    /// Returns the last part, or nothing for a root.
    #[must_use]
    pub fn base_name(&self) -> Option<&[u8]> {
        self.parts().next_back()
    }

    /// Returns the name without its last part, or nothing for a root.
    ///
    /// The parent of `/%/a` is the root, because `/%` is not a name.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let mut bytes = self.without_base_name()?.to_vec();
        if bytes.len() == 2 {
            bytes.push(0);
        }
        Some(Self(bytes.into()))
    }

    /// Adds an escaped suffix, which may have several parts and may climb with `..`, though never
    /// out of the namespace.
    ///
    /// ```
    /// use pathline_keys::Name;
    ///
    /// let app: Name = "user:/sw/app".parse()?;
    /// assert_eq!(app.join("ports/#0")?.to_string(), "user:/sw/app/ports/#0");
    /// assert_eq!(app.join("../other")?.to_string(), "user:/sw/other");
    /// # Ok::<(), pathline_keys::name::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`Name::parse`] does, but for the namespace.
    pub fn join(&self, suffix: impl AsRef<[u8]>) -> Result<Self, Error> {
        parse::below(self.subtree().to_vec(), suffix.as_ref())
    }

    /// Adds one raw part: any bytes but NUL, with nothing escaped.
    ///
    /// ```
    /// use pathline_keys::Name;
    ///
    /// let labels: Name = "user:/labels".parse()?;
    /// let name = labels.with_part("app.kubernetes.io/name")?;
    /// assert_eq!(name.to_string(), r"user:/labels/app.kubernetes.io\/name");
    /// assert_eq!(name.parent(), Some(labels));
    /// # Ok::<(), pathline_keys::name::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the part contains NUL, if it is empty and directly below a root, or if the name gets longer than
    /// [`MAX_LEN`].
    pub fn with_part(&self, part: impl AsRef<[u8]>) -> Result<Self, Error> {
        parse::push_raw(self.subtree().to_vec(), part.as_ref())
    }

    /// Replaces the last part by a raw one.
    ///
    /// # Errors
    ///
    /// Fails for a root, which has no last part, and as [`Name::with_part`] does.
    pub fn with_base_name(&self, part: impl AsRef<[u8]>) -> Result<Self, Error> {
        let above = self.without_base_name().ok_or(Error::Root)?;
        parse::push_raw(above.to_vec(), part.as_ref())
    }

    /// Returns the same path in another namespace.
    #[must_use]
    pub fn with_namespace(&self, namespace: Namespace) -> Self {
        let mut bytes = self.0.to_vec();
        bytes[0] = namespace.byte();
        Self(bytes.into())
    }

    /// Tells whether this name is at or below the other one.
    ///
    /// If exactly one of both is cascading, the namespace does not matter; but a cascading root and
    /// the root of another namespace are unrelated.
    #[must_use]
    pub fn is_same_or_below(&self, ancestor: &Self) -> bool {
        let (own, other) = (self.namespace(), ancestor.namespace());
        if own == other {
            return self.0.starts_with(ancestor.subtree());
        }
        let one_is_cascading = own == Namespace::Cascading || other == Namespace::Cascading;
        one_is_cascading && !self.is_root() && self.0[1..].starts_with(&ancestor.subtree()[1..])
    }

    /// Tells whether this name is below the other one.
    #[must_use]
    pub fn is_below(&self, ancestor: &Self) -> bool {
        self.0.len() != ancestor.0.len() && self.is_same_or_below(ancestor)
    }

    /// Tells whether this name is below the other one by exactly one part.
    #[must_use]
    pub fn is_directly_below(&self, ancestor: &Self) -> bool {
        self.is_below(ancestor) && self.parts().count() == ancestor.parts().count() + 1
    }

    /// Returns the unescaped form up to the last part, or nothing for a root.
    fn without_base_name(&self) -> Option<&[u8]> {
        let base = self.base_name()?;
        Some(&self.0[..self.0.len() - base.len() - 1])
    }

    /// Returns what the unescaped form of every name at or below this one begins with.
    pub(crate) fn subtree(&self) -> &[u8] {
        if self.is_root() {
            &self.0[..2]
        } else {
            &self.0
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(&self.escaped()))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(escaped: &str) -> Result<Self, Error> {
        Self::parse(escaped)
    }
}

impl TryFrom<&str> for Name {
    type Error = Error;

    fn try_from(escaped: &str) -> Result<Self, Error> {
        Self::parse(escaped)
    }
}
