//! A set of field paths, kept as a trie.

use std::collections::{BTreeMap, BTreeSet};

use super::{Path, PathElement};

/// A set of paths; a path and the paths below it are separate members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FieldSet {
    members: BTreeSet<PathElement>,
    // Never holds an empty set, so that equal sets are equal tries.
    children: BTreeMap<PathElement, Self>,
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
        let children = self.map_children(|element, child| {
            other
                .below(element)
                .map(|below| child.intersection(below))
                .unwrap_or_default()
        });
        Self { members, children }
    }

    /// Returns the paths of this set that are not in the other one.
    #[must_use]
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.map_children(|element, child| {
            other
                .below(element)
                .map_or_else(|| child.clone(), |below| child.difference(below))
        });
        Self { members, children }
    }

    /// Returns the paths of this set that neither are in the other one nor lie below one of it.
    #[must_use]
    pub(crate) fn without(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.map_children(|element, child| match other.below(element) {
            _ if other.members.contains(element) => Self::default(),
            Some(below) => child.without(below),
            None => child.clone(),
        });
        Self { members, children }
    }

    /// Returns the children after a change to each, without those that became empty.
    fn map_children(
        &self,
        change: impl Fn(&PathElement, &Self) -> Self,
    ) -> BTreeMap<PathElement, Self> {
        self.children
            .iter()
            .map(|(element, child)| (element.clone(), change(element, child)))
            .filter(|(_, child)| !child.is_empty())
            .collect()
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
