//! Reading TOML.

use std::ops::Range;

use toml_edit::{Item, Key, Table, TableLike, Value};

use crate::document::{Child, Data, Document, Layout, Member, Node, NodeId};
use crate::error::{ErrorAt, ReadErrorKind};
use crate::limits::Limits;
use crate::read;
use crate::scalar::{Scalar, spelled};

/// Parses a TOML document. The parser limits how deep it goes, so recursion is safe here.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Document, ErrorAt> {
    let parsed = toml_edit::Document::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        ErrorAt::syntax(offset, error.message().trim().replace('\n', ", "))
    })?;
    let mut reader = Reader {
        document: Document::empty(0),
        limits,
        depth: 0,
    };
    let root = reader.table(parsed.as_table(), Layout::Section, 0..0)?;
    reader.document.root = Child::at(root, 0..text.len());
    Ok(reader.document)
}

struct Reader<'l> {
    document: Document,
    limits: &'l Limits,
    depth: usize,
}

impl Reader<'_> {
    fn table(
        &mut self,
        table: &dyn TableLike,
        layout: Layout,
        span: Range<usize>,
    ) -> Result<NodeId, ErrorAt> {
        let id = self.begin(Data::Map(Vec::new()), layout, span.clone())?;
        let mut members = Vec::with_capacity(table.len());
        for (name, item) in table.iter() {
            let key_span = table.key(name).and_then(Key::span);
            let key_span = key_span.unwrap_or(span.start..span.start);
            let value = self.item(item, key_span.start)?;
            let end = self.document.node(value).span.end;
            let node = self.document.node_mut(id);
            node.content_end = node.content_end.max(end);
            members.push(Member {
                key: name.to_owned(),
                key_type: Scalar::Text,
                key_span,
                value: Child::at(value, self.document.node(value).span.clone()),
            });
        }
        self.end(id, Data::Map(members))
    }

    fn item(&mut self, item: &Item, offset: usize) -> Result<NodeId, ErrorAt> {
        match item {
            Item::None => {
                let id = self.begin(Data::Map(Vec::new()), Layout::Implied, offset..offset)?;
                self.end(id, Data::Map(Vec::new()))
            }
            Item::Value(value) => self.value(value, offset),
            Item::Table(table) => self.section(table, offset),
            Item::ArrayOfTables(tables) => {
                let list = Data::List(Vec::new());
                let id = self.begin(list, Layout::Sections, offset..offset)?;
                let mut items = Vec::with_capacity(tables.len());
                for table in tables {
                    let item = self.section(table, offset)?;
                    items.push(Child::at(item, self.document.node(item).span.clone()));
                }
                self.end(id, Data::List(items))
            }
        }
    }

    fn section(&mut self, table: &Table, offset: usize) -> Result<NodeId, ErrorAt> {
        let layout = if table.is_dotted() {
            Layout::Dotted
        } else if table.is_implicit() {
            Layout::Implied
        } else {
            Layout::Section
        };
        let header = table.span().filter(|_| layout == Layout::Section);
        self.table(table, layout, header.unwrap_or(offset..offset))
    }

    fn value(&mut self, value: &Value, offset: usize) -> Result<NodeId, ErrorAt> {
        let span = value.span().unwrap_or(offset..offset);
        let (scalar, text) = match value {
            Value::String(text) => (Scalar::Text, text.value().clone()),
            Value::Integer(integer) => (Scalar::Integer, integer.value().to_string()),
            Value::Float(float) => (Scalar::Float, spelled(*float.value())),
            Value::Boolean(boolean) => (Scalar::Boolean, boolean.value().to_string()),
            Value::Datetime(datetime) => (Scalar::Datetime, datetime.value().to_string()),
            Value::InlineTable(table) if table.is_dotted() => {
                return self.table(table, Layout::Dotted, offset..offset);
            }
            Value::InlineTable(table) => return self.table(table, Layout::Flow, span),
            Value::Array(items) => {
                let id = self.begin(Data::List(Vec::new()), Layout::Flow, span)?;
                let mut children = Vec::with_capacity(items.len());
                for item in items {
                    let child = self.value(item, offset)?;
                    let span = self.document.node(child).span.clone();
                    self.document.node_mut(id).content_end = span.end;
                    children.push(Child::at(child, span));
                }
                return self.end(id, Data::List(children));
            }
        };
        let node = Node::new(Data::Scalar(scalar, text), span);
        read::add(&mut self.document, node, self.limits)
    }

    fn begin(&mut self, data: Data, layout: Layout, span: Range<usize>) -> Result<NodeId, ErrorAt> {
        if self.depth >= self.limits.nesting {
            let kind = ReadErrorKind::TooDeep(self.limits.nesting);
            return Err(ErrorAt::new(span.start, kind));
        }
        self.depth += 1;
        let mut node = Node::new(data, span);
        node.layout = layout;
        node.content_end = node.span.start;
        read::add(&mut self.document, node, self.limits)
    }

    fn end(&mut self, id: NodeId, data: Data) -> Result<NodeId, ErrorAt> {
        self.depth -= 1;
        self.document.node_mut(id).data = data;
        Ok(id)
    }
}
