//! Edits of JSON.

use super::Scene;
use super::flow::Brackets;
use super::operation::{Operation, Target};
use super::refused::Reason;
use super::splice::Splice;
use crate::document::{Data, Document};
use crate::write::flow;
use crate::write::style::{Json, quoted};

/// Returns the splices that do what has to be done.
pub(super) fn plan(scene: &Scene<'_>, operation: &Operation<'_>) -> Result<Vec<Splice>, Reason> {
    match operation {
        Operation::Replace(target, value) => {
            let span = target.child.span.clone();
            Ok(vec![Splice::new(span, written(value)?)])
        }
        Operation::Insert(target, key, value) => {
            let mut entry = String::new();
            if let Some(key) = key {
                quoted(key, &mut entry);
                entry.push_str(colon(scene, *target));
            }
            entry.push_str(&written(value)?);
            brackets(scene, *target).insert(&entry)
        }
        Operation::Remove(target, index) => brackets(scene, *target).remove(*index),
    }
}

fn brackets<'s>(scene: &'s Scene<'s>, target: Target<'_>) -> Brackets<'s> {
    Brackets {
        scene,
        node: scene.document.node(target.child.id),
        has_comments: false,
    }
}

fn written(value: &Document) -> Result<String, Reason> {
    let mut out = String::new();
    flow::write(value, value.root(), &Json, &mut out)?;
    Ok(out)
}

/// Returns what stands between keys and values, as it does for the last member.
fn colon<'s>(scene: &Scene<'s>, target: Target<'_>) -> &'s str {
    let Data::Map(members) = &scene.document.node(target.child.id).data else {
        return ": ";
    };
    let last = members.last();
    let between = last.map(|it| &scene.text[it.key_span.end..it.value.span.start]);
    between.filter(|it| !it.contains('\n')).unwrap_or(": ")
}
