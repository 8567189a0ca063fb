//! Reading YAML: one document, core schema, with aliases and merge keys.

mod resolve;

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScanError, Span, Tag};

use self::resolve::resolve;
use super::error::{Failure, ReadErrorKind};
use super::tree::{Data, Id, Member, Scalar, Tree};

/// How deep collections may be inside of each other.
const NESTING_MAX: usize = 50_000;
/// How many members merge keys may copy.
const MERGE_BUDGET: usize = 1_000_000;

/// Parses a text that is one YAML document.
pub(super) fn parse(text: &str) -> Result<Tree, Failure> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: NESTING_MAX,
        block_nesting_limit: NESTING_MAX,
    };
    let mut composer = Composer::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        composer.take(event, &span)?;
    }
    if composer.documents == 0 {
        composer
            .tree
            .add(Data::Scalar(Scalar::Null, String::new()), 0);
    }
    Ok(composer.tree)
}

fn syntax(error: &ScanError) -> Failure {
    let offset = error.marker().byte_offset().unwrap_or_default();
    Failure::syntax(offset, error.info())
}

fn offset(span: &Span) -> usize {
    span.start.byte_offset().unwrap_or_default()
}

/// A collection that is still open. A map has a key once it waits for the value.
struct Open {
    id: Id,
    anchor: usize,
    is_map: bool,
    key: Option<PendingKey>,
    merges: Vec<(Id, usize)>,
}

enum PendingKey {
    Member(Member),
    Merge(usize),
}

#[derive(Default)]
struct Composer {
    tree: Tree,
    open: Vec<Open>,
    anchors: HashMap<usize, Option<Id>>,
    documents: usize,
    merged: usize,
}

impl Composer {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Failure> {
        let at = offset(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Failure::new(at, ReadErrorKind::SeveralDocuments));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let resolved = resolve(&text, style, tag.as_deref(), at)?;
                if self.expects_key() {
                    let key = resolve::key(resolved.data, &text, style, at)?;
                    self.set_key(key.map_or(PendingKey::Merge(at), PendingKey::Member));
                    self.remember_scalar_key(anchor, &text, style, tag.as_deref(), at)?;
                } else {
                    let id = self.tree.add(resolved.data, at);
                    self.tree.node_mut(id).tag = resolved.tag;
                    self.finish(id, anchor)?;
                }
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.begin(Data::List(Vec::new()), anchor, tag.as_deref(), at)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.begin(Data::Map(Vec::new()), anchor, tag.as_deref(), at)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop().expect("the parser pairs starts and ends");
                self.merge(&open)?;
                self.finish(open.id, open.anchor)?;
            }
            Event::Alias(anchor) => self.alias(anchor, at)?,
            _ => {}
        }
        Ok(())
    }

    /// Keeps a scalar that is a key for the aliases that refer to it.
    fn remember_scalar_key(
        &mut self,
        anchor: usize,
        text: &str,
        style: granit_parser::ScalarStyle,
        tag: Option<&Tag>,
        at: usize,
    ) -> Result<(), Failure> {
        if anchor != 0 {
            let resolved = resolve(text, style, tag, at)?;
            let id = self.tree.add(resolved.data, at);
            self.anchors.insert(anchor, Some(id));
        }
        Ok(())
    }

    fn expects_key(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.is_map && open.key.is_none())
    }

    fn set_key(&mut self, key: PendingKey) {
        if let Some(open) = self.open.last_mut() {
            open.key = Some(key);
        }
    }

    fn begin(
        &mut self,
        data: Data,
        anchor: usize,
        tag: Option<&Tag>,
        at: usize,
    ) -> Result<(), Failure> {
        if self.expects_key() {
            return Err(Failure::new(at, ReadErrorKind::NonScalarKey));
        }
        let is_map = matches!(data, Data::Map(_));
        let id = self.tree.add(data, at);
        self.tree.node_mut(id).tag = tag.and_then(resolve::foreign_tag);
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.open.push(Open {
            id,
            anchor,
            is_map,
            key: None,
            merges: Vec::new(),
        });
        Ok(())
    }

    fn alias(&mut self, anchor: usize, at: usize) -> Result<(), Failure> {
        let id = self.anchors.get(&anchor).copied().flatten();
        let id = id.ok_or_else(|| Failure::new(at, ReadErrorKind::Recursive))?;
        if !self.expects_key() {
            return self.finish(id, 0);
        }
        match self.tree.node(id).data.clone() {
            Data::Scalar(scalar, text) => {
                self.set_key(PendingKey::Member(Member::new(text, scalar, at)?));
                Ok(())
            }
            _ => Err(Failure::new(at, ReadErrorKind::NonScalarKey)),
        }
    }

    /// Puts a finished node where it belongs.
    fn finish(&mut self, id: Id, anchor: usize) -> Result<(), Failure> {
        if anchor != 0 {
            self.anchors.insert(anchor, Some(id));
        }
        let Some(open) = self.open.last_mut() else {
            self.tree.root = id;
            return Ok(());
        };
        match open.key.take() {
            Some(PendingKey::Merge(at)) => open.merges.push((id, at)),
            Some(PendingKey::Member(member)) => self.tree.attach(open.id, Some(member), id),
            None => self.tree.attach(open.id, None, id),
        }
        Ok(())
    }

    /// Adds what merge keys bring to a map; what it says itself, or an earlier one brings, counts.
    fn merge(&mut self, open: &Open) -> Result<(), Failure> {
        if open.merges.is_empty() {
            return Ok(());
        }
        let Data::Map(own) = &self.tree.node(open.id).data else {
            return Ok(());
        };
        let mut known: HashSet<String> = own.iter().map(|member| member.key.clone()).collect();
        let mut added = Vec::new();
        for (source, at) in &open.merges {
            let maps = match &self.tree.node(*source).data {
                Data::List(items) => items.clone(),
                _ => vec![*source],
            };
            for map in maps {
                let Data::Map(members) = &self.tree.node(map).data else {
                    return Err(Failure::new(*at, ReadErrorKind::Merge));
                };
                self.merged += members.len();
                if self.merged > MERGE_BUDGET {
                    return Err(Failure::new(*at, ReadErrorKind::Bomb));
                }
                let new = members
                    .iter()
                    .filter(|member| known.insert(member.key.clone()));
                added.extend(new.cloned());
            }
        }
        if let Data::Map(own) = &mut self.tree.node_mut(open.id).data {
            own.extend(added);
        }
        Ok(())
    }
}
