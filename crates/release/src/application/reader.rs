//! Reads values of a document, and says of whatever is wrong where it is.

use pathline_document::{Data, Document, Lines, NodeId, Position, Scalar};
use serde_json::Value;
use std::ops::Range;

use super::InvalidFile;

/// A value, and where it is written.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    document: &'a Document,
    lines: &'a Lines<'a>,
    id: NodeId,
    /// The place of the value; of one that an alias repeats, the alias.
    span: Range<usize>,
}

impl<'a> Cursor<'a> {
    pub(super) fn root(document: &'a Document, lines: &'a Lines<'a>) -> Self {
        let id = document.root();
        Self {
            document,
            lines,
            id,
            span: document.node(id).span.clone(),
        }
    }

    pub(super) fn invalid(&self, problem: impl Into<String>) -> InvalidFile {
        InvalidFile {
            position: self.lines.position(self.span.start),
            problem: problem.into(),
        }
    }

    pub(super) fn data(&self) -> &'a Data {
        &self.document.node(self.id).data
    }

    pub(super) fn tag(&self) -> Option<&'a str> {
        self.document.node(self.id).tag.as_deref()
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.data(), Data::Scalar(Scalar::Null, _))
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(
            self.data(),
            Data::Scalar(Scalar::Integer | Scalar::Float, _)
        )
    }

    /// Returns the members of a map; null is an empty one.
    pub(super) fn members(&self) -> Result<Vec<(&'a str, Self)>, InvalidFile> {
        match self.data() {
            Data::Map(members) => Ok(members
                .iter()
                .map(|it| {
                    (
                        it.key.as_str(),
                        self.child(it.value.id, it.value.span.clone()),
                    )
                })
                .collect()),
            Data::Scalar(Scalar::Null, _) => Ok(Vec::new()),
            Data::Scalar(..) | Data::List(_) => Err(self.invalid("a map is expected")),
        }
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, InvalidFile> {
        match self.data() {
            Data::List(items) => {
                let items = items.iter();
                Ok(items.map(|it| self.child(it.id, it.span.clone())).collect())
            }
            Data::Scalar(Scalar::Null, _) => Ok(Vec::new()),
            Data::Scalar(..) | Data::Map(_) => Err(self.invalid("a list is expected")),
        }
    }

    /// Returns a member of a map, if it is there.
    pub(super) fn optional(&self, key: &str) -> Result<Option<Self>, InvalidFile> {
        let mut members = self.members()?.into_iter();
        Ok(members
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value))
    }

    /// Returns a member of a map, which has to be there.
    pub(super) fn required(&self, key: &str, missing: &str) -> Result<Self, InvalidFile> {
        let found = self.optional(key)?;
        found.ok_or_else(|| self.invalid(format!("{missing} `{key}`")))
    }

    /// Returns the place of a key, by the keys and indices that lead to it.
    pub(super) fn key_at(&self, steps: &[String]) -> Option<Position> {
        let (last, before) = steps.split_last()?;
        let mut here = self.clone();
        for step in before {
            here = match here.data() {
                Data::List(_) => here.items().ok()?.into_iter().nth(step.parse().ok()?)?,
                _ => here.optional(step).ok()??,
            };
        }
        let Data::Map(members) = here.data() else {
            return None;
        };
        let member = members.iter().find(|it| it.key == *last)?;
        Some(self.lines.position(member.key_span.start))
    }

    pub(super) fn text(&self) -> Result<&'a str, InvalidFile> {
        match self.data() {
            Data::Scalar(Scalar::Text, text) => Ok(text),
            _ => Err(self.invalid("a text is expected")),
        }
    }

    /// Returns the value as JSON.
    pub(super) fn to_json(&self) -> Value {
        let mut document = self.document.clone();
        document.set_root(self.id);
        document.to_json()
    }

    pub(super) fn child(&self, id: NodeId, span: Range<usize>) -> Self {
        Self {
            id,
            span,
            ..self.clone()
        }
    }
}
