//! The blueprints and templates of the cluster, and what owners would use of them.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use kube::{Client, ResourceExt};
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::selection::{self, Plan};
use pathline_blueprint::template::TemplateKind;
use pathline_blueprint::usage::{self, Generations};
use pathline_kinds::carto::{ClusterDelivery, ClusterSupplyChain, GROUP};
use pathline_lineage::OwnerLineage;

use super::ObjectVersion;
use crate::error::ApiError;
use crate::views::owners;

/// The objects that are read at once.
const PAGE_SIZE: u32 = 500;

/// The blueprints and templates as they are now.
pub(crate) struct Catalogue {
    blueprints: Vec<(OwnerKind, Listed)>,
    templates: BTreeMap<String, i64>,
    /// All of them, as `Kind/name`, also those that can't be read.
    present: BTreeSet<String>,
}

struct Listed {
    blueprint: Blueprint,
    plan: Option<Plan>,
    generation: Option<i64>,
}

impl Catalogue {
    /// Reads them from the cluster.
    pub(crate) async fn load(client: &Client) -> Result<Self, ApiError> {
        let mut catalogue = Self {
            blueprints: Vec::new(),
            templates: BTreeMap::new(),
            present: BTreeSet::new(),
        };
        for kind in OwnerKind::ALL {
            for object in list(client, kind.blueprint_kind()).await? {
                let key = format!("{}/{}", kind.blueprint_kind(), object.name_any());
                catalogue.present.insert(key);
                let listed = read(kind, object).map(|listed| (kind, listed));
                catalogue.blueprints.extend(listed);
            }
        }
        for kind in TemplateKind::ALL {
            for object in list(client, kind.name()).await? {
                let generation = object.metadata.generation.unwrap_or_default();
                let key = usage::template_key(kind, &object.name_any());
                catalogue.present.insert(key.clone());
                catalogue.templates.insert(key, generation);
            }
        }
        Ok(catalogue)
    }

    /// Says which of the named ones an owner was not looked at with yet.
    pub(crate) fn unseen(
        &self,
        kind: OwnerKind,
        object: &DynamicObject,
        named: &[ObjectVersion],
        lineage: Option<&OwnerLineage>,
    ) -> Vec<String> {
        let expected = self.expected(kind, object);
        let none = OwnerLineage::default();
        let lineage = lineage.unwrap_or(&none);
        let missing = named.iter();
        let missing = missing.filter_map(|it| it.missing(&expected, lineage));
        missing.collect()
    }

    /// Tells whether a blueprint or template is there.
    pub(super) fn has(&self, named: &ObjectVersion) -> bool {
        self.present.contains(&named.key)
    }

    /// Tells whether one of the named ones concerns an owner.
    pub(super) fn concerns(
        &self,
        kind: OwnerKind,
        object: &DynamicObject,
        named: &[ObjectVersion],
        lineage: Option<&OwnerLineage>,
    ) -> bool {
        let expected = self.expected(kind, object);
        let none = Generations::new();
        let used = lineage.map_or(&none, |lineage| &lineage.used);
        named.iter().any(|it| it.concerns(&expected, used))
    }

    /// Returns what an owner would use if it were looked at now.
    fn expected(&self, kind: OwnerKind, object: &DynamicObject) -> Generations {
        let value = serde_json::to_value(object).unwrap_or_default();
        let Ok(owner) = Owner::read(kind, value) else {
            return Generations::new();
        };
        let mine = || self.blueprints.iter().filter(|(of, _)| *of == kind);
        let blueprints = mine().map(|(_, listed)| &listed.blueprint);
        let Ok(chosen) = selection::choose_blueprint(&owner, blueprints) else {
            return Generations::new();
        };
        let listed = mine().find(|(_, it)| it.blueprint.name == chosen.name);
        let Some((_, listed)) = listed else {
            return Generations::new();
        };
        let (plan, generation) = (listed.plan.as_ref(), listed.generation);
        usage::of_owner(&owner, chosen, plan, generation, |kind, name| {
            let key = usage::template_key(kind, name);
            self.templates.get(&key).copied()
        })
    }
}

fn read(kind: OwnerKind, object: DynamicObject) -> Option<Listed> {
    let generation = object.metadata.generation;
    let blueprint: Blueprint = match kind {
        OwnerKind::Workload => object.try_parse::<ClusterSupplyChain>().ok()?.into(),
        OwnerKind::Deliverable => object.try_parse::<ClusterDelivery>().ok()?.into(),
    };
    Some(Listed {
        plan: Plan::new(&blueprint).ok(),
        blueprint,
        generation,
    })
}

async fn list(client: &Client, kind: &str) -> Result<Vec<DynamicObject>, ApiError> {
    let gvk = GroupVersionKind::gvk(GROUP, "v1alpha1", kind);
    let plural = match kind {
        "ClusterDelivery" => "clusterdeliveries".to_owned(),
        other => format!("{}s", other.to_lowercase()),
    };
    let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
    all(&Api::all_with(client.clone(), &resource)).await
}

/// Reads all objects, page by page.
pub(super) async fn all(api: &Api<DynamicObject>) -> Result<Vec<DynamicObject>, ApiError> {
    let mut found = Vec::new();
    let mut page = ListParams::default().limit(PAGE_SIZE);
    loop {
        let read = owners::answer(api.list(&page)).await?;
        found.extend(read.items);
        match read.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => page.continue_token = Some(next),
            None => return Ok(found),
        }
    }
}
