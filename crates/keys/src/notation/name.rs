//! Names.

use serde::de::Deserializer;
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};

use super::{read_name, refuse};
use crate::name::Name;

impl Serialize for Name {
    /// Writes the escaped form, and fails if that is not UTF-8.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match String::from_utf8(self.escaped()) {
            Ok(escaped) => serializer.serialize_str(&escaped),
            Err(_) => Err(S::Error::custom(format_args!(
                "{self}: a name that is not UTF-8"
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = String::deserialize(deserializer)?;
        read_name(&written).map_err(|error| refuse(&error))
    }
}
