//! What may be asked of the writer, and why it refuses.

use std::sync::Arc;

use serde_json::Value;

use super::object::{Key, Stored};

/// One change to one object, computed from a state that was read before.
#[derive(Debug)]
pub(crate) struct Write {
    /// The object to change.
    pub(crate) key: Key,
    /// The state the change was computed from.
    pub(crate) expect: Expect,
    /// The change.
    pub(crate) change: Change,
    /// Refuses the write unless the key's namespace exists and is not being deleted. Checked
    /// together with `expect`, so that nothing enters a namespace that is going away.
    pub(crate) needs_namespace: bool,
}

/// The state that a write replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// There is no such object.
    Absent,
    /// The object is at this revision.
    Revision(u64),
}

/// The new state that a write makes.
#[derive(Debug)]
pub(crate) enum Change {
    /// Creates or replaces the object. If nothing differs from the current state (the
    /// resourceVersion aside) no revision is made and the current state is the answer.
    Put(Value),
    /// Removes the object; the value is its last state, shown in the `DELETED` event.
    Remove(Value),
}

/// Why a write did not happen. Nothing of it is visible then, to anyone.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// The object is not in the expected state.
    #[error("the object has been modified; read it again and repeat the change")]
    Conflict {
        /// The state found instead, if the object exists.
        current: Option<Arc<Stored>>,
    },
    /// The namespace does not exist.
    #[error("the namespace does not exist")]
    NamespaceMissing,
    /// The namespace is being deleted.
    #[error("the namespace is being deleted")]
    NamespaceTerminating,
    /// The disk refused, or the store is closing.
    #[error("the change could not be stored: {0}")]
    Storage(Arc<str>),
}
