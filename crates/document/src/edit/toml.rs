//! Edits of TOML.

mod body;

use self::body::{Body, key_prefix};
use super::Scene;
use super::flow::Brackets;
use super::operation::{Operation, Target};
use super::refused::Reason;
use super::splice::Splice;
use crate::document::{Data, Document, Layout, Member, Node, NodeId};
use crate::gap::{line_end, line_start, next_line};
use crate::scalar::Scalar;
use crate::write::flow;
use crate::write::style::{Style as _, Toml};

/// Returns the splices that do what has to be done.
pub(super) fn plan(scene: &Scene<'_>, operation: &Operation<'_>) -> Result<Vec<Splice>, Reason> {
    match operation {
        Operation::Replace(target, value) => replace(scene, *target, value),
        Operation::Insert(target, key, value) => insert(scene, *target, key.as_deref(), value),
        Operation::Remove(target, index) => remove(scene, *target, *index),
    }
}

fn replace(scene: &Scene<'_>, target: Target<'_>, value: &Document) -> Result<Vec<Splice>, Reason> {
    let old = scene.document.node(target.child.id);
    if !matches!(old.layout, Layout::Plain | Layout::Flow) {
        return replace_table(scene, target, value);
    }
    let span = target.child.span.clone();
    let is_literal = scene.text[span.clone()].starts_with('\'');
    let new = match &value.node(value.root()).data {
        Data::Scalar(Scalar::Text, text) if is_literal && fits_literal(text) => {
            format!("'{text}'")
        }
        _ => written(value, value.root())?,
    };
    Ok(vec![Splice::new(span, new)])
}

/// Replaces a table of several lines by one line.
fn replace_table(
    scene: &Scene<'_>,
    target: Target<'_>,
    value: &Document,
) -> Result<Vec<Splice>, Reason> {
    let Some((parent, index)) = target.parent else {
        let text = crate::write::toml(value)?.replace('\n', scene.newline);
        return Ok(vec![Splice::new(0..scene.text.len(), text)]);
    };
    let node = scene.document.node(parent);
    let (Data::Map(members), Layout::Section) = (&node.data, node.layout) else {
        return Err(Reason::Layout("a table of several lines"));
    };
    let key = &members[index];
    let mut splices = remove_lines(scene, target.child.id, key.key_span.start)?;
    let mut body = Body::of(scene.document, parent);
    let is_gone = |at: usize| splices.iter().any(|splice| splice.range.contains(&at));
    body.pairs.retain(|pair| !is_gone(pair.start));
    let line = pair(&key.key, value, value.root())?;
    splices.extend(insert_line(scene, node, &body, &line)?);
    Ok(splices)
}

fn fits_literal(text: &str) -> bool {
    !text.contains(|it: char| it == '\'' || (it.is_control() && it != '\t'))
}

fn insert(
    scene: &Scene<'_>,
    target: Target<'_>,
    key: Option<&str>,
    value: &Document,
) -> Result<Vec<Splice>, Reason> {
    let node = scene.document.node(target.child.id);
    let line = match key {
        Some(key) => pair(key, value, value.root())?,
        None => written(value, value.root())?,
    };
    match node.layout {
        Layout::Plain | Layout::Flow => brackets(scene, node).insert(&line),
        Layout::Sections => append_section(scene, node, value),
        Layout::Implied => insert_header(scene, node, &line),
        Layout::Section | Layout::Dotted => {
            let body = Body::of(scene.document, target.child.id);
            insert_line(scene, node, &body, &line)
        }
        #[cfg(feature = "yaml")]
        Layout::Block | Layout::Pair => Err(Reason::Nowhere),
    }
}

fn insert_line(
    scene: &Scene<'_>,
    node: &Node,
    body: &Body,
    line: &str,
) -> Result<Vec<Splice>, Reason> {
    let (text, newline) = (scene.text, scene.newline);
    let Some(last) = body.pairs.last() else {
        if !node.span.is_empty() {
            let at = line_end(text, node.span.end);
            return Ok(vec![Splice::insert(at, format!("{newline}{line}"))]);
        }
        return Ok(vec![insert_at_top(scene, line)]);
    };
    let at = line_end(text, last.end);
    let start = line_start(text, last.start);
    let space = &text[start..start + text[start..].len() - text[start..].trim_start().len()];
    let prefix = match node.layout {
        Layout::Dotted => key_prefix(scene, node)?,
        _ => "",
    };
    let line = format!("{newline}{space}{prefix}{line}");
    Ok(vec![Splice::insert(at, line)])
}

/// Adds the first pair of a document before the first header and its comments.
fn insert_at_top(scene: &Scene<'_>, line: &str) -> Splice {
    let (text, newline) = (scene.text, scene.newline);
    let Some(header) = body::first_header(scene.document) else {
        let before = match text.is_empty() || text.ends_with('\n') {
            true => "",
            false => newline,
        };
        return Splice::insert(text.len(), format!("{before}{line}{newline}"));
    };
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let at = above_comments(text, header).max(start);
    Splice::insert(at, format!("{line}{newline}{newline}"))
}

/// Adds the header of a table that only headers below it imply, and its first pair.
fn insert_header(scene: &Scene<'_>, node: &Node, line: &str) -> Result<Vec<Splice>, Reason> {
    let newline = scene.newline;
    let (below, name) = body::implied_name(scene, node)?;
    let at = above_comments(scene.text, below);
    let section = format!("[{name}]{newline}{line}{newline}{newline}");
    Ok(vec![Splice::insert(at, section)])
}

/// Returns where the comments begin that are right above a line.
fn above_comments(text: &str, at: usize) -> usize {
    let mut at = line_start(text, at);
    while at > 0 {
        let above = line_start(text, at - 1);
        if !text[above..at].trim_start().starts_with('#') {
            break;
        }
        at = above;
    }
    at
}

fn append_section(scene: &Scene<'_>, node: &Node, value: &Document) -> Result<Vec<Splice>, Reason> {
    let (text, newline) = (scene.text, scene.newline);
    let Data::Map(members) = &value.node(value.root()).data else {
        return Err(Reason::Layout("a list of tables"));
    };
    let last = node.children().last().ok_or(Reason::Nowhere)?;
    let header = &text[scene.document.node(last.id).span.clone()];
    let mut out = format!("{newline}{newline}{header}");
    for member in members {
        out.push_str(newline);
        out.push_str(&pair(&member.key, value, member.value.id)?);
    }
    let end = body::end(scene.document, last.id);
    Ok(vec![Splice::insert(line_end(text, end), out)])
}

fn remove(scene: &Scene<'_>, target: Target<'_>, index: usize) -> Result<Vec<Splice>, Reason> {
    let node = scene.document.node(target.child.id);
    if matches!(node.layout, Layout::Plain | Layout::Flow) {
        return brackets(scene, node).remove(index);
    }
    let child = node.children().nth(index).ok_or(Reason::Nowhere)?;
    let key = match &node.data {
        Data::Map(members) => members[index].key_span.start,
        _ => child.span.start,
    };
    remove_lines(scene, child.id, key)
}

/// Removes all lines that a value consists of.
fn remove_lines(scene: &Scene<'_>, id: NodeId, key: usize) -> Result<Vec<Splice>, Reason> {
    let mut splices = Vec::new();
    for range in body::ranges(scene.document, id, key) {
        let start = line_start(scene.text, range.start);
        if scene.text[start..range.start].contains(['=', '{']) {
            return Err(Reason::Layout("a part of an inline table"));
        }
        let end = next_line(scene.text, range.end);
        splices.push(Splice::new(start..end, ""));
    }
    splices.sort_by_key(|splice| splice.range.start);
    splices.dedup_by(|next, splice| next.range.start < splice.range.end);
    Ok(splices)
}

fn brackets<'s>(scene: &'s Scene<'s>, node: &'s Node) -> Brackets<'s> {
    Brackets {
        scene,
        node,
        has_comments: true,
    }
}

fn pair(key: &str, value: &Document, id: NodeId) -> Result<String, Reason> {
    let mut out = String::new();
    Toml.key(&Member::new(key, Scalar::Text, id), &mut out)?;
    out.push_str(Toml.between());
    out.push_str(&written(value, id)?);
    Ok(out)
}

fn written(value: &Document, id: NodeId) -> Result<String, Reason> {
    let mut out = String::new();
    flow::write(value, id, &Toml, &mut out)?;
    Ok(out)
}
