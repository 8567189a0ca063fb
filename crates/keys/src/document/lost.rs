//! The proof that a document says all that its keys say.

use super::error::WriteError;
use crate::change::Change;
use crate::metadata::short_name;
use crate::set::KeySet;

/// Refuses a document that does not give back each key that it was made of.
pub(super) fn refuse_lost(keys: &KeySet, read: &KeySet) -> Result<(), WriteError> {
    let changes = KeySet::diff(keys, read, None);
    match changes.iter().find(|change| change.old().is_some()) {
        Some(change) => Err(blame(change)),
        None => Ok(()),
    }
}

/// Names the metadata without which the key would be read back as it is.
fn blame(change: Change<'_>) -> WriteError {
    let name = change.name();
    let changes = change.meta_changes();
    let lost = changes.removed.first().copied();
    let altered = changes
        .modified
        .first()
        .map(|(name, text, _)| (*name, *text));
    // A key that is not read at all has lost whatever it had.
    let gone = change.old().filter(|_| change.current().is_none());
    let gone = gone.and_then(|key| key.metadata().iter().next());
    match lost.or(altered).or(gone) {
        Some((metadata, text)) => WriteError::Metadata {
            name,
            metadata: short_name(metadata),
            text: text.to_owned(),
        },
        None => WriteError::Unequal { name },
    }
}
