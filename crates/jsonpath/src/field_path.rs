//! The place of one value in an object.

use std::fmt;

use serde_json::Value;

/// One step from a value to one below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The member of an object.
    Field(String),
    /// The item of a list.
    Index(usize),
}

/// The way from the root of an object to one of its values, such as `spec.resources[2].name`.
///
/// ```
/// use pathline_jsonpath::FieldPath;
///
/// let resource = FieldPath::default().field("spec").field("resources").index(2);
/// assert_eq!(resource.field("name").to_string(), "spec.resources[2].name");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<Segment>);

impl FieldPath {
    /// Returns the path to a member.
    #[must_use]
    pub fn field(&self, name: impl Into<String>) -> Self {
        self.step(Segment::Field(name.into()))
    }

    /// Returns the path to an item.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.step(Segment::Index(index))
    }

    /// Returns the path to what this is part of; of the root, the root.
    #[must_use]
    pub fn parent(&self) -> Self {
        let above = self.0.len().saturating_sub(1);
        Self(self.0[..above].to_vec())
    }

    /// Returns the path to what this is part of, unless it is the root.
    pub fn above(&self) -> Option<Self> {
        (!self.0.is_empty()).then(|| self.parent())
    }

    /// Returns the path to what `below` leads to from here.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        Self(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// Returns the steps, from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Returns the value that it leads to, if there is one.
    pub fn find<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        let mut segments = self.0.iter();
        segments.try_fold(object, |value, segment| match segment {
            Segment::Field(name) => value.get(name),
            Segment::Index(index) => value.get(index),
        })
    }

    /// Tells whether this is the path to what `above` leads to, or to something below it.
    pub fn starts_with(&self, above: &Self) -> bool {
        self.0.starts_with(&above.0)
    }

    fn step(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl FromIterator<Segment> for FieldPath {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        Self(segments.into_iter().collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if depth == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_as_kubernetes_prints_them() {
        let option = FieldPath::default().field("options").index(1);
        assert_eq!(option.field("selector").to_string(), "options[1].selector");
        assert_eq!(FieldPath::default().to_string(), "");
        assert_eq!(option.field("selector").parent(), option);
        assert_eq!(
            option.join(&FieldPath::default().field("a")),
            option.field("a")
        );
    }
}
