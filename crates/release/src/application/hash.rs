//! The hash of a configuration.

use pathline_document::Data;
use sha2::{Digest, Sha256};

use super::reader::Cursor;
use crate::release::hex;

/// Hashes what values say: types, values and keys count, order of keys, spelling, comments and anchors do not.
pub(super) fn of(values: &[Option<&Cursor<'_>>]) -> String {
    let mut hash = Sha256::new();
    for value in values {
        match value {
            None => hash.update([0]),
            Some(value) => write(value, &mut hash),
        }
    }
    hex(&hash.finalize())
}

/// Writes a value so that different values never write the same: each part begins with its kind and its length.
// Recursion ends: readers refuse documents that nest too deep.
fn write(value: &Cursor<'_>, hash: &mut Sha256) {
    part(hash, b'!', value.tag().unwrap_or_default());
    match value.data() {
        Data::Scalar(scalar, text) => {
            let canonical = scalar.canonical(text);
            part(hash, b's', &format!("{scalar:?}"));
            part(hash, b'=', canonical.as_deref().unwrap_or(text));
        }
        Data::List(items) => {
            length(hash, b'l', items.len());
            for item in items {
                write(&value.child(item.id, item.span.clone()), hash);
            }
        }
        Data::Map(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members
                .sort_by(|one, other| (&one.key, one.key_type).cmp(&(&other.key, other.key_type)));
            length(hash, b'm', members.len());
            for member in members {
                part(hash, b'k', &format!("{:?}", member.key_type));
                part(hash, b'=', &member.key);
                write(
                    &value.child(member.value.id, member.value.span.clone()),
                    hash,
                );
            }
        }
    }
}

fn part(hash: &mut Sha256, kind: u8, text: &str) {
    length(hash, kind, text.len());
    hash.update(text);
}

fn length(hash: &mut Sha256, kind: u8, length: usize) {
    hash.update([kind]);
    hash.update((length as u64).to_be_bytes());
}
