//! The names of types in metadata.

use pathline_document::Scalar;

const TYPES: [(&str, Scalar); 5] = [
    ("null", Scalar::Null),
    ("boolean", Scalar::Boolean),
    ("integer", Scalar::Integer),
    ("float", Scalar::Float),
    ("datetime", Scalar::Datetime),
];

/// Returns what metadata calls a type; texts and bytes need no name.
pub(super) fn name(wanted: Scalar) -> Option<&'static str> {
    let mut types = TYPES.iter();
    types
        .find(|(_, scalar)| *scalar == wanted)
        .map(|(name, _)| *name)
}

/// Returns the type that metadata calls by a name.
pub(super) fn of_name(wanted: &str) -> Option<Scalar> {
    let mut types = TYPES.iter();
    types
        .find(|(name, _)| *name == wanted)
        .map(|(_, scalar)| *scalar)
}
