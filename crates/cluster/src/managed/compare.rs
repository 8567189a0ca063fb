//! The comparison of two objects, field by field.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::fields::{FieldSet, PathElement, same_value};
use crate::schema::{ListKind, Shape, View};

/// The fields in which a new object differs from an old one.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) added: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) removed: FieldSet,
}

impl Comparison {
    /// Compares two objects of one kind.
    pub(super) fn of(schema: View<'_>, old: &Value, new: &Value) -> Self {
        let mut walk = Walk {
            path: Vec::new(),
            found: Self::default(),
        };
        walk.values(schema, Some(old), Some(new));
        walk.found
    }

    /// Leaves out some fields and everything below them.
    pub(super) fn without(&self, fields: &FieldSet) -> Self {
        Self {
            added: self.added.without(fields),
            modified: self.modified.without(fields),
            removed: self.removed.without(fields),
        }
    }

    /// Returns the fields that have another value now, or have one at last.
    pub(super) fn changed(&self) -> FieldSet {
        self.modified.union(&self.added)
    }
}

struct Walk {
    path: Vec<PathElement>,
    found: Comparison,
}

impl Walk {
    fn values(&mut self, schema: View<'_>, old: Option<&Value>, new: Option<&Value>) {
        let shapes = [old, new].map(|side| side.map(|value| schema.shape(value)));
        let whole = match shapes {
            [Some(before), Some(after)] if !is_same_shape(before, after) => {
                self.shaped(schema, before, old, new);
                self.shaped(schema, after, old, new)
            }
            [before, after] => match after.or(before) {
                Some(shape) => self.shaped(schema, shape, old, new),
                None => return,
            },
        };
        match (old, new) {
            _ if whole => {}
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    /// Compares two values of one shape; returns whether they were compared as a whole.
    fn shaped(
        &mut self,
        schema: View<'_>,
        shape: Shape<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> bool {
        let lists =
            || [old, new].map(|side| side.and_then(Value::as_array).filter(|l| !l.is_empty()));
        let maps =
            || [old, new].map(|side| side.and_then(Value::as_object).filter(|m| !m.is_empty()));
        match shape {
            Shape::Scalar | Shape::List(ListKind::Atomic) | Shape::Map { atomic: true } => {}
            Shape::List(_) => {
                if let [Some(_), _] | [_, Some(_)] = lists() {
                    let [old, new] = lists();
                    self.lists(schema, old, new);
                    return false;
                }
            }
            Shape::Map { atomic: false } => {
                if let [Some(_), _] | [_, Some(_)] = maps() {
                    let [old, new] = maps();
                    self.maps(schema, old, new);
                    return false;
                }
            }
        }
        self.whole(old, new);
        true
    }

    fn whole(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if !same_value(old, new) => {
                self.found.modified.insert(&self.path);
            }
            _ => {}
        }
    }

    fn maps(
        &mut self,
        schema: View<'_>,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
    ) {
        let only_new = new
            .into_iter()
            .flatten()
            .filter(|(name, _)| old.is_none_or(|old| !old.contains_key(*name)));
        for (name, _) in old.into_iter().flatten().chain(only_new) {
            let before = old.and_then(|fields| fields.get(name));
            let after = new.and_then(|fields| fields.get(name));
            self.path.push(PathElement::field(name.as_str()));
            self.values(schema.child_or_anything(name), before, after);
            self.path.pop();
        }
    }

    fn lists(&mut self, schema: View<'_>, old: Option<&Vec<Value>>, new: Option<&Vec<Value>>) {
        let (old, new) = (by_element(schema, old), by_element(schema, new));
        let only_new = new
            .iter()
            .filter(|(element, _)| !old.contains_key(*element));
        for (element, _) in old.iter().chain(only_new) {
            let before = old.get(element).map_or(&[][..], Vec::as_slice);
            let after = new.get(element).map_or(&[][..], Vec::as_slice);
            self.path.push(element.clone());
            self.items(schema.item(), before, after);
            self.path.pop();
        }
    }

    /// Compares the items that one element names: more than one of them count as a whole.
    fn items(&mut self, schema: View<'_>, old: &[&Value], new: &[&Value]) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.values(schema, old.first().copied(), new.first().copied()),
            ([_, _, ..], [_, _, ..]) => {
                let same = old.len() == new.len()
                    && old.iter().zip(new).all(|(old, new)| same_value(old, new));
                if !same {
                    self.found.modified.insert(&self.path);
                }
            }
            ([_, _, ..], _) => {
                if let Some(new) = new.first() {
                    self.values(schema, None, Some(new));
                }
                self.found.removed.insert(&self.path);
            }
            (_, _) => {
                if let Some(old) = old.first() {
                    self.values(schema, Some(old), None);
                }
                self.found.added.insert(&self.path);
            }
        }
    }
}

fn is_same_shape(a: Shape<'_>, b: Shape<'_>) -> bool {
    std::mem::discriminant(&a) == std::mem::discriminant(&b)
}

/// Groups the items of a list by what names them; those that nothing names are not tracked.
fn by_element<'a>(
    schema: View<'_>,
    items: Option<&'a Vec<Value>>,
) -> BTreeMap<PathElement, Vec<&'a Value>> {
    let mut grouped: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
    for item in items.into_iter().flatten() {
        if let Ok(element) = schema.element(item) {
            grouped.entry(element).or_default().push(item);
        }
    }
    grouped
}
