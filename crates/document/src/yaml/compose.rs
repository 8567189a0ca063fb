//! From the events of the parser to documents.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, ScalarStyle, Span, StructureStyle, Tag};

use super::resolve::{foreign_tag, resolve};
use crate::document::{Child, Data, Document, Layout, Member, Node, NodeId, Origin};
use crate::error::{ErrorAt, ReadErrorKind};
use crate::limits::Limits;
use crate::read;
use crate::scalar::Scalar;

/// Builds documents.
pub(super) struct Composer<'t> {
    pub(super) text: &'t str,
    pub(super) limits: &'t Limits,
    documents: Vec<Document>,
    pub(super) document: Document,
    /// The weight of each value of the document.
    pub(super) weights: Vec<Weight>,
    /// The values of the documents before.
    before: usize,
    pub(super) open: Vec<Open>,
    /// The values that anchors stand for; nothing as long as one is still open.
    anchors: HashMap<usize, Option<NodeId>>,
    pub(super) merged: usize,
    /// The end of the text that has been understood so far, comments and space left out.
    pub(super) end: usize,
}

/// The size of a value with all that aliases repeat in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) values: usize,
    pub(super) height: usize,
}

/// A collection that is still open. A map has a key once it waits for the value.
pub(super) struct Open {
    pub(super) id: NodeId,
    /// The offset at which tag and anchor begin.
    start: usize,
    anchor: usize,
    is_map: bool,
    pub(super) key: Option<Key>,
    pub(super) merges: Vec<(NodeId, usize)>,
    pub(super) weight: Weight,
}

pub(super) struct Key {
    name: String,
    key_type: Scalar,
    span: Range<usize>,
    is_merge: bool,
}

impl<'t> Composer<'t> {
    pub(super) fn new(text: &'t str, limits: &'t Limits) -> Self {
        Self {
            text,
            limits,
            documents: Vec::new(),
            document: Document::empty(0),
            weights: Vec::new(),
            before: 0,
            open: Vec::new(),
            anchors: HashMap::new(),
            merged: 0,
            end: 0,
        }
    }

    pub(super) fn finish(self) -> Vec<Document> {
        self.documents
    }

    pub(super) fn take(
        &mut self,
        event: Event<'_>,
        span: &Span,
        anchor_span: Option<Range<usize>>,
    ) -> Result<(), ErrorAt> {
        let head = self.head(span);
        let tag_span = span.tag_span().and_then(|tag| tag.byte_range());
        let properties = joined(tag_span, anchor_span);
        let start = properties
            .as_ref()
            .map_or(head.start, |it| it.start.min(head.start));
        match event {
            Event::DocumentStart(is_explicit, _) => {
                self.document = Document::empty(head.start);
                self.weights.clear();
                self.anchors.clear();
                if is_explicit {
                    self.end = self.end_of(span);
                }
                Ok(())
            }
            Event::DocumentEnd => {
                self.documents.push(std::mem::take(&mut self.document));
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let kind = resolve(&text, style, tag.as_deref(), head.start)?;
                let range = self.scalar_span(span, style, properties.as_ref());
                if self.expects_key() {
                    return self.scalar_key(kind, &text, style, anchor, range, head);
                }
                let mut node = Node::new(Data::Scalar(kind, text.into_owned()), range.clone());
                node.head = head;
                node.tag = tag.as_deref().and_then(foreign_tag);
                let id = self.add(node, Weight::SCALAR)?;
                self.remember(anchor, id);
                let start = properties.map_or(range.start, |it| it.start);
                self.attach(Child::at(id, start.min(range.start)..range.end))
            }
            Event::SequenceStart(style, anchor, tag) => {
                let mut node = self.collection(Data::List(Vec::new()), head, style, tag.as_deref());
                if let (Layout::Block, Some(dash)) = (node.layout, self.first_dash()) {
                    node.span.start = dash;
                }
                self.begin(node, start, anchor)
            }
            Event::MappingStart(style, anchor, tag) => {
                let node = self.collection(Data::Map(Vec::new()), head, style, tag.as_deref());
                self.begin(node, start, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let end = self.end_of(span);
                self.close(end)
            }
            Event::Alias(anchor) => self.alias(anchor, head),
            _ => Ok(()),
        }
    }

    fn collection(
        &self,
        data: Data,
        head: Range<usize>,
        style: StructureStyle,
        tag: Option<&Tag>,
    ) -> Node {
        let is_bracket = self.text[head.clone()].starts_with(['[', '{']);
        let mut node = Node::new(data, head);
        node.layout = match style {
            StructureStyle::Block => Layout::Block,
            StructureStyle::Flow if is_bracket => Layout::Flow,
            StructureStyle::Flow => Layout::Pair,
        };
        node.tag = tag.and_then(foreign_tag);
        node
    }

    pub(super) fn add(&mut self, node: Node, weight: Weight) -> Result<NodeId, ErrorAt> {
        let id = read::add(&mut self.document, node, self.limits)?;
        self.weights.push(weight);
        Ok(id)
    }

    fn expects_key(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.is_map && open.key.is_none())
    }

    fn remember(&mut self, anchor: usize, id: NodeId) {
        if anchor != 0 {
            self.anchors.insert(anchor, Some(id));
        }
    }

    fn scalar_key(
        &mut self,
        key_type: Scalar,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        span: Range<usize>,
        head: Range<usize>,
    ) -> Result<(), ErrorAt> {
        if anchor != 0 {
            let mut node = Node::new(Data::Scalar(key_type, text.to_owned()), span.clone());
            node.head = head.clone();
            let id = self.add(node, Weight::SCALAR)?;
            self.remember(anchor, id);
        }
        let is_merge = text == "<<" && style == ScalarStyle::Plain;
        let span = if span.is_empty() { span } else { head };
        self.set_key(Key {
            name: text.to_owned(),
            key_type,
            span,
            is_merge,
        });
        Ok(())
    }

    fn set_key(&mut self, key: Key) {
        if let Some(open) = self.open.last_mut() {
            open.key = Some(key);
        }
    }

    fn begin(&mut self, node: Node, start: usize, anchor: usize) -> Result<(), ErrorAt> {
        let failed = |kind| ErrorAt::new(node.head.start, kind);
        if self.expects_key() {
            return Err(failed(ReadErrorKind::NonScalarKey));
        }
        if self.open.len() >= self.limits.nesting {
            return Err(failed(ReadErrorKind::TooDeep(self.limits.nesting)));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        let is_map = matches!(node.data, Data::Map(_));
        self.end = match node.layout {
            Layout::Flow => node.head.end,
            _ => self.end.max(node.span.start),
        };
        let start = start.min(node.span.start);
        let id = self.add(node, Weight::default())?;
        self.open.push(Open {
            id,
            start,
            anchor,
            is_map,
            key: None,
            merges: Vec::new(),
            weight: Weight {
                values: 1,
                height: 1,
            },
        });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), ErrorAt> {
        let mut open = self.open.pop().expect("the parser pairs starts and ends");
        self.merge(&mut open)?;
        let content_end = self.end;
        let node = self.document.node_mut(open.id);
        node.has_merge = !open.merges.is_empty();
        node.content_end = content_end;
        if node.layout == Layout::Flow {
            self.end = end;
        }
        node.span.end = self.end.max(node.span.start);
        let child = Child::at(open.id, open.start..node.span.end);
        self.weights[open.id.0] = open.weight;
        self.remember(open.anchor, open.id);
        self.attach(child)
    }

    fn alias(&mut self, anchor: usize, span: Range<usize>) -> Result<(), ErrorAt> {
        let failed = |kind| ErrorAt::new(span.start, kind);
        let id = self.anchors.get(&anchor).copied().flatten();
        let id = id.ok_or_else(|| failed(ReadErrorKind::Recursive))?;
        self.document.node_mut(id).is_aliased = true;
        self.end = span.end;
        if !self.expects_key() {
            return self.attach(Child {
                id,
                span,
                origin: Origin::Alias,
            });
        }
        let Data::Scalar(key_type, name) = self.document.node(id).data.clone() else {
            return Err(failed(ReadErrorKind::NonScalarKey));
        };
        self.set_key(Key {
            name,
            key_type,
            span,
            is_merge: false,
        });
        Ok(())
    }

    /// Puts a finished value where it belongs.
    fn attach(&mut self, child: Child) -> Result<(), ErrorAt> {
        let (at, depth, weight) = (child.span.start, self.open.len(), self.weights[child.id.0]);
        if depth + weight.height > self.limits.nesting {
            let kind = ReadErrorKind::TooDeep(self.limits.nesting);
            return Err(ErrorAt::new(at, kind));
        }
        let Some(open) = self.open.last_mut() else {
            self.before = self.before.saturating_add(weight.values);
            self.document.root = child;
            return self.count(self.before, at);
        };
        let key = open.key.take();
        let is_merge = key.as_ref().is_some_and(|key| key.is_merge);
        match (&mut self.document.node_mut(open.id).data, key) {
            (_, Some(key)) if is_merge => {
                open.merges.push((child.id, key.span.start));
                return Ok(());
            }
            (Data::Map(members), Some(key)) => members.push(Member {
                key: key.name,
                key_type: key.key_type,
                key_span: key.span,
                value: child,
            }),
            (Data::List(items), _) => items.push(child),
            _ => unreachable!("a value of a map follows its key"),
        }
        open.weight.add(weight);
        let values = open.weight.values;
        self.count(values, at)
    }

    pub(super) fn count(&self, values: usize, at: usize) -> Result<(), ErrorAt> {
        if values > self.limits.values {
            let kind = ReadErrorKind::TooMany(self.limits.values);
            return Err(ErrorAt::new(at, kind));
        }
        Ok(())
    }
}

impl Weight {
    const SCALAR: Self = Self {
        values: 1,
        height: 0,
    };

    /// Adds the weight of a part.
    pub(super) fn add(&mut self, part: Self) {
        self.values = self.values.saturating_add(part.values);
        self.height = self.height.max(part.height + 1);
    }
}

/// Returns the range of a tag and an anchor, if there are any.
fn joined(tag: Option<Range<usize>>, anchor: Option<Range<usize>>) -> Option<Range<usize>> {
    match (tag, anchor) {
        (Some(tag), Some(anchor)) => Some(tag.start.min(anchor.start)..tag.end.max(anchor.end)),
        (tag, anchor) => tag.or(anchor),
    }
}
