//! Schemas of types that belong to crates without an API: what they look like as JSON.

use pathline_ledger::Scope;
use pathline_lineage::{Evidence, Kind};
use serde::Serialize;
use utoipa::openapi::{Object, ObjectBuilder, Type};

/// What a text is: a point in time, in RFC 3339.
pub(super) fn time() -> Object {
    let format = utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::DateTime);
    ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(format))
        .build()
}

/// The id of an artifact: the SHA-256 of its content.
pub(super) fn artifact_id() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("The SHA-256 of the content, in hexadecimal digits"))
        .pattern(Some("^[0-9a-f]{64}$"))
        .build()
}

/// What an artifact is.
pub(super) fn kind() -> Object {
    one_of(&Kind::ALL)
}

/// How an edge is known.
pub(super) fn evidence() -> Object {
    one_of(&Evidence::ALL)
}

/// What a token may do.
pub(super) fn scope() -> Object {
    one_of(&Scope::ALL)
}

fn one_of<T: Serialize>(values: &[T]) -> Object {
    let values = values
        .iter()
        .map(|value| serde_json::to_value(value).expect("a plain enum becomes a text"));
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(values))
        .build()
}
