//! Edits of what a document says, whatever its text: the measure of an edit of the text.

use crate::document::{Child, Data, Document, Member, Node, NodeId};
use crate::path::{Path, Segment};
use crate::scalar::Scalar;

/// Returns a document with a value set or removed. What aliases repeat elsewhere stays there as it was.
pub(super) fn edited(document: &Document, path: &Path, value: Option<&Document>) -> Document {
    let mut model = document.clone();
    let mut at = copy(&mut model, document.root());
    model.set_root(at);
    for (depth, segment) in path.segments().iter().enumerate() {
        let is_last = depth + 1 == path.segments().len();
        if is_null(model.node(at)) && value.is_some() {
            model.node_mut(at).data = match segment {
                Segment::Key(_) => Data::Map(Vec::new()),
                Segment::Index(_) => Data::List(Vec::new()),
            };
        }
        if is_last && value.is_none() {
            remove(model.node_mut(at), segment);
            return model;
        }
        let Some(child) = descend(&mut model, at, segment, value.is_some()) else {
            return model;
        };
        at = child;
    }
    if let Some(value) = value {
        let root = graft(&mut model, value);
        *model.node_mut(at) = model.node(root).clone();
    }
    model
}

/// Returns a part of a document as one of its own.
pub(super) fn part(document: &Document, id: NodeId) -> Document {
    let mut part = document.clone();
    part.set_root(id);
    part
}

/// Returns the maps and lists that lead to a value, with the value in them.
pub(super) fn wrapped(segments: &[Segment], value: &Document) -> Document {
    let mut wrapped = value.clone();
    for segment in segments.iter().rev() {
        let inner = wrapped.root();
        let data = match segment {
            Segment::Key(key) => Data::Map(vec![Member::new(&**key, Scalar::Text, inner)]),
            Segment::Index(_) => Data::List(vec![Child::new(inner)]),
        };
        let outer = wrapped.add(data);
        wrapped.set_root(outer);
    }
    wrapped
}

/// Tells whether a value is null, which has room for anything.
pub(super) fn is_null(node: &Node) -> bool {
    matches!(node.data, Data::Scalar(Scalar::Null, _)) && node.tag.is_none()
}

fn copy(model: &mut Document, id: NodeId) -> NodeId {
    let node = model.node(id).clone();
    model.push(node)
}

/// Returns a copy of an entry that its map or list has from now on; it is made if need be.
fn descend(model: &mut Document, at: NodeId, segment: &Segment, may_make: bool) -> Option<NodeId> {
    let child = model.node(at).child(segment).map(|(_, child)| child.id);
    let child = match child {
        Some(child) => copy(model, child),
        None if may_make => model.add(Data::Scalar(Scalar::Null, String::new())),
        None => return None,
    };
    match (&mut model.node_mut(at).data, segment) {
        (Data::Map(members), Segment::Key(key)) => {
            match members.iter_mut().find(|member| member.key == *key) {
                Some(member) => member.value.id = child,
                None => members.push(Member::new(&**key, Scalar::Text, child)),
            }
        }
        (Data::List(items), Segment::Index(index)) => match items.get_mut(*index) {
            Some(item) => item.id = child,
            None => items.push(Child::new(child)),
        },
        _ => return None,
    }
    Some(child)
}

fn remove(node: &mut Node, segment: &Segment) {
    match (&mut node.data, segment) {
        (Data::Map(members), Segment::Key(key)) => members.retain(|member| member.key != *key),
        (Data::List(items), Segment::Index(index)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
}

/// Adds all values of another document, and returns its root.
fn graft(model: &mut Document, value: &Document) -> NodeId {
    let offset = model.len();
    let moved = |id: NodeId| NodeId(id.0 + offset);
    for index in 0..value.len() {
        let mut node = value.node(NodeId(index)).clone();
        match &mut node.data {
            Data::Scalar(..) => {}
            Data::List(items) => items.iter_mut().for_each(|it| it.id = moved(it.id)),
            Data::Map(members) => {
                let values = members.iter_mut().map(|member| &mut member.value);
                values.for_each(|it| it.id = moved(it.id));
            }
        }
        model.push(node);
    }
    moved(value.root())
}
