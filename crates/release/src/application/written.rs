//! Variables and contents of files, which are texts: what is written is what holds.
//!
//! YAML takes `1.10` for a number, and a number is written as `1.1`; nobody who gives a variable wants that.

use pathline_document::{Data, Scalar};
use serde_json::Value;

use super::Dialect;
use super::reader::Cursor;

/// The places of variables, and of files, in the settings of a dialect.
struct Places {
    variables: &'static [&'static str],
    files: [&'static [&'static str]; 2],
}

const FIRST: Places = Places {
    variables: &["environment"],
    files: [&["config"], &["secrets"]],
};

const SECOND: Places = Places {
    variables: &["environment", "variable"],
    files: [
        &["environment", "file", "config"],
        &["environment", "file", "secret"],
    ],
};

/// Puts texts as they are written into the values of settings that were checked, and of what they override.
pub(super) fn keep(settings: &Cursor<'_>, values: &mut Value, dialect: Dialect) {
    let places = match dialect {
        Dialect::First => FIRST,
        Dialect::Second => SECOND,
    };
    each(settings, values, places.variables, keep_one);
    for path in places.files {
        each(settings, values, path, keep_file);
    }
    each(settings, values, &["in"], |settings, values| {
        keep(settings, values, dialect);
    });
}

fn keep_file(file: &Cursor<'_>, values: &mut Value) {
    let items = member(file, "data").and_then(|it| it.items().ok());
    let values = values.get_mut("data").and_then(Value::as_array_mut);
    let values = values.into_iter().flatten();
    for (item, value) in items.into_iter().flatten().zip(values) {
        if let (Some(item), Some(value)) = (member(&item, "value"), value.get_mut("value")) {
            keep_one(&item, value);
        }
    }
}

fn keep_one(written: &Cursor<'_>, value: &mut Value) {
    if let Data::Scalar(Scalar::Integer | Scalar::Float | Scalar::Boolean, text) = written.data() {
        *value = Value::String(text.clone());
    }
}

/// Shows each member of the map at a path, if there is one.
fn each(
    settings: &Cursor<'_>,
    values: &mut Value,
    path: &[&str],
    show: impl Fn(&Cursor<'_>, &mut Value),
) {
    let mut found = Some((settings.clone(), values));
    for key in path {
        found = found.and_then(|(map, values)| Some((member(&map, key)?, values.get_mut(*key)?)));
    }
    let Some((map, values)) = found else {
        return;
    };
    for (key, member) in map.members().unwrap_or_default() {
        if let Some(value) = values.get_mut(key) {
            show(&member, value);
        }
    }
}

fn member<'a>(map: &Cursor<'a>, key: &str) -> Option<Cursor<'a>> {
    map.optional(key).ok().flatten()
}
