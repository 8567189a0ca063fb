//! Applying a change to a key set.

use super::{ChangeKind, ChangeSet};
use crate::name::Name;
use crate::set::KeySet;

/// The reason for which a change cannot be applied to a key set.
///
/// ```
/// use pathline_keys::{ChangeSet, Key, KeySet};
///
/// let removed = ChangeSet::from_parts([], [Key::new("user:/a".parse()?)], []);
/// let refused = removed.apply(&KeySet::new()).expect_err("there is nothing to remove");
/// assert_eq!(refused.to_string(), "user:/a: cannot be removed, it is not there");
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The key to add is there already.
    #[error("{name}: cannot be added, it is there already")]
    Present {
        /// The key.
        name: Name,
    },
    /// The key to remove or modify is not there.
    #[error("{name}: cannot be {}, it is not there", if *.kind == ChangeKind::Removed { "removed" } else { "modified" })]
    Missing {
        /// The key.
        name: Name,
        /// The kind of the change.
        kind: ChangeKind,
    },
    /// The change set has several changes of one key.
    #[error("{name}: changed more than once in one change set")]
    Contradiction {
        /// The key.
        name: Name,
    },
}

impl ApplyError {
    /// Returns the key that is to blame.
    #[must_use]
    pub const fn name(&self) -> &Name {
        match self {
            Self::Present { name } | Self::Missing { name, .. } | Self::Contradiction { name } => {
                name
            }
        }
    }
}

impl ChangeSet {
    /// Returns the set with the changes made.
    ///
    /// A key to add must be absent, a key to remove or modify must be there; whether it has the
    /// value that the change starts with is not checked. To undo a change, apply its
    /// [reverse](ChangeSet::reverse).
    ///
    /// # Errors
    ///
    /// Fails at the first key that is there and should not be, or the other way round, and if the
    /// change set has several changes of one key.
    pub fn apply(&self, set: &KeySet) -> Result<KeySet, ApplyError> {
        if let Some(name) = self.contradiction() {
            return Err(ApplyError::Contradiction { name });
        }
        let mut result = set.clone();
        for change in self.iter() {
            let name = change.name();
            match (change.kind(), result.contains(&name)) {
                (ChangeKind::Added, true) => return Err(ApplyError::Present { name }),
                (kind @ (ChangeKind::Removed | ChangeKind::Modified), false) => {
                    return Err(ApplyError::Missing { name, kind });
                }
                _ => {}
            }
            match change.current() {
                Some(key) => {
                    result.insert(key.to_key());
                }
                None => {
                    result.remove(&name);
                }
            }
        }
        Ok(result)
    }
}
