//! One edit of a list or map as edits of the entries that differ.

use super::model::part;
use crate::document::{Child, Data, Document, Member, Node, Origin, same};
use crate::path::Path;
use crate::scalar::Scalar;

/// More edits than this are made as one: each takes a reading of the text.
const STEPS_MAX: usize = 64;

/// Returns the edits that make a value of a document another one.
pub(super) fn steps(
    document: &Document,
    path: &Path,
    value: &Document,
) -> Vec<(Path, Option<Document>)> {
    let mut sets = Vec::new();
    let mut removals = Vec::new();
    let mut open = vec![(path.clone(), value.root())];
    while let Some((path, id)) = open.pop() {
        let old = find(document, &path);
        let new = value.node(id);
        match old {
            Some(old) if same(document, old.id, value, id) => {}
            Some(old) if are_alike(document, old, new) => {
                let (below, gone) = entries(&path, document.node(old.id), new);
                open.extend(below);
                removals.extend(gone.into_iter().map(|path| (path, None)));
            }
            _ => sets.push((path, Some(part(value, id)))),
        }
        if sets.len() + removals.len() + open.len() > STEPS_MAX {
            break;
        }
    }
    if !open.is_empty() {
        return vec![(path.clone(), Some(value.clone()))];
    }
    // What is removed last leaves no empty map in between.
    sets.extend(removals);
    sets
}

fn find<'d>(document: &'d Document, path: &Path) -> Option<&'d Child> {
    let mut child = &document.root;
    for segment in path.segments() {
        (_, child) = document.node(child.id).child(segment)?;
    }
    Some(child)
}

/// Tells whether two values are of one kind, and the entries of the old one can be edited.
fn are_alike(document: &Document, old: &Child, new: &Node) -> bool {
    let node = document.node(old.id);
    let has_texts = |members: &[Member]| members.iter().all(|it| it.key_type == Scalar::Text);
    let are_of_one_kind = match (&node.data, &new.data) {
        (Data::List(items), Data::List(others)) => !items.is_empty() && !others.is_empty(),
        (Data::Map(members), Data::Map(others)) => {
            let are_filled = !members.is_empty() && !others.is_empty();
            (are_filled || stays_if_empty(node))
                && has_texts(members)
                && has_texts(others)
                && !node.has_merge
        }
        _ => false,
    };
    are_of_one_kind && old.origin == Origin::Written && !node.is_aliased && node.tag == new.tag
}

/// Tells whether a map is there without entries too: then it has a header.
#[cfg(feature = "toml")]
fn stays_if_empty(node: &Node) -> bool {
    node.layout == crate::document::Layout::Section
}

#[cfg(not(feature = "toml"))]
fn stays_if_empty(_: &Node) -> bool {
    false
}

type Entry = (Path, crate::document::NodeId);

/// Returns the entries of the new value, last first, and the paths of old ones that it lacks.
fn entries(path: &Path, old: &Node, new: &Node) -> (Vec<Entry>, Vec<Path>) {
    match (&old.data, &new.data) {
        (Data::Map(members), Data::Map(others)) => {
            let is_gone = |member: &&Member| others.iter().all(|it| it.key != member.key);
            let gone = members.iter().filter(is_gone).map(|it| path.key(&*it.key));
            let below = others.iter().rev();
            let below = below.map(|it| (path.key(&*it.key), it.value.id));
            (below.collect(), gone.collect())
        }
        (Data::List(items), Data::List(others)) => {
            let gone = (others.len()..items.len()).rev();
            let below = others.iter().enumerate().rev();
            let below = below.map(|(at, it)| (path.index(at), it.id));
            (below.collect(), gone.map(|at| path.index(at)).collect())
        }
        _ => (Vec::new(), Vec::new()),
    }
}
