//! The questions of selectors to owners, as variables.
//!
//! Every label or field that is mentioned can be absent, hold one of the texts that are mentioned with
//! it, or hold something else. What cannot be is excluded: a field without the object it is in, two
//! values at once, a value its type has no room for, a field its definition does not know.
//!
//! A key with a filter, a wildcard or an index leads who knows where: it is *free*, related to nothing
//! else, and evaluating it may also be an error.

use std::collections::{BTreeMap, BTreeSet};

use pathline_kinds::carto::Operator;

use super::gates::Gates;
use super::requirement::{Requirement, Subject};
use super::sat::{Literal, Solver};
use super::schema::{Schema, Type};

/// The variables of everything that selectors mention.
#[derive(Debug)]
pub(super) struct Facts {
    fields: BTreeMap<Vec<String>, Field>,
    free_keys: BTreeMap<String, FreeKey>,
    truth: Literal,
}

/// A field of the owner; labels are fields.
#[derive(Debug)]
pub(super) struct Field {
    /// The type of what it holds.
    pub(super) type_: Type,
    exists: Literal,
    texts: BTreeMap<String, Literal>,
}

#[derive(Debug)]
struct FreeKey {
    exists: Literal,
    is_error: Literal,
    texts: BTreeMap<String, Literal>,
}

/// The literals for a requirement that holds, and for one that cannot be evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Atom {
    /// True when it holds.
    pub(super) holds: Literal,
    /// True when it cannot be evaluated.
    pub(super) is_error: Literal,
}

/// The content that an assignment gives a label, a field or a free key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content<'f> {
    /// Exactly this text.
    Text(&'f str),
    /// Something that nobody mentions.
    Other,
    /// It cannot be evaluated.
    Error,
}

type Mentioned = BTreeSet<String>;

impl Facts {
    /// Makes variables for everything that these requirements mention.
    pub(super) fn new<'r>(
        schema: Schema,
        requirements: impl IntoIterator<Item = &'r Requirement>,
        gates: &mut Gates,
    ) -> Self {
        let mut fields: BTreeMap<Vec<String>, Mentioned> = BTreeMap::new();
        let mut free_keys: BTreeMap<String, Mentioned> = BTreeMap::new();
        for requirement in requirements {
            let values = requirement.values.iter().cloned();
            match &requirement.subject {
                Subject::Free(key) => free_keys.entry(key.clone()).or_default().extend(values),
                Subject::Field(path) if schema.type_of(path).is_some() => {
                    for length in 1..path.len() {
                        fields.entry(path[..length].to_vec()).or_default();
                    }
                    fields.entry(path.clone()).or_default().extend(values);
                }
                Subject::Field(_) | Subject::Broken => {}
            }
        }
        let mut facts = Self {
            fields: BTreeMap::new(),
            free_keys: BTreeMap::new(),
            truth: gates.truth(),
        };
        // A path sorts before the paths below it.
        for (path, mentioned) in fields {
            facts.add_field(schema, path, mentioned, gates);
        }
        for (key, mentioned) in free_keys {
            facts.free_keys.insert(key, FreeKey::new(mentioned, gates));
        }
        facts
    }

    fn add_field(
        &mut self,
        schema: Schema,
        path: Vec<String>,
        mentioned: Mentioned,
        gates: &mut Gates,
    ) {
        let Some(type_) = schema.type_of(&path) else {
            return;
        };
        let exists = if schema.is_always_there(&path) {
            self.truth
        } else {
            gates.free()
        };
        let parent = path
            .split_last()
            .and_then(|(_, parent)| self.fields.get(parent));
        if let Some(parent) = parent {
            gates.imply(exists, parent.exists);
        }
        let text = |text: String| {
            let is_possible = type_.allows_text() && schema.allows(&path, &text);
            let literal = match schema.fixed(&path) {
                Some(fixed) if fixed == text => self.truth,
                None if is_possible => gates.free(),
                _ => !self.truth,
            };
            (text, literal)
        };
        let texts = mentioned.into_iter().map(text).collect();
        one_text(exists, &texts, gates);
        self.fields.insert(
            path,
            Field {
                type_,
                exists,
                texts,
            },
        );
    }

    /// Returns when a requirement holds.
    pub(super) fn atom(&self, requirement: &Requirement, gates: &mut Gates) -> Atom {
        let never = !self.truth;
        let none = BTreeMap::new();
        let (exists, is_error, texts) = match &requirement.subject {
            Subject::Field(path) => match self.fields.get(path) {
                Some(field) => (field.exists, never, &field.texts),
                None => (never, never, &none),
            },
            Subject::Free(key) => {
                let free = &self.free_keys[key];
                (free.exists, free.is_error, &free.texts)
            }
            Subject::Broken => (never, self.truth, &none),
        };
        let listed = requirement
            .values
            .iter()
            .filter_map(|value| texts.get(value).copied());
        let holds = match requirement.operator {
            Operator::In => gates.any(listed),
            Operator::NotIn => !gates.any(listed.chain([is_error])),
            Operator::Exists => exists,
            Operator::DoesNotExist => !gates.any([exists, is_error]),
        };
        Atom { holds, is_error }
    }

    /// Returns the fields that an assignment has, parents first, with what they hold.
    pub(super) fn present<'f>(
        &'f self,
        solver: &'f Solver,
    ) -> impl Iterator<Item = (&'f [String], &'f Field, Content<'f>)> {
        let there = self
            .fields
            .iter()
            .filter(|(_, field)| solver.is_true(field.exists));
        there.map(|(path, field)| (path.as_slice(), field, content(&field.texts, solver)))
    }

    /// Returns the free keys that lead somewhere in an assignment, with what they find.
    pub(super) fn present_free<'f>(
        &'f self,
        solver: &'f Solver,
    ) -> impl Iterator<Item = (&'f str, Content<'f>)> {
        self.free_keys.iter().filter_map(|(key, free)| {
            if solver.is_true(free.is_error) {
                Some((key.as_str(), Content::Error))
            } else {
                solver
                    .is_true(free.exists)
                    .then(|| (key.as_str(), content(&free.texts, solver)))
            }
        })
    }

    /// Says whether there are free keys at all.
    pub(super) fn has_free_keys(&self) -> bool {
        !self.free_keys.is_empty()
    }

    /// Says whether somebody mentions this text together with this field.
    pub(super) fn is_mentioned(&self, path: &[String], text: &str) -> bool {
        self.fields
            .get(path)
            .is_some_and(|field| field.texts.contains_key(text))
    }

    /// Says whether somebody mentions this text together with this free key.
    pub(super) fn is_mentioned_free(&self, key: &str, text: &str) -> bool {
        self.free_keys
            .get(key)
            .is_some_and(|free| free.texts.contains_key(text))
    }
}

impl FreeKey {
    fn new(mentioned: Mentioned, gates: &mut Gates) -> Self {
        let [exists, is_error] = [gates.free(), gates.free()];
        gates.imply(is_error, !exists);
        let texts = mentioned
            .into_iter()
            .map(|text| (text, gates.free()))
            .collect();
        one_text(exists, &texts, gates);
        Self {
            exists,
            is_error,
            texts,
        }
    }
}

fn one_text(exists: Literal, texts: &BTreeMap<String, Literal>, gates: &mut Gates) {
    let texts: Vec<Literal> = texts.values().copied().collect();
    for text in &texts {
        gates.imply(*text, exists);
    }
    gates.at_most_one(&texts);
}

fn content<'f>(texts: &'f BTreeMap<String, Literal>, solver: &Solver) -> Content<'f> {
    let held = texts.iter().find(|(_, literal)| solver.is_true(**literal));
    held.map_or(Content::Other, |(text, _)| Content::Text(text))
}
