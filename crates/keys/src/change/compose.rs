//! Two changes one after the other.

use std::cmp::Ordering;

use super::{ChangeKind, ChangeSet, Record};
use crate::name::Name;

/// The reason for which two change sets do not follow each other.
///
/// ```
/// use pathline_keys::change::ComposeError;
/// use pathline_keys::{ChangeKind, ChangeSet, Key};
///
/// let added = ChangeSet::from_parts([Key::new("user:/a".parse()?)], [], []);
/// let refused = added.compose(&added).expect_err("a key cannot be added twice");
/// assert_eq!(refused.to_string(), "user:/a: added, so it cannot be added");
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// The second change set says of a key what cannot follow from the first.
    #[error("{name}: {}, so it cannot be {}", word(*.first), word(*.second))]
    Transition {
        /// The key.
        name: Name,
        /// The change in the first change set.
        first: ChangeKind,
        /// The change in the second one.
        second: ChangeKind,
    },
    /// One change set has several changes of one key.
    #[error("{name}: changed more than once in one change set")]
    Contradiction {
        /// The key.
        name: Name,
    },
}

impl ComposeError {
    /// Returns the key that is to blame.
    #[must_use]
    pub const fn name(&self) -> &Name {
        match self {
            Self::Transition { name, .. } | Self::Contradiction { name } => name,
        }
    }
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Modified => "modified",
    }
}

impl ChangeSet {
    /// Returns the change that does what this one and then the next one do.
    ///
    /// Checks what happened to each key (one that was removed cannot be modified), but not that the
    /// next change starts with the value that this one ends with.
    ///
    /// # Errors
    ///
    /// Fails if what happens to a key cannot happen after what happened to it, and if one of the
    /// change sets has several changes of one key.
    pub fn compose(&self, next: &Self) -> Result<Self, ComposeError> {
        if let Some(name) = self.contradiction().or_else(|| next.contradiction()) {
            return Err(ComposeError::Contradiction { name });
        }
        let mut records = Vec::with_capacity(self.len().max(next.len()));
        let (mut first, mut second) = (
            self.records.iter().peekable(),
            next.records.iter().peekable(),
        );
        loop {
            let order = match (first.peek(), second.peek()) {
                (Some(a), Some(b)) => a.name().cmp(&b.name()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let a = (order != Ordering::Greater).then(|| first.next()).flatten();
            let b = (order != Ordering::Less).then(|| second.next()).flatten();
            match (a, b) {
                (Some(a), Some(b)) => records.extend(follow(a, b)?),
                (a, b) => records.extend(a.or(b).cloned()),
            }
        }
        Ok(Self {
            records,
            parent: self.parent.clone(),
        })
    }
}

/// Joins two changes of one key, which may cancel each other out.
fn follow(first: &Record, second: &Record) -> Result<Option<Record>, ComposeError> {
    let is_there = first.new.is_some();
    let must_be_there = second.old.is_some();
    if is_there != must_be_there {
        return Err(ComposeError::Transition {
            name: first.name(),
            first: first.view().kind(),
            second: second.view().kind(),
        });
    }
    let joined = Record {
        old: first.old.clone(),
        new: second.new.clone(),
    };
    if joined.old.is_none() && joined.new.is_none() {
        return Ok(None);
    }
    let view = joined.view();
    let unchanged = view
        .old()
        .zip(view.current())
        .is_some_and(|(a, b)| a.same_content(b));
    Ok((!unchanged).then_some(joined))
}
