//! From the events of the parser to nodes.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use serde_json::Value;

use super::scalar::resolve;
use super::{Content, Member, NESTING_MAX, Node, ReadErrorKind, VALUES_MAX};

/// Why composing ended, and where.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) offset: usize,
    pub(super) kind: ReadErrorKind,
}

/// Returns the root of every document.
pub(super) fn compose(text: &str) -> Result<Vec<Arc<Node>>, Failure> {
    let options = granit_parser::options! {
        emit_comments: false,
        // One more than we accept, so that the message is ours.
        flow_nesting_limit: NESTING_MAX + 1,
        block_nesting_limit: NESTING_MAX + 1,
    };
    let mut composer = Composer {
        text,
        roots: Vec::new(),
        open: Vec::new(),
        anchors: HashMap::new(),
        merged: 0,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        composer.take(event, &span)?;
    }
    Ok(composer.roots)
}

fn syntax(error: &ScanError) -> Failure {
    let message = error.info();
    Failure {
        offset: error.marker().byte_offset().unwrap_or_default(),
        kind: if message.contains("recursion limit") {
            ReadErrorKind::TooDeep
        } else {
            ReadErrorKind::Syntax(message)
        },
    }
}

/// A collection that is still open. A map has a key once it waits for the value.
struct Open {
    place: Range<usize>,
    anchor: usize,
    content: Opened,
}

enum Opened {
    List(Vec<Arc<Node>>),
    Map {
        members: Vec<Member>,
        names: HashSet<String>,
        merges: Vec<(Arc<Node>, usize)>,
        key: Option<Key>,
    },
}

struct Key {
    name: String,
    place: Range<usize>,
    is_merge: bool,
}

struct Composer<'t> {
    text: &'t str,
    roots: Vec<Arc<Node>>,
    open: Vec<Open>,
    /// What anchors stand for; nothing as long as it is still open.
    anchors: HashMap<usize, Option<Arc<Node>>>,
    merged: usize,
}

impl Composer<'_> {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Failure> {
        let place = self.place(span);
        match event {
            Event::DocumentStart(..) => {
                self.anchors.clear();
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = resolve(&text, style, tag.as_deref());
                let node = Arc::new(Node {
                    place,
                    content: Content::Scalar(value),
                });
                let is_merge = text == "<<" && style == ScalarStyle::Plain;
                self.remember(anchor, &node);
                if self.expects_key() {
                    self.begin_member(text.into_owned(), node.place.clone(), is_merge)
                } else {
                    self.finish(node);
                    Ok(())
                }
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(place, anchor, Opened::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                let map = Opened::Map {
                    members: Vec::new(),
                    names: HashSet::new(),
                    merges: Vec::new(),
                    key: None,
                };
                self.begin(place, anchor, map)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor, place),
            _ => Ok(()),
        }
    }

    /// Returns the range of a token; a collection that begins here is shown by the rest of the line.
    fn place(&self, span: &Span) -> Range<usize> {
        let start = span.start.byte_offset().unwrap_or_default();
        let end = span.end.byte_offset().unwrap_or(start).max(start);
        if end > start {
            return start..end.min(self.text.len());
        }
        let rest = self.text.get(start..).unwrap_or_default();
        start..start + rest.lines().next().unwrap_or_default().trim_end().len()
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Opened::Map { key: None, .. },
                ..
            })
        )
    }

    fn remember(&mut self, anchor: usize, node: &Arc<Node>) {
        if anchor != 0 {
            self.anchors.insert(anchor, Some(Arc::clone(node)));
        }
    }

    fn begin(
        &mut self,
        place: Range<usize>,
        anchor: usize,
        content: Opened,
    ) -> Result<(), Failure> {
        let failed = |kind| Failure {
            offset: place.start,
            kind,
        };
        if self.expects_key() {
            return Err(failed(ReadErrorKind::KeyNotText));
        }
        if self.open.len() == NESTING_MAX {
            return Err(failed(ReadErrorKind::TooDeep));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.open.push(Open {
            place,
            anchor,
            content,
        });
        Ok(())
    }

    fn begin_member(
        &mut self,
        name: String,
        place: Range<usize>,
        is_merge: bool,
    ) -> Result<(), Failure> {
        if let Some(Open {
            content: Opened::Map { names, key, .. },
            ..
        }) = self.open.last_mut()
        {
            if !is_merge && !names.insert(name.clone()) {
                return Err(Failure {
                    offset: place.start,
                    kind: ReadErrorKind::DuplicateKey(name),
                });
            }
            *key = Some(Key {
                name,
                place,
                is_merge,
            });
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, place: Range<usize>) -> Result<(), Failure> {
        let failed = |kind| Failure {
            offset: place.start,
            kind,
        };
        let node = self.anchors.get(&anchor).cloned().flatten();
        let node = node.ok_or_else(|| failed(ReadErrorKind::Recursive))?;
        if !self.expects_key() {
            self.finish(node);
            return Ok(());
        }
        match &node.content {
            Content::Scalar(Value::String(name)) => self.begin_member(name.clone(), place, false),
            _ => Err(failed(ReadErrorKind::KeyNotText)),
        }
    }

    fn end(&mut self) -> Result<(), Failure> {
        let open = self.open.pop().expect("the parser pairs starts and ends");
        let content = match open.content {
            Opened::List(items) => Content::List(items),
            Opened::Map {
                mut members,
                mut names,
                merges,
                ..
            } => {
                for (node, offset) in merges {
                    self.merge(&node, offset, &mut names, &mut members)?;
                }
                Content::Map(members)
            }
        };
        let node = Arc::new(Node {
            place: open.place,
            content,
        });
        self.remember(open.anchor, &node);
        self.finish(node);
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn finish(&mut self, node: Arc<Node>) {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.roots.push(node),
            Some(Opened::List(items)) => items.push(node),
            Some(Opened::Map {
                members,
                merges,
                key,
                ..
            }) => {
                let key = key.take().expect("a value of a map follows its key");
                if key.is_merge {
                    merges.push((node, key.place.start));
                } else {
                    members.push(Member {
                        name: key.name,
                        place: key.place,
                        node,
                    });
                }
            }
        }
    }

    /// Adds what a merge key brings; what the map says itself, or an earlier one brings, counts.
    fn merge(
        &mut self,
        source: &Node,
        offset: usize,
        names: &mut HashSet<String>,
        members: &mut Vec<Member>,
    ) -> Result<(), Failure> {
        let failed = |kind| Failure { offset, kind };
        let maps: Vec<&Node> = match &source.content {
            Content::List(items) => items.iter().map(|item| &**item).collect(),
            _ => vec![source],
        };
        for map in maps {
            let Content::Map(brought) = &map.content else {
                return Err(failed(ReadErrorKind::Merge));
            };
            self.merged += brought.len();
            if self.merged > VALUES_MAX {
                return Err(failed(ReadErrorKind::TooMany));
            }
            let new = brought
                .iter()
                .filter(|member| names.insert(member.name.clone()));
            members.extend(new.cloned());
        }
        Ok(())
    }
}
