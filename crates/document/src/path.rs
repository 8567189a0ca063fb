//! Paths to values of a document.

use std::fmt;

/// One step from a value to one below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The member of a map.
    Key(String),
    /// The item of a list.
    Index(usize),
}

/// The way from the root of a document to one of its values.
///
/// ```
/// use pathline_document::Path;
///
/// let path = Path::default().key("images").index(0).key("new.tag");
/// assert_eq!(path.to_string(), r#"images[0]."new.tag""#);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Segment>);

impl Path {
    /// Returns the path to a member.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        self.step(Segment::Key(key.into()))
    }

    /// Returns the path to an item.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.step(Segment::Index(index))
    }

    /// Returns the steps, from the root.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    fn step(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl FromIterator<Segment> for Path {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        Self(segments.into_iter().collect())
    }
}

impl fmt::Display for Path {
    /// Writes keys that are not plain words in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the root");
        }
        let is_word = |key: &str| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !key.is_empty() && key.bytes().all(is_part)
        };
        for (depth, segment) in self.0.iter().enumerate() {
            let dot = if depth == 0 { "" } else { "." };
            match segment {
                Segment::Key(key) if is_word(key) => write!(f, "{dot}{key}")?,
                Segment::Key(key) => write!(f, "{dot}{key:?}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
