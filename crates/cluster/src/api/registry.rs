//! The kinds that exist: the built-in ones, and those that definitions in the store add.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use kube::core::Version;
use parking_lot::{Mutex, RwLock};

use super::built_in;
use super::definition;
use super::openapi::Documents;
use super::resource::Resource;
use crate::store::{Collection, Store};

/// The group of CustomResourceDefinitions.
pub(crate) const DEFINITIONS_GROUP: &str = "apiextensions.k8s.io";

/// Returns where CustomResourceDefinitions are stored.
pub(crate) fn definitions() -> Collection {
    Collection::new(DEFINITIONS_GROUP, "customresourcedefinitions")
}

/// Holds the kinds; readers take a snapshot and are never held up.
pub(crate) struct Registry {
    kinds: RwLock<Arc<Kinds>>,
    refreshing: Mutex<()>,
}

/// The kinds at one moment.
#[derive(Default)]
pub(crate) struct Kinds {
    built_in: Vec<Arc<Resource>>,
    custom: BTreeMap<String, Definition>,
    documents: OnceLock<Documents>,
}

/// The kinds that one definition serves.
struct Definition {
    revision: u64,
    resources: Vec<Arc<Resource>>,
}

impl Registry {
    /// Reads the definitions of `store`.
    pub(crate) fn load(store: &Store) -> Self {
        let built_in = built_in::resources().into_iter().map(Arc::new).collect();
        let kinds = Kinds {
            built_in,
            ..Kinds::default()
        };
        let registry = Self {
            kinds: RwLock::new(Arc::new(kinds)),
            refreshing: Mutex::new(()),
        };
        registry.refresh(store);
        registry
    }

    /// Returns the kinds at this moment.
    pub(crate) fn kinds(&self) -> Arc<Kinds> {
        Arc::clone(&self.kinds.read())
    }

    /// Takes over the definitions that have changed in `store`.
    pub(crate) fn refresh(&self, store: &Store) {
        let _one_at_a_time = self.refreshing.lock();
        let known = self.kinds();
        let stored = store.list(&definitions(), None);
        let custom = stored.items.iter().map(|stored| {
            let name = stored.key.name.to_string();
            let resources = match known.custom.get(&name) {
                Some(same) if same.revision == stored.revision => same.resources.clone(),
                _ => definition::resources(stored)
                    .into_iter()
                    .map(Arc::new)
                    .collect(),
            };
            (
                name,
                Definition {
                    revision: stored.revision,
                    resources,
                },
            )
        });
        let built_in = known.built_in.clone();
        let kinds = Kinds {
            built_in,
            custom: custom.collect(),
            documents: OnceLock::new(),
        };
        *self.kinds.write() = Arc::new(kinds);
    }
}

impl Kinds {
    /// Returns every resource of every version.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.built_in
            .iter()
            .chain(self.custom.values().flat_map(|it| &it.resources))
    }

    /// Finds a resource by its path.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        let is_it =
            |it: &&Arc<Resource>| it.plural == plural && it.group == group && it.version == version;
        self.all().find(is_it).cloned()
    }

    /// Returns the groups in the order discovery lists them, each with its versions, best first.
    pub(crate) fn groups(&self) -> Vec<(&str, Vec<&str>)> {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for resource in self.all() {
            let position = groups
                .iter()
                .position(|(group, _)| *group == resource.group);
            let position = position.unwrap_or_else(|| {
                groups.push((&resource.group, Vec::new()));
                groups.len() - 1
            });
            let versions = &mut groups[position].1;
            if !versions.contains(&resource.version.as_str()) {
                versions.push(&resource.version);
            }
        }
        for (_, versions) in &mut groups {
            versions.sort_by_key(|version| std::cmp::Reverse(Version::parse(version).priority()));
        }
        groups
    }

    /// Returns the OpenAPI documents, written when they are first asked for.
    pub(crate) fn documents(&self) -> &Documents {
        self.documents.get_or_init(|| Documents::write(self))
    }

    /// Returns the resources of one version of a group.
    pub(crate) fn of_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Resource>> {
        self.all()
            .filter(move |it| it.group == group && it.version == version)
    }
}
