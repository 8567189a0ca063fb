//! Paths to fields, in the notation of PipeCD's `yamlField`.

use std::fmt;
use std::str::FromStr;

use pathline_document::{Data, Document, NodeId, Path};

/// The most fields that one path may find.
const MAX_FOUND: usize = 10_000;
/// The longest path.
const MAX_LENGTH: usize = 4_096;

/// A path from the root of a document: `$.a.b`, `$.list[0]`, `$.list[*].b`, `$.'a.b'` and `$['a.b']` for keys with
/// other letters, `$..b` for every `b` at any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    Every,
    Anywhere(String),
}

impl FieldPath {
    /// Returns the paths to all values of a document that it leads to, in their order.
    #[must_use]
    pub fn find(&self, document: &Document) -> Vec<Path> {
        let mut found = vec![(Path::default(), document.root())];
        for step in &self.steps {
            let next = found.iter().flat_map(|from| step.from(document, from));
            found = next.take(MAX_FOUND).collect();
        }
        found.into_iter().map(|(path, _)| path).collect()
    }
}

impl Step {
    fn from(&self, document: &Document, (path, id): &(Path, NodeId)) -> Vec<(Path, NodeId)> {
        let children = children(document, path, *id);
        match (self, &document.node(*id).data) {
            (Self::Key(key), Data::Map(_)) => of_key(children, key),
            (Self::Index(index), Data::List(_)) => {
                children.into_iter().skip(*index).take(1).collect()
            }
            (Self::Every, Data::List(_)) => children,
            (Self::Anywhere(key), _) => anywhere(document, path, *id, key),
            (Self::Key(_) | Self::Index(_) | Self::Every, _) => Vec::new(),
        }
    }
}

fn children(document: &Document, path: &Path, id: NodeId) -> Vec<(Path, NodeId)> {
    match &document.node(id).data {
        Data::Scalar(..) => Vec::new(),
        Data::List(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, it)| (path.index(index), it.id))
                .collect()
        }
        Data::Map(members) => {
            let members = members.iter();
            members
                .map(|it| (path.key(it.key.clone()), it.value.id))
                .collect()
        }
    }
}

fn of_key(children: Vec<(Path, NodeId)>, key: &str) -> Vec<(Path, NodeId)> {
    use pathline_document::Segment;
    let is_it = |path: &Path| matches!(path.segments().last(), Some(Segment::Key(it)) if it == key);
    children
        .into_iter()
        .filter(|(path, _)| is_it(path))
        .take(1)
        .collect()
}

/// Looks at everything below, without recursion: a document may be deep, and aliases may make it wide.
fn anywhere(document: &Document, path: &Path, id: NodeId, key: &str) -> Vec<(Path, NodeId)> {
    let mut found = Vec::new();
    let mut open = vec![(path.clone(), id)];
    let mut looked_at = 0;
    while let Some((path, id)) = open.pop() {
        looked_at += 1;
        if looked_at > MAX_FOUND || found.len() >= MAX_FOUND {
            break;
        }
        let children = children(document, &path, id);
        if let Data::Map(_) = document.node(id).data {
            found.extend(of_key(children.clone(), key));
        }
        open.extend(children.into_iter().rev());
    }
    found
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for FieldPath {
    type Err = NotAFieldPath;

    fn from_str(text: &str) -> Result<Self, NotAFieldPath> {
        let refuse = || NotAFieldPath(text.chars().take(200).collect());
        if text.len() > MAX_LENGTH {
            return Err(refuse());
        }
        let mut rest = text.trim().strip_prefix('$').ok_or_else(refuse)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(refuse)?;
            steps.push(step);
            rest = after;
        }
        if steps.is_empty() {
            return Err(refuse());
        }
        let text = text.trim().to_owned();
        Ok(Self { text, steps })
    }
}

/// Reads one step, and returns it with what follows.
fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix("..") {
        let (key, rest) = key(rest)?;
        return Some((Step::Anywhere(key), rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        let (key, rest) = key(rest)?;
        return Some((Step::Key(key), rest));
    }
    let rest = text.strip_prefix('[')?;
    if let Some(rest) = rest.strip_prefix("*]") {
        return Some((Step::Every, rest));
    }
    if rest.starts_with(['\'', '"']) {
        let (key, rest) = quoted(rest)?;
        return Some((Step::Key(key), rest.strip_prefix(']')?));
    }
    let (index, rest) = rest.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), rest))
}

fn key(text: &str) -> Option<(String, &str)> {
    if text.starts_with(['\'', '"']) {
        return quoted(text);
    }
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    let is_plain = !key.is_empty() && !key.contains(['*', '\'', '"', ']', '$']);
    is_plain.then(|| (key.to_owned(), rest))
}

fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let (key, rest) = text[1..].split_once(quote)?;
    (!key.is_empty()).then(|| (key.to_owned(), rest))
}

/// Says that a text is not the path of a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the path of a field, like `$.spec.image` or `$.images[0].newTag`")]
pub struct NotAFieldPath(String);
