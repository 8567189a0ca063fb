//! An index of what is used by which object, both ways round.

use std::collections::{HashMap, HashSet};

use pathline_blueprint::service_account::Account;
use pathline_blueprint::template::TemplateKind;

use crate::runtime::queue::Key;
use crate::runtime::selections::Selection;

/// Something that objects use, and are reconciled for when it changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Used {
    /// A template of a blueprint.
    Template(TemplateKind, String),
    /// A ClusterRunTemplate.
    RunTemplate(String),
    /// A service account.
    Account(Account),
    /// The objects that a Runnable selects, and the namespace in which it does.
    Selection(Selection, String),
}

/// Finds users by what they use. It holds no more than those that were noted, and what they use now.
#[derive(Default)]
pub(super) struct Index {
    users: HashMap<Used, HashSet<Key>>,
    uses: HashMap<Key, Vec<Used>>,
}

impl Index {
    /// Returns whatever uses this.
    pub(super) fn users(&self, used: &Used) -> Vec<Key> {
        self.users
            .get(used)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// Returns whatever works under a service account, of one namespace or of any.
    pub(super) fn users_of_accounts(&self, namespace: Option<&str>) -> Vec<Key> {
        let is_meant = |used: &Used| match used {
            Used::Account(account) => namespace.is_none_or(|wanted| account.namespace == wanted),
            Used::Template(..) | Used::RunTemplate(_) | Used::Selection(..) => false,
        };
        let meant = self.users.iter().filter(|(used, _)| is_meant(used));
        meant.flat_map(|(_, users)| users).cloned().collect()
    }

    /// Tells whether anything selects this, in whatever namespace.
    pub(super) fn is_selected(&self, selection: &Selection) -> bool {
        let mut used = self.users.keys();
        used.any(|used| matches!(used, Used::Selection(known, _) if known == selection))
    }

    /// Notes what an object uses, in place of what it used before.
    pub(super) fn note(&mut self, key: &Key, used: Vec<Used>) {
        if self.uses.get(key).map_or(&[][..], Vec::as_slice) == used {
            return;
        }
        for old in self.uses.remove(key).unwrap_or_default() {
            let users = self.users.get_mut(&old);
            if users.is_some_and(|users| users.remove(key) && users.is_empty()) {
                self.users.remove(&old);
            }
        }
        if used.is_empty() {
            return;
        }
        for new in &used {
            self.users
                .entry(new.clone())
                .or_default()
                .insert(key.clone());
        }
        self.uses.insert(key.clone(), used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: &str) -> Used {
        Used::Template(TemplateKind::Image, name.to_owned())
    }

    #[test]
    fn only_those_are_found_that_use_it_now() {
        let (one, other) = (Key::new("dev", "one"), Key::new("dev", "other"));
        let mut index = Index::default();
        index.note(&one, vec![image("a"), image("b")]);
        index.note(&other, vec![image("b")]);
        assert_eq!(index.users(&image("a")), std::slice::from_ref(&one));
        assert_eq!(index.users(&image("b")).len(), 2);
        index.note(&one, vec![image("c")]);
        assert!(index.users(&image("a")).is_empty());
        assert_eq!(index.users(&image("b")), std::slice::from_ref(&other));
        let config = Used::Template(TemplateKind::Config, "c".to_owned());
        assert!(
            index.users(&config).is_empty(),
            "kinds have names of their own"
        );
    }

    #[test]
    fn issue_984_nothing_is_kept_of_what_is_gone() {
        let mut index = Index::default();
        for cycle in 0..1_000 {
            let key = Key::new("dev", &cycle.to_string());
            index.note(&key, vec![image(&cycle.to_string()), image("shared")]);
            index.note(&key, Vec::new());
        }
        assert!(index.users.is_empty() && index.uses.is_empty());
    }
}
