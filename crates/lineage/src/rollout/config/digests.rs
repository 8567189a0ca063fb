//! The content of a ConfigMap or Secret, told apart by digests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::canonical;
use crate::rollout::carried::Sha;
use crate::rollout::uses::ConfigKind;

/// The digests of a content; they are compared, and never kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::rollout) struct Digests {
    /// Of all of it, as canonical JSON.
    pub(in crate::rollout) whole: Sha,
    /// Of each value, by its key.
    pub(in crate::rollout) values: BTreeMap<String, Sha>,
}

impl Digests {
    /// Digests what containers read: the values of a Secret are decoded, as they are for them.
    pub(super) fn of(kind: ConfigKind, object: &Value) -> Self {
        let fields = |name: &str| object[name].as_object().cloned().unwrap_or_default();
        let (data, binary) = (fields("data"), fields("binaryData"));
        let plain = kind == ConfigKind::ConfigMap;
        let of_data = data.iter().map(|(key, value)| (key, value, plain));
        let of_binary = binary.iter().map(|(key, value)| (key, value, false));
        let values = of_data.chain(of_binary).map(|(key, value, plain)| {
            let text = value.as_str().unwrap_or_default();
            let bytes = if plain { None } else { decoded(text) };
            let bytes = bytes.unwrap_or_else(|| text.as_bytes().to_vec());
            (key.clone(), Sha256::digest(bytes).into())
        });
        let values = values.collect();
        let whole = if binary.is_empty() {
            json!(data)
        } else {
            json!({"binaryData": binary, "data": data})
        };
        Self {
            whole: Sha256::digest(canonical::json(&whole)).into(),
            values,
        }
    }
}

/// Decodes base64 as Kubernetes writes it; `None` if it is something else.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u8);
    for character in text.bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_17_the_values_of_secrets_are_digested_as_containers_read_them() {
        for (text, wanted) in [
            ("c2VjcmV0", Some("secret")),
            ("c2VjcmV0cw==", Some("secrets")),
            ("YQ==", Some("a")),
            ("", Some("")),
            ("no base64!", None),
        ] {
            let decoded = decoded(text);
            assert_eq!(decoded.as_deref(), wanted.map(str::as_bytes), "{text}");
        }
    }
}
