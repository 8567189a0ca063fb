//! Secrets that are written.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use zeroize::Zeroizing;

/// A Secret, to be written. It is serialized as the API takes it, printed without its values, and wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretObject {
    metadata: Value,
    /// In base64.
    data: BTreeMap<String, Zeroizing<String>>,
}

impl SecretObject {
    pub(super) fn new(metadata: Value, data: BTreeMap<String, Zeroizing<String>>) -> Self {
        Self { metadata, data }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        self.metadata["name"].as_str().unwrap_or_default()
    }

    /// Returns it without its values, to be shown: of each there is that it is there.
    pub fn redacted(&self) -> Value {
        let keys = self.data.keys().map(|it| (it.as_str(), "[redacted]"));
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": self.metadata,
            "type": "Opaque",
            "immutable": true,
            "data": keys.collect::<BTreeMap<_, _>>(),
        })
    }
}

impl Serialize for SecretObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = self.data.iter();
        let data: BTreeMap<&str, &str> = data.map(|(key, it)| (&**key, &***it)).collect();
        let mut object = serializer.serialize_map(Some(6))?;
        object.serialize_entry("apiVersion", "v1")?;
        object.serialize_entry("kind", "Secret")?;
        object.serialize_entry("metadata", &self.metadata)?;
        object.serialize_entry("type", "Opaque")?;
        object.serialize_entry("immutable", &true)?;
        object.serialize_entry("data", &data)?;
        object.end()
    }
}

impl fmt::Debug for SecretObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret `{}`", self.name())
    }
}
