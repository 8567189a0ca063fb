//! Metadata: what is said about a key beside its value.

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::name::{self, Name, Namespace};

static BINARY: LazyLock<(Name, Metadata)> = LazyLock::new(|| {
    let name = Name::root(Namespace::Meta)
        .with_part("binary")
        .expect("`binary` is a valid part");
    let only = Metadata(Some(Arc::new(vec![(name.clone(), "".into())])));
    (name, only)
});

/// An ordered map of metadata names to texts. Clones share their content, and one shared set costs
/// every key that carries it a pointer.
///
/// Names are given with or without `meta:/`.
///
/// ```
/// use pathline_keys::Metadata;
///
/// let mut metadata = Metadata::new();
/// metadata.insert("check/range", "1-10")?;
/// assert_eq!(metadata.get("meta:/check/range"), Some("1-10"));
/// assert_eq!(metadata.iter().count(), 1);
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Metadata(Option<Arc<Entries>>);

type Entries = Vec<(Name, Arc<str>)>;

impl Metadata {
    /// Returns an empty set, which allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns the text kept under a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_name(&meta_name(name).ok()?)
    }

    /// Returns the text kept under a name that has been read already.
    #[must_use]
    pub fn get_name(&self, name: &Name) -> Option<&str> {
        let entries = self.entries();
        let at = entries
            .binary_search_by(|(known, _)| known.cmp(name))
            .ok()?;
        Some(&entries[at].1)
    }

    /// Keeps a text under a name and returns the one before.
    ///
    /// # Errors
    ///
    /// Fails if the name is not one, or is `meta:/` itself.
    pub fn insert(
        &mut self,
        name: &str,
        text: impl Into<Arc<str>>,
    ) -> Result<Option<Arc<str>>, name::Error> {
        Ok(self.insert_name(meta_name(name)?, text.into()))
    }

    fn insert_name(&mut self, name: Name, text: Arc<str>) -> Option<Arc<str>> {
        let entries = Arc::make_mut(self.0.get_or_insert_default());
        match entries.binary_search_by(|(known, _)| known.cmp(&name)) {
            Ok(at) => Some(std::mem::replace(&mut entries[at].1, text)),
            Err(at) => {
                entries.insert(at, (name, text));
                None
            }
        }
    }

    /// Forgets a name and returns its text.
    pub fn remove(&mut self, name: &str) -> Option<Arc<str>> {
        let name = meta_name(name).ok()?;
        let at = self
            .entries()
            .binary_search_by(|(known, _)| known.cmp(&name))
            .ok()?;
        let entries = Arc::make_mut(self.0.as_mut()?);
        let (_, text) = entries.remove(at);
        if entries.is_empty() {
            self.0 = None;
        }
        Some(text)
    }

    /// Returns names (in namespace `meta:`) and texts, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &str)> {
        self.entries().iter().map(|(name, text)| (name, &**text))
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Tells whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Tells whether both are one shared set, without looking into it.
    pub(crate) fn is_shared_with(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }

    pub(crate) fn is_binary(&self) -> bool {
        !self.is_empty() && (self.is_shared_with(&BINARY.1) || self.get_name(&BINARY.0).is_some())
    }

    pub(crate) fn set_binary(&mut self) {
        if self.is_empty() {
            *self = BINARY.1.clone();
        } else if self.get_name(&BINARY.0) != Some("") {
            self.insert_name(BINARY.0.clone(), "".into());
        }
    }

    fn entries(&self) -> &[(Name, Arc<str>)] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(name, text)| (short_name(name), text)))
            .finish()
    }
}

/// Reads a metadata name, with or without its namespace.
pub(crate) fn meta_name(name: &str) -> Result<Name, name::Error> {
    let path = name.strip_prefix("meta:/").unwrap_or(name);
    match Name::root(Namespace::Meta).join(path)? {
        name if name.is_root() => Err(name::Error::Empty),
        name => Ok(name),
    }
}

/// Tells whether a metadata name is the one that says that a value is bytes.
pub(crate) fn is_binary_name(name: &Name) -> bool {
    *name == BINARY.0
}

/// Returns a metadata name as people write it, without `meta:/`.
///
/// ```
/// use pathline_keys::{Metadata, short_name};
///
/// let mut metadata = Metadata::new();
/// metadata.insert("meta:/check/range", "1-10")?;
/// let names: Vec<_> = metadata.iter().map(|(name, _)| short_name(name)).collect();
/// assert_eq!(names, ["check/range"]);
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[must_use]
pub fn short_name(name: &Name) -> String {
    let full = name.to_string();
    match full.strip_prefix("meta:/") {
        // Without its namespace, a name that goes on like this would be taken for one with it.
        Some(short) if !short.starts_with("meta:/") => short.to_owned(),
        _ => full,
    }
}
