//! The spelling of a new value, after that of the old one.

use super::layout::{column, spaces};
use crate::document::{Data, Document, Node};
use crate::edit::Scene;
use crate::edit::refused::Reason;
use crate::scalar::Scalar;
use crate::write::flow;
use crate::write::style::{Yaml, is_plain, quoted};
use crate::yaml::is_plain_text;

/// Writes a value in one line, in the quotes of the old one if it can be.
pub(super) fn inline(
    scene: &Scene<'_>,
    old: &Node,
    value: &Document,
    in_flow: bool,
) -> Result<String, Reason> {
    let node = value.node(value.root());
    let mut out = String::new();
    match (&node.data, &node.tag, &old.data) {
        (Data::Scalar(Scalar::Text, text), None, Data::Scalar(..)) => {
            match scene.text[old.span.clone()].chars().next() {
                Some('"') => quoted(text, &mut out),
                Some('\'') if is_printable(text) => {
                    out = format!("'{}'", text.replace('\'', "''"));
                }
                _ if is_plain(text) || may_stay_plain(text, in_flow) => out.push_str(text),
                _ => quoted(text, &mut out),
            }
        }
        _ => flow::write(value, value.root(), &Yaml, &mut out)?,
    }
    Ok(out)
}

/// Writes a text of several lines as a literal block, if the old value is one and it can be.
pub(super) fn literal(scene: &Scene<'_>, old: &Node, value: &Document) -> Option<String> {
    let node = value.node(value.root());
    let Data::Scalar(Scalar::Text, text) = &node.data else {
        return None;
    };
    let is_literal = scene.text[old.span.clone()].starts_with('|');
    let (body, chomping) = match text.strip_suffix('\n') {
        Some(body) => (body, ""),
        None => (&**text, "-"),
    };
    let fits = body.split('\n').all(is_printable)
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && !body.is_empty();
    if !is_literal || !fits || node.tag.is_some() {
        return None;
    }
    let indent = spaces(column(scene.text, old.head.start));
    let mut out = format!("|{chomping}");
    for line in body.split('\n') {
        out.push_str(scene.newline);
        if !line.is_empty() {
            out.push_str(&indent);
            out.push_str(line);
        }
    }
    Some(out)
}

fn is_printable(text: &str) -> bool {
    let is_odd = |it: char| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}' | '\u{feff}');
    !text.contains(is_odd) && !text.contains(['\u{fffe}', '\u{ffff}'])
}

/// Tells whether a text can do without quotes where the old one did.
///
/// Numbers and times of YAML 1.1 keep theirs: others may read the file too.
fn may_stay_plain(text: &str, in_flow: bool) -> bool {
    const WORDS: [&str; 8] = ["yes", "no", "on", "off", "y", "n", "=", "<<"];
    const FIRST: &str = "-?:,[]{}#&*!|>'\"%@`~";
    let Some(first) = text.chars().next() else {
        return false;
    };
    let is_number_like = !first.is_alphabetic() && {
        let has_letter =
            text.contains(|it: char| it.is_alphabetic() && !"eExXoObBtTzZ".contains(it));
        !has_letter && text.matches('.').count() < 2 && !text.contains('/')
    };
    is_printable(text)
        && is_plain_text(text)
        && text.trim() == text
        && !FIRST.contains(first)
        && !is_number_like
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.starts_with("...")
        && !(in_flow && text.contains(['[', ']', '{', '}', ',', ':']))
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}
