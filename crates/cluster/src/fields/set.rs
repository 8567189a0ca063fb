//! A set of field paths, kept as a trie.

use std::collections::{BTreeMap, BTreeSet};

use super::{Path, PathElement};

/// A set of paths; a path and the paths below it are separate members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FieldSet {
    members: BTreeSet<PathElement>,
    // Never holds an empty set, so that equal sets are equal tries.
    children: BTreeMap<PathElement, FieldSet>,
}

/// Building and reading
impl FieldSet {
    /// Returns whether the set has no path.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// Adds a path; the empty path, which names the object itself, is ignored.
    pub(crate) fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// Returns whether the path of this one step is a member.
    pub(crate) fn has(&self, element: &PathElement) -> bool {
        self.members.contains(element)
    }

    /// Returns whether the path is a member.
    pub(crate) fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.has(last),
            [first, rest @ ..] => self.below(first).is_some_and(|child| child.contains(rest)),
        }
    }

    /// Returns what follows a first step, if any member does.
    pub(crate) fn below(&self, element: &PathElement) -> Option<&Self> {
        self.children.get(element)
    }

    /// Returns the members of one step.
    pub(crate) fn members(&self) -> impl Iterator<Item = &PathElement> {
        self.members.iter()
    }

    /// Returns the first steps that longer members share, with what follows.
    pub(crate) fn children(&self) -> impl Iterator<Item = (&PathElement, &Self)> {
        self.children.iter()
    }

    /// Returns every path, each before those below it.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &mut Vec<PathElement>, paths: &mut Vec<Path>) {
        let steps: BTreeSet<&PathElement> =
            self.members.iter().chain(self.children.keys()).collect();
        for step in steps {
            prefix.push(step.clone());
            if self.members.contains(step) {
                paths.push(Path(prefix.clone()));
            }
            if let Some(child) = self.children.get(step) {
                child.collect_paths(prefix, paths);
            }
            prefix.pop();
        }
    }

    /// Adds the path of this one step.
    pub(crate) fn insert_member(&mut self, element: PathElement) {
        self.members.insert(element);
    }

    /// Adds every path of `child` behind a first step; an empty child adds nothing.
    pub(crate) fn insert_child(&mut self, element: PathElement, child: Self) {
        if !child.is_empty() {
            self.children.insert(element, child);
        }
    }
}

/// Algebra
impl FieldSet {
    /// Returns the paths in either set.
    #[must_use]
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.members.extend(other.members.iter().cloned());
        for (element, child) in &other.children {
            let merged = match result.children.get(element) {
                Some(own) => own.union(child),
                None => child.clone(),
            };
            result.children.insert(element.clone(), merged);
        }
        result
    }

    /// Returns the paths in both sets.
    #[must_use]
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let children = self.zip_children(other, |own, others| Some(own.intersection(others?)));
        Self { members, children }
    }

    /// Returns the paths of this set that are not in the other one.
    #[must_use]
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.zip_children(other, |own, others| {
            Some(others.map_or_else(|| own.clone(), |others| own.difference(others)))
        });
        Self { members, children }
    }

    /// Returns the paths of this set that neither are in the other one nor lie below one of it.
    #[must_use]
    pub(crate) fn without(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self
            .children
            .iter()
            .filter(|(element, _)| !other.members.contains(element))
            .map(|(element, child)| {
                let rest = other
                    .below(element)
                    .map_or_else(|| child.clone(), |o| child.without(o));
                (element.clone(), rest)
            })
            .filter(|(_, child)| !child.is_empty())
            .collect();
        Self { members, children }
    }

    fn zip_children(
        &self,
        other: &Self,
        combine: impl Fn(&Self, Option<&Self>) -> Option<Self>,
    ) -> BTreeMap<PathElement, Self> {
        let combined = self.children.iter().filter_map(|(element, child)| {
            let result = combine(child, other.below(element))?;
            (!result.is_empty()).then(|| (element.clone(), result))
        });
        combined.collect()
    }
}

impl FromIterator<Path> for FieldSet {
    fn from_iter<I: IntoIterator<Item = Path>>(paths: I) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert(&path.0);
        }
        set
    }
}
