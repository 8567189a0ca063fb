//! The rule that all readers keep.

use crate::document::{Document, Node, NodeId};
use crate::error::{ErrorAt, ReadErrorKind};
use crate::limits::Limits;

/// Adds a value to what has been read, if it may hold so many.
pub(crate) fn add(document: &mut Document, node: Node, limits: &Limits) -> Result<NodeId, ErrorAt> {
    if document.len() >= limits.values {
        let kind = ReadErrorKind::TooMany(limits.values);
        return Err(ErrorAt::new(node.head.start, kind));
    }
    Ok(document.push(node))
}
