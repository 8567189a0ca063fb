//! Places of keys that mean nothing: where they are in the file, noted while it is read.

use std::collections::BTreeMap;

use pathline_document::Position;
use serde_json::{Value, json};

use super::known::Unknown;
use super::normalize::spelt;
use super::reader::Cursor;
use super::{Dialect, PLACES_KEY};

/// The places of keys, by the paths under which warnings name them.
pub(super) type Places = BTreeMap<String, Position>;

/// Finds keys of settings in the file.
pub(super) fn find(settings: &Cursor<'_>, dialect: Dialect, unknown: &[Unknown]) -> Places {
    let place = |unknown: &Unknown| {
        let mut spelt = spelt(&unknown.steps, dialect).into_iter();
        let position = spelt.find_map(|steps| settings.key_at(&steps))?;
        Some((unknown.path().to_owned(), position))
    };
    unknown.iter().filter_map(place).collect()
}

/// Notes places in a document.
pub(super) fn note(document: &mut Value, places: &Places) {
    if places.is_empty() {
        return;
    }
    let pairs = places
        .iter()
        .map(|(path, it)| (path.clone(), json!([it.line, it.column])));
    document[PLACES_KEY] = Value::Object(pairs.collect());
}

/// Returns the place that a document has noted for a key.
pub(super) fn noted(document: &Value, path: &str) -> Option<Position> {
    let place = document.get(PLACES_KEY)?.get(path)?;
    let number = |index: usize| usize::try_from(place.get(index)?.as_u64()?).ok();
    Some(Position {
        line: number(0)?,
        column: number(1)?,
    })
}
