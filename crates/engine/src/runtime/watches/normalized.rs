//! Stamped objects as the cluster writes them, where that differs from what was stamped.

use std::collections::HashMap;

use parking_lot::Mutex;
use serde_json::Value;

use crate::runtime::packed::Packed;
use crate::runtime::queue::Key;

/// Remembers how the cluster wrote what was stamped.
#[derive(Default)]
pub(super) struct Normalized {
    /// With the digest of what was stamped.
    by_key: Mutex<HashMap<Key, (String, Packed<Value>)>>,
}

impl Normalized {
    /// Remembers how the cluster wrote what was stamped, under the digest of the latter.
    pub(super) fn note(&self, key: Key, digest: &str, normal: &Value) {
        let normal = (digest.to_owned(), Packed::new(normal));
        self.by_key.lock().insert(key, normal);
    }

    /// Returns how the cluster wrote what was stamped, if it did so its own way.
    pub(super) fn get(&self, key: &Key, digest: &str) -> Option<Value> {
        let by_key = self.by_key.lock();
        let (known, normal) = by_key.get(key)?;
        (known == digest).then(|| normal.unpack())
    }

    /// Forgets an object that is gone.
    pub(super) fn forget(&self, key: &Key) {
        self.by_key.lock().remove(key);
    }
}
