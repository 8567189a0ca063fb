//! Documents of a file as JSON values that know where they are written.

use std::ops::Range;

use pathline_document::{Format, Path, ReadError, Segment};
use pathline_jsonpath::FieldPath;
use serde_json::Value;

/// One document of a file.
#[derive(Debug)]
pub(crate) struct Document {
    /// The value as JSON.
    pub(crate) value: Value,
    written: pathline_document::Document,
}

/// Reads all documents of a text; empty ones are left out.
pub(super) fn read(text: &str) -> Result<Vec<Document>, ReadError> {
    let documents = Format::Yaml.read(text)?.into_iter();
    let documents = documents.map(|written| Document {
        value: written.to_json(),
        written,
    });
    Ok(documents.filter(|it| !it.value.is_null()).collect())
}

impl Document {
    /// Returns where a value is written, or the nearest one around it; of a map or a list, its key.
    pub(crate) fn span(&self, path: &FieldPath) -> Range<usize> {
        self.written.span(&document_path(path))
    }

    /// Returns where the key of a value is written; of an item of a list, the item.
    pub(crate) fn key_span(&self, path: &FieldPath) -> Range<usize> {
        self.written.key_span(&document_path(path))
    }
}

fn document_path(path: &FieldPath) -> Path {
    let segments = path.segments().iter().map(|segment| match segment {
        pathline_jsonpath::Segment::Field(name) => Segment::Key(name.clone()),
        pathline_jsonpath::Segment::Index(index) => Segment::Index(*index),
    });
    segments.collect()
}
