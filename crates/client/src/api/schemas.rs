//! Schemas of types that belong to crates without an API, as their JSON looks.

use pathline_lineage::{Evidence, Kind};
use serde::Serialize;
use utoipa::openapi::{Object, ObjectBuilder, Type};

use super::Scope;

/// A text that is a point in time, in RFC 3339.
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

/// The kinds of artifacts.
pub(super) fn kind() -> Object {
    one_of(&Kind::ALL)
}

/// The kinds of evidence.
pub(super) fn evidence() -> Object {
    one_of(&Evidence::ALL)
}

/// The scopes of tokens.
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
