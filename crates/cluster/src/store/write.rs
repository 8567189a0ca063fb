//! The requests that the writer takes, and the reasons for which it refuses.

use std::sync::Arc;

use serde_json::Value;

use super::object::{Key, Stored};

/// The most bytes of JSON text that an object may have; etcd's limit for a request.
pub(crate) const MAX_OBJECT_BYTES: usize = 1_572_864;

/// The bytes that an object over the limit may grow by while it is deleted: deleting it writes
/// the time, and who wrote it.
const FAREWELL_BYTES: usize = 4096;

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

/// The reason for which a write did not happen. Nothing of it is visible then, to anyone.
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
    /// The object's text is longer than [`MAX_OBJECT_BYTES`]. The words are etcd's, and a real API
    /// server hands them on.
    #[error("etcdserver: request is too large")]
    TooLarge,
    /// The disk refused, or the store is closing.
    #[error("the change could not be stored: {0}")]
    Storage(Arc<str>),
}

/// Refuses a state that is over the limit. One that was over it before there was a limit may stay
/// as large as it is, and may be deleted.
pub(super) fn check_size(current: Option<&Stored>, new: &Stored) -> Result<(), Refused> {
    let length = new.body.len();
    if length <= MAX_OBJECT_BYTES {
        return Ok(());
    }
    let leaving = !new.object()["metadata"]["deletionTimestamp"].is_null();
    let known = current.map_or(0, |current| current.body.len());
    let most = known + if leaving { FAREWELL_BYTES } else { 0 };
    if known > MAX_OBJECT_BYTES && length <= most {
        Ok(())
    } else {
        Err(Refused::TooLarge)
    }
}
