//! Edits of YAML.

mod layout;
mod spell;

use std::ops::Range;

use self::layout::{column, detect, is_collection, spaces};
use self::spell::{inline, literal};
use super::Scene;
use super::flow::Brackets;
use super::operation::{Operation, Target};
use super::refused::Reason;
use super::splice::Splice;
use crate::document::{Data, Document, Layout, Member, Node};
use crate::gap::{indent, line_end, line_start, next_line, skip};
use crate::scalar::Scalar;
use crate::write::block::{After, Lines, lines};
use crate::write::style::{Style as _, Yaml};

/// Returns the splices that do what has to be done.
pub(super) fn plan(scene: &Scene<'_>, operation: &Operation<'_>) -> Result<Vec<Splice>, Reason> {
    match operation {
        Operation::Replace(target, value) => replace(scene, *target, value),
        Operation::Insert(target, key, value) => insert(scene, *target, key.as_deref(), value),
        Operation::Remove(target, index) => remove(scene, *target, *index),
    }
}

fn replace(scene: &Scene<'_>, target: Target<'_>, value: &Document) -> Result<Vec<Splice>, Reason> {
    let Some((parent, index)) = target.parent else {
        return replace_root(scene, target, value);
    };
    let parent = scene.document.node(parent);
    let old = scene.document.node(target.child.id);
    let span = target.child.span.clone();
    if parent.layout != Layout::Block {
        let text = inline(scene, old, value, true)?;
        let before = scene.text[..span.start].chars().next_back();
        let colon = match (span.is_empty(), before) {
            (false, _) => "",
            (true, Some(':' | ',' | '[')) => " ",
            (true, _) => ": ",
        };
        return Ok(vec![Splice::new(span, format!("{colon}{text}"))]);
    }
    if let Some(text) = literal(scene, old, value) {
        return Ok(vec![Splice::new(span, text)]);
    }
    let start = indicator(scene, parent, index)?;
    let after = match parent.data {
        Data::Map(_) => After::Key,
        _ => After::Dash,
    };
    if !is_collection(value) && old.layout != Layout::Block {
        let space = if span.is_empty() { " " } else { "" };
        let text = inline(scene, old, value, false)?;
        return Ok(vec![Splice::new(span, format!("{space}{text}"))]);
    }
    let new = if is_collection(value) {
        below(scene, parent, value, after)?
    } else {
        format!(" {}", inline(scene, old, value, false)?)
    };
    Ok(replace_lines(scene, start, span.end, &new))
}

/// Replaces what follows an indicator; a comment behind the indicator stays.
fn replace_lines(scene: &Scene<'_>, start: usize, end: usize, new: &str) -> Vec<Splice> {
    let text = scene.text;
    let first_end = line_end(text, start);
    let comment = first_comment(text, start, end);
    match comment {
        // The comment is behind the old value, which is in the same line.
        Some(at) if at >= end => {
            let (in_line, lines) = split_lines(new);
            vec![
                Splice::new(start..end, in_line),
                Splice::insert(line_end(text, at), lines),
            ]
        }
        Some(_) => {
            let (in_line, lines) = split_lines(new);
            let end = line_end(text, end);
            vec![
                Splice::insert(start, in_line),
                Splice::new(first_end..end, lines),
            ]
        }
        None => vec![Splice::new(start..end, new)],
    }
}

/// Returns where a comment begins in the line of an indicator, before or behind its value.
fn first_comment(text: &str, start: usize, end: usize) -> Option<usize> {
    let is_in_line = line_end(text, start) >= end;
    let from = if is_in_line { end } else { start };
    let rest = &text[from..line_end(text, from)];
    let space = rest.len() - rest.trim_start().len();
    rest.trim_start().starts_with('#').then_some(from + space)
}

/// Splits what is in the line of an indicator from the lines below.
fn split_lines(new: &str) -> (&str, &str) {
    match new.find(['\r', '\n']) {
        Some(at) => new.split_at(at),
        None => (new, ""),
    }
}

fn replace_root(
    scene: &Scene<'_>,
    target: Target<'_>,
    value: &Document,
) -> Result<Vec<Splice>, Reason> {
    let (text, newline) = (scene.text, scene.newline);
    let old = scene.document.node(target.child.id);
    let span = target.child.span.clone();
    let own_indent = indent(text, span.start).filter(|_| !span.is_empty());
    let new = if is_collection(value) {
        let layout = Lines {
            indent: own_indent.map_or(0, str::len),
            ..detect(scene)
        };
        let new = lines(value, value.root(), &layout, After::Nothing)?;
        // The first line is indented already.
        new.trim_end_matches(newline)
            .trim_start_matches(' ')
            .to_owned()
    } else {
        inline(scene, old, value, false)?
    };
    if !span.is_empty() {
        let is_in_line = own_indent.is_none() && is_collection(value);
        let before = if is_in_line { newline } else { "" };
        return Ok(vec![Splice::new(span, format!("{before}{new}"))]);
    }
    let at = line_end(text, span.start);
    let before = if line_start(text, at) < at {
        newline
    } else {
        ""
    };
    let after = if text[at..].starts_with(newline) {
        ""
    } else {
        newline
    };
    Ok(vec![Splice::insert(at, format!("{before}{new}{after}"))])
}

fn insert(
    scene: &Scene<'_>,
    target: Target<'_>,
    key: Option<&str>,
    value: &Document,
) -> Result<Vec<Splice>, Reason> {
    let node = scene.document.node(target.child.id);
    if node.layout == Layout::Flow {
        let mut entry = String::new();
        if let Some(key) = key {
            entry = format!("{}: ", spelled_key(key, value)?);
        }
        entry.push_str(&inline(scene, node, value, true)?);
        return brackets(scene, node).insert(&entry);
    }
    refuse_pair(node)?;
    let at = line_end(scene.text, node.content_end);
    refuse_tail(scene, node.content_end)?;
    let indent = spaces(column(scene.text, node.span.start));
    let entry = match key {
        Some(key) => format!(
            "{}:{}",
            spelled_key(key, value)?,
            below(scene, node, value, After::Key)?
        ),
        None => format!("-{}", below(scene, node, value, After::Dash)?),
    };
    let line = format!("{}{indent}{entry}", scene.newline);
    Ok(vec![Splice::insert(at, line)])
}

fn remove(scene: &Scene<'_>, target: Target<'_>, index: usize) -> Result<Vec<Splice>, Reason> {
    let text = scene.text;
    let node = scene.document.node(target.child.id);
    if node.layout == Layout::Flow {
        return brackets(scene, node).remove(index);
    }
    refuse_pair(node)?;
    let is_last = node.children().count() == 1 && !node.has_merge;
    if is_last {
        let mut nothing = Document::default();
        let root = nothing.root();
        nothing.node_mut(root).tag = node.tag.clone();
        nothing.node_mut(root).data = match node.data {
            Data::Map(_) => Data::Map(Vec::new()),
            _ => Data::List(Vec::new()),
        };
        return replace(scene, target, &nothing);
    }
    let Range { start, end } = entry(scene, node, index)?;
    refuse_tail(scene, end)?;
    if indent(text, start).is_some() {
        let first = line_start(text, start);
        let after = next_line(text, end);
        // Without a line break at the end of the file the one before has to go.
        let ends_file = after == text.len() && !text.ends_with('\n');
        let range = match ends_file && first > 0 {
            true => line_end(text, first.saturating_sub(2))..after,
            false => first..after,
        };
        return Ok(vec![Splice::new(range, "")]);
    }
    let line_end = line_end(text, end);
    let next = skip(text, line_end, false);
    if text[next..].starts_with('#') {
        return Err(Reason::Comment);
    }
    if column(text, next) != column(text, start) {
        return Err(Reason::Layout("the first of several in one line"));
    }
    Ok(vec![Splice::new(start..next, "")])
}

/// Returns the range of an entry of a block, its indicator included.
fn entry(scene: &Scene<'_>, node: &Node, index: usize) -> Result<Range<usize>, Reason> {
    let after = indicator(scene, node, index)?;
    let (start, span) = match &node.data {
        Data::Map(members) => (members[index].key_span.start, &members[index].value.span),
        Data::List(items) => (after - 1, &items[index].span),
        Data::Scalar(..) => return Err(Reason::Nowhere),
    };
    if column(scene.text, start) != column(scene.text, node.span.start) {
        return Err(Reason::Layout("a key with `?`, a tag or an anchor"));
    }
    Ok(start..span.end.max(after))
}

/// Returns where the `:` or `-` of an entry of a block ends.
fn indicator(scene: &Scene<'_>, node: &Node, index: usize) -> Result<usize, Reason> {
    let (from, indicator) = match &node.data {
        Data::Map(members) => (members[index].key_span.end, ':'),
        Data::List(items) => {
            let before = index.checked_sub(1).map(|before| items[before].span.end);
            (before.unwrap_or(node.span.start), '-')
        }
        Data::Scalar(..) => return Err(Reason::Nowhere),
    };
    let at = skip(scene.text, from, true);
    if !scene.text[at..].starts_with(indicator) {
        return Err(Reason::Layout("a key and a value with something between"));
    }
    Ok(at + 1)
}

/// Writes the value of an entry of a block, from its indicator on.
fn below(
    scene: &Scene<'_>,
    parent: &Node,
    value: &Document,
    after: After,
) -> Result<String, Reason> {
    let layout = detect(scene);
    let is_list = matches!(value.node(value.root()).data, Data::List(_));
    let deeper = match (after, is_list) {
        (After::Key, true) => layout.list_step,
        (After::Key, false) => layout.step,
        (After::Dash | After::Nothing, _) => 2,
    };
    let layout = Lines {
        indent: column(scene.text, parent.span.start) + deeper,
        ..layout
    };
    let text = lines(value, value.root(), &layout, after)?;
    Ok(text.trim_end_matches(scene.newline).to_owned())
}

fn spelled_key(key: &str, value: &Document) -> Result<String, Reason> {
    let mut out = String::new();
    Yaml.key(&Member::new(key, Scalar::Text, value.root()), &mut out)?;
    if out.starts_with("? ") {
        return Err(Reason::Layout("a key that is too long for one line"));
    }
    Ok(out)
}

fn brackets<'s>(scene: &'s Scene<'s>, node: &'s Node) -> Brackets<'s> {
    Brackets {
        scene,
        node,
        has_comments: true,
    }
}

fn refuse_pair(node: &Node) -> Result<(), Reason> {
    if node.layout == Layout::Block {
        return Ok(());
    }
    Err(Reason::Layout("a pair without brackets"))
}

/// Refuses if there is more than a comment up to the end of the line.
fn refuse_tail(scene: &Scene<'_>, from: usize) -> Result<(), Reason> {
    let tail = scene.text[from..line_end(scene.text, from)].trim();
    if tail.is_empty() || tail.starts_with('#') {
        return Ok(());
    }
    Err(Reason::Layout("several things in one line"))
}
