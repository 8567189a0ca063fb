//! Reading JSON, without recursion.

mod token;

use std::ops::Range;

use crate::document::{Child, Data, Document, Layout, Member, Node, NodeId};
use crate::duplicates;
use crate::error::{ErrorAt, ReadErrorKind};
use crate::limits::Limits;
use crate::read;
use crate::scalar::Scalar;

/// Parses a text that is one JSON value.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Document, ErrorAt> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut parser = Parser {
        text,
        at: start,
        limits,
        document: Document::empty(start),
        open: Vec::new(),
    };
    parser.document()?;
    Ok(parser.document)
}

/// A list or map that is still open; a map waits for the value of a member.
struct Open {
    id: NodeId,
    is_map: bool,
    key: Option<(String, Range<usize>)>,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    limits: &'a Limits,
    document: Document,
    open: Vec<Open>,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<(), ErrorAt> {
        loop {
            let Some(mut finished) = self.value()? else {
                continue;
            };
            while self.attach(finished) {
                match self.after_value()? {
                    Some(closed) => finished = closed,
                    None => break,
                }
            }
            if self.open.is_empty() {
                let span = self.document.node(finished).span.clone();
                self.document.root = Child::at(finished, span);
                self.skip_space();
                return match self.peek() {
                    None => Ok(()),
                    Some(_) => Err(ErrorAt::syntax(
                        self.at,
                        "text after the end of the document",
                    )),
                };
            }
        }
    }

    /// Puts a finished value into the innermost list or map, if there is one.
    fn attach(&mut self, id: NodeId) -> bool {
        let Some(open) = self.open.last_mut() else {
            return false;
        };
        let span = self.document.node(id).span.clone();
        let end = span.end;
        let child = Child::at(id, span);
        let parent = self.document.node_mut(open.id);
        parent.content_end = end;
        match (&mut parent.data, open.key.take()) {
            (Data::Map(members), Some((key, key_span))) => members.push(Member {
                key,
                key_type: Scalar::Text,
                key_span,
                value: child,
            }),
            (Data::List(items), _) => items.push(child),
            _ => unreachable!("the value of a map follows its key"),
        }
        true
    }

    /// Reads a scalar or an empty list or map; opens any other one and returns nothing.
    fn value(&mut self) -> Result<Option<NodeId>, ErrorAt> {
        self.skip_space();
        let start = self.at;
        let (scalar, text) = match self.peek() {
            Some(b'"') => (Scalar::Text, self.string()?),
            Some(b'{') => return self.begin(Data::Map(Vec::new()), b'}'),
            Some(b'[') => return self.begin(Data::List(Vec::new()), b']'),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z') => self.word()?,
            Some(_) => return Err(ErrorAt::syntax(start, "a value was expected")),
            None => {
                return Err(ErrorAt::syntax(
                    start,
                    "the document ends where a value should be",
                ));
            }
        };
        let node = Node::new(Data::Scalar(scalar, text), start..self.at);
        read::add(&mut self.document, node, self.limits).map(Some)
    }

    fn begin(&mut self, data: Data, end: u8) -> Result<Option<NodeId>, ErrorAt> {
        let start = self.at;
        if self.open.len() >= self.limits.nesting {
            let kind = ReadErrorKind::TooDeep(self.limits.nesting);
            return Err(ErrorAt::new(start, kind));
        }
        let is_map = matches!(data, Data::Map(_));
        let mut node = Node::new(data, start..start + 1);
        node.layout = Layout::Flow;
        let id = read::add(&mut self.document, node, self.limits)?;
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(end) {
            self.at += 1;
            self.document.node_mut(id).span.end = self.at;
            return Ok(Some(id));
        }
        let key = if is_map { Some(self.key()?) } else { None };
        self.open.push(Open { id, is_map, key });
        Ok(None)
    }

    /// Reads what follows a value of the innermost list or map, and returns that if it ends.
    fn after_value(&mut self) -> Result<Option<NodeId>, ErrorAt> {
        let open = self
            .open
            .last()
            .expect("asked only inside of a list or map");
        let is_map = open.is_map;
        self.skip_space();
        let at = self.at;
        self.at += 1;
        match (self.text.as_bytes().get(at), is_map) {
            (Some(b','), true) => {
                self.skip_space();
                let key = self.key()?;
                self.open.last_mut().expect("still open").key = Some(key);
                Ok(None)
            }
            (Some(b','), false) => Ok(None),
            (Some(b'}'), true) | (Some(b']'), false) => self.end().map(Some),
            (_, true) => Err(ErrorAt::syntax(at, "`,` or `}` was expected")),
            (_, false) => Err(ErrorAt::syntax(at, "`,` or `]` was expected")),
        }
    }

    fn end(&mut self) -> Result<NodeId, ErrorAt> {
        let id = self.open.pop().expect("asked only of an open one").id;
        let node = self.document.node_mut(id);
        node.span.end = self.at;
        if let Data::Map(members) = &node.data {
            duplicates::refuse(members)?;
        }
        Ok(id)
    }

    fn key(&mut self) -> Result<(String, Range<usize>), ErrorAt> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(ErrorAt::syntax(start, "a key in quotes was expected"));
        }
        let key = self.string()?;
        let span = start..self.at;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(ErrorAt::syntax(self.at, "`:` was expected"));
        }
        self.at += 1;
        Ok((key, span))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}
