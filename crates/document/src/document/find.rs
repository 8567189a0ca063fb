//! Values by their paths, and where they are written.

use std::ops::Range;

use super::{Child, Data, Document, Node};
use crate::path::{Path, Segment};

impl Document {
    /// Returns the value that a path leads to, if there is one.
    #[must_use]
    pub fn find(&self, path: &Path) -> Option<&Node> {
        let mut child = &self.root;
        for segment in path.segments() {
            (_, child) = self.node(child.id).child(segment)?;
        }
        Some(self.node(child.id))
    }

    /// Returns where a value is written, as a range of bytes; of a map or a list, its key.
    ///
    /// If there is no such value, it is the span of the nearest one around it.
    ///
    /// ```
    /// use pathline_document::{Format, Path};
    ///
    /// let text = "kind: Workload\nspec: {image: app}\n";
    /// let document = &Format::Yaml.read(text)?[0];
    /// let image = Path::default().key("spec").key("image");
    /// assert_eq!(&text[document.span(&image)], "app");
    /// assert_eq!(&text[document.span(&Path::default().key("spec"))], "spec");
    /// # Ok::<(), pathline_document::ReadError>(())
    /// ```
    #[must_use]
    pub fn span(&self, path: &Path) -> Range<usize> {
        let (key, node) = self.nearest(path);
        match (&node.data, key) {
            (Data::Map(_) | Data::List(_), Some(key)) => key,
            _ => node.head.clone(),
        }
    }

    /// Returns where the key of a value is written; of an item of a list, the item.
    #[must_use]
    pub fn key_span(&self, path: &Path) -> Range<usize> {
        let (key, node) = self.nearest(path);
        key.unwrap_or_else(|| node.head.clone())
    }

    fn nearest(&self, path: &Path) -> (Option<Range<usize>>, &Node) {
        let mut key = None;
        let mut node = self.node(self.root());
        for segment in path.segments() {
            let Some((next_key, next)) = node.child(segment) else {
                break;
            };
            (key, node) = (next_key, self.node(next.id));
        }
        (key, node)
    }
}

impl Node {
    /// Returns a part of a list or map, and where its key is written.
    pub(crate) fn child(&self, segment: &Segment) -> Option<(Option<Range<usize>>, &Child)> {
        match (&self.data, segment) {
            (Data::Map(members), Segment::Key(key)) => {
                let member = members.iter().find(|member| member.key == *key)?;
                Some((Some(member.key_span.clone()), &member.value))
            }
            (Data::List(items), Segment::Index(index)) => Some((None, items.get(*index)?)),
            _ => None,
        }
    }
}
