//! Sets of field paths, and their `FieldsV1` form in `metadata.managedFields`.

mod element;
mod json;
mod set;

pub(crate) use element::{Path, PathElement, same_value, whole_number};
pub(crate) use set::FieldSet;
