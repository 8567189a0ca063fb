//! From a path to what has to be done there.

use super::model::{is_null, wrapped};
use super::refused::Reason;
use crate::document::{Child, Data, Document, Node, NodeId, Origin};
use crate::path::{Path, Segment};

/// A value and the list or map that it is part of, with its index there.
#[cfg_attr(
    not(any(feature = "toml", feature = "yaml")),
    expect(dead_code, reason = "JSON is edited without looking at the parent")
)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'d> {
    pub(super) child: &'d Child,
    pub(super) parent: Option<(NodeId, usize)>,
}

/// One thing to do.
#[derive(Debug)]
pub(super) enum Operation<'d> {
    /// Put a value in the target of another one.
    Replace(Target<'d>, Document),
    /// Add an item to a list, or a member to a map, as the last one.
    Insert(Target<'d>, Option<String>, Document),
    /// Remove an entry, by its index.
    Remove(Target<'d>, usize),
}

/// Finds what has to be done to set or remove a value; nothing, if that is so already.
pub(super) fn find<'d>(
    document: &'d Document,
    path: &Path,
    value: Option<&Document>,
) -> Result<Option<Operation<'d>>, Reason> {
    let mut target = Target {
        child: &document.root,
        parent: None,
    };
    let mut above = None;
    for (depth, segment) in path.segments().iter().enumerate() {
        let node = document.node(target.child.id);
        let rest = &path.segments()[depth..];
        if is_null(node) {
            return match value {
                Some(value) => replace(document, target, made(rest, value)?).map(Some),
                None => Ok(None),
            };
        }
        refuse_elsewhere(target.child, node)?;
        let Some(index) = index_of(node, segment)? else {
            return value
                .map(|value| insert(target, node, rest, value))
                .transpose();
        };
        above = Some((target, index));
        target = Target {
            child: node.children().nth(index).ok_or(Reason::Nowhere)?,
            parent: Some((target.child.id, index)),
        };
    }
    match (value, above) {
        (Some(value), _) => replace(document, target, value.clone()).map(Some),
        (None, None) => Err(Reason::Root),
        (None, Some((parent, index))) => {
            refuse_shared(document, target.child)?;
            Ok(Some(Operation::Remove(parent, index)))
        }
    }
}

fn replace<'d>(
    document: &'d Document,
    target: Target<'d>,
    value: Document,
) -> Result<Operation<'d>, Reason> {
    refuse_shared(document, target.child)?;
    Ok(Operation::Replace(target, value))
}

fn insert<'d>(
    target: Target<'d>,
    node: &Node,
    rest: &[Segment],
    value: &Document,
) -> Result<Operation<'d>, Reason> {
    let value = made(&rest[1..], value)?;
    match (&node.data, &rest[0]) {
        (Data::Map(_), Segment::Key(key)) => {
            Ok(Operation::Insert(target, Some(key.clone()), value))
        }
        (Data::List(items), Segment::Index(index)) if *index == items.len() => {
            Ok(Operation::Insert(target, None, value))
        }
        (Data::List(items), _) => Err(Reason::Index { len: items.len() }),
        _ => Err(Reason::Nowhere),
    }
}

/// Returns a value in the maps and lists that a path needs and that are not there.
fn made(rest: &[Segment], value: &Document) -> Result<Document, Reason> {
    let starts_list = |segment: &Segment| !matches!(segment, Segment::Index(1..));
    if !rest.iter().all(starts_list) {
        return Err(Reason::Index { len: 0 });
    }
    Ok(wrapped(rest, value))
}

/// Returns the index of the entry that a segment names, or nothing if there could be one.
fn index_of(node: &Node, segment: &Segment) -> Result<Option<usize>, Reason> {
    match (&node.data, segment) {
        (Data::Map(members), Segment::Key(key)) => {
            Ok(members.iter().position(|member| member.key == *key))
        }
        (Data::List(items), Segment::Index(index)) => Ok((*index < items.len()).then_some(*index)),
        _ => Err(Reason::Nowhere),
    }
}

/// Refuses to go into what is written elsewhere, or repeated there.
fn refuse_elsewhere(child: &Child, node: &Node) -> Result<(), Reason> {
    match child.origin {
        Origin::Alias => Err(Reason::Alias),
        Origin::Merged => Err(Reason::Merged),
        Origin::Written if node.is_aliased => Err(Reason::Shared),
        Origin::Written => Ok(()),
    }
}

/// Refuses to take away what an alias repeats.
fn refuse_shared(document: &Document, child: &Child) -> Result<(), Reason> {
    if child.origin == Origin::Merged {
        return Err(Reason::Merged);
    }
    let mut open = vec![child];
    while let Some(child) = open.pop() {
        let node = document.node(child.id);
        if child.origin != Origin::Written {
            continue;
        }
        if node.is_aliased {
            return Err(Reason::Shared);
        }
        open.extend(node.children());
    }
    Ok(())
}
