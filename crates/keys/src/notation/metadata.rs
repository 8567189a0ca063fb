//! Metadata.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::{Error, refuse};
use crate::metadata::{Metadata, short_name};

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, text)| (short_name(name), text)))
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        written.read("metadata").map_err(|error| refuse(&error))
    }
}

/// Metadata as it is written: names, each possibly there twice, with their texts.
#[derive(Default)]
pub(super) struct Written(Vec<(String, Option<String>)>);

impl Written {
    /// Reads the metadata of a key, which errors name.
    pub(super) fn read(self, key: &str) -> Result<Metadata, Error> {
        let mut metadata = Metadata::new();
        for (written, text) in self.0 {
            match metadata.insert(&written, text.unwrap_or_default()) {
                Ok(None) => {}
                Ok(Some(_)) => {
                    return Err(Error::DuplicateMetadata {
                        name: key.to_owned(),
                        metadata: written,
                    });
                }
                Err(source) => return Err(Error::Name { written, source }),
            }
        }
        Ok(metadata)
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Written, A::Error> {
        let mut written = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            written.push(entry);
        }
        Ok(Written(written))
    }
}
