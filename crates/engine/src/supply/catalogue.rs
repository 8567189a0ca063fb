//! The blueprints and templates of the cluster, always at hand.

use std::sync::Arc;

use futures::StreamExt;
use futures::future::join_all;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::core::dynamic::ParseDynamicObjectError;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::conditions::{self, Verdict};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::selection::{Fault, Plan};
use pathline_blueprint::selector;
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_kinds::carto::{
    BlueprintStatus, ClusterDelivery, ClusterRunTemplate, ClusterRunTemplateSpec,
    ClusterSupplyChain, GROUP,
};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::runtime::env::Env;
use crate::runtime::queue::Key;
use crate::runtime::queues::{Queues, Used};
use crate::runtime::store::{Item, Store};

const RUN_TEMPLATE: &str = "ClusterRunTemplate";

/// A blueprint with what it last reported of itself.
pub(crate) struct Listed {
    pub(crate) blueprint: Blueprint,
    /// The blueprint prepared for its owners, or why it cannot be.
    pub(crate) plan: Result<Plan, Fault>,
    pub(crate) generation: Option<i64>,
    pub(crate) status: BlueprintStatus,
}

/// An object as it was read, or why it cannot be read.
type Read<T> = Result<Arc<T>, String>;

impl<T> Item for Read<T> {}

/// Holds every blueprint and every template.
pub(crate) struct Catalogue {
    supply_chains: Store<Read<Listed>>,
    deliveries: Store<Read<Listed>>,
    templates: [(TemplateKind, Store<Read<Template>>); 5],
    run_templates: Store<Read<ClusterRunTemplateSpec>>,
    changes: watch::Sender<u64>,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            supply_chains: Store::default(),
            deliveries: Store::default(),
            templates: TemplateKind::ALL.map(|kind| (kind, Store::default())),
            run_templates: Store::default(),
            changes: watch::Sender::new(0),
        }
    }
}

impl Catalogue {
    /// Returns the blueprints for a kind of owners, by name; unreadable ones are left out.
    pub(crate) fn blueprints(&self, kind: OwnerKind) -> Vec<Arc<Listed>> {
        let listed = self.blueprint_store(kind).all();
        listed
            .iter()
            .filter_map(|listed| listed.as_ref().as_ref().ok().cloned())
            .collect()
    }

    /// Tells whether every blueprint for a kind of owners could be read.
    pub(crate) fn is_readable(&self, kind: OwnerKind) -> bool {
        let listed = self.blueprint_store(kind).all();
        listed.iter().all(|listed| listed.is_ok())
    }

    /// Returns a template, or why there is none.
    pub(crate) fn template(&self, kind: TemplateKind, name: &str) -> Read<Template> {
        match self.template_store(kind).get(&named(name)) {
            Some(template) => template.as_ref().clone(),
            None => Err(format!("{} [{name}] does not exist", kind.name())),
        }
    }

    /// Tells whether there is a template of this name, readable or not.
    pub(crate) fn has_template(&self, kind: TemplateKind, name: &str) -> bool {
        self.template_store(kind).get(&named(name)).is_some()
    }

    /// Returns the template of a Runnable, or why there is none.
    pub(crate) fn run_template(&self, name: &str) -> Read<ClusterRunTemplateSpec> {
        match self.run_templates.get(&named(name)) {
            Some(template) => template.as_ref().clone(),
            None => Err(format!("ClusterRunTemplate [{name}] does not exist")),
        }
    }

    /// Judges whether a blueprint can be used: the conditions it reports, `Ready` last.
    pub(crate) fn judge(&self, listed: &Listed) -> Vec<Verdict> {
        let missing: Vec<&str> = listed
            .blueprint
            .templates()
            .filter(|(resource, name)| {
                self.template_store(resource.template_kind)
                    .get(&named(name))
                    .is_none()
            })
            .map(|(resource, _)| resource.name.as_str())
            .collect();
        conditions::of_blueprint(&missing, listed.plan.as_ref().err())
    }

    /// Waits until everything there was at the start is known.
    pub(crate) async fn filled(&self) {
        self.supply_chains.filled().await;
        self.deliveries.filled().await;
        self.run_templates.filled().await;
        join_all(self.templates.iter().map(|(_, store)| store.filled())).await;
    }

    /// Returns a counter of changes, to wait on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Watches the cluster until the engine stops, and queues the owners that a change concerns.
    pub(crate) async fn watch(&self, env: &Env) {
        let Env {
            client,
            queues,
            stop,
            ..
        } = env;
        let templates = self.templates.iter().map(|(kind, store)| {
            let events = watch_kind(client, kind.name(), None, stop);
            store.follow(
                kind.name(),
                events,
                |object| read_template(*kind, object),
                move |key, old, new| self.template_changed(queues, *kind, &key.name, old, new),
            )
        });
        let blueprints = OwnerKind::ALL.map(|kind| {
            let plural = (kind == OwnerKind::Deliverable).then_some("clusterdeliveries");
            let events = watch_kind(client, kind.blueprint_kind(), plural, stop);
            self.blueprint_store(kind).follow(
                kind.blueprint_kind(),
                events,
                move |object| read_blueprint(kind, object),
                move |_, old, new| self.blueprint_changed(queues, kind, old, new),
            )
        });
        let run_templates = self.run_templates.follow(
            RUN_TEMPLATE,
            watch_kind(client, RUN_TEMPLATE, None, stop),
            read_run_template,
            |key, old, new| {
                if old != new {
                    queues.wake_users(&Used::RunTemplate(key.name.clone()));
                }
            },
        );
        tokio::join!(join_all(templates), join_all(blueprints), run_templates);
    }

    /// Wakes the owners that stamp with a template and, if it came or went, those whose blueprint
    /// names it: the blueprint may be ready now, or no longer.
    fn template_changed(
        &self,
        queues: &Queues,
        kind: TemplateKind,
        name: &str,
        old: Option<&Read<Template>>,
        new: Option<&Read<Template>>,
    ) {
        self.changes.send_modify(|count| *count += 1);
        if old == new {
            return;
        }
        queues.wake_users(&Used::Template(kind, name.to_owned()));
        if old.is_some() == new.is_some() {
            return;
        }
        for owners in OwnerKind::ALL {
            for listed in self.blueprints(owners) {
                let mut templates = listed.blueprint.templates();
                if templates.any(|(resource, used)| resource.template_kind == kind && used == name)
                {
                    wake_selected(queues, owners, &[&listed.blueprint]);
                }
            }
        }
    }

    /// Wakes the owners that a blueprint selects, or selected before.
    fn blueprint_changed(
        &self,
        queues: &Queues,
        kind: OwnerKind,
        old: Option<&Read<Listed>>,
        new: Option<&Read<Listed>>,
    ) {
        self.changes.send_modify(|count| *count += 1);
        let is_seen = generation_of(old) == generation_of(new);
        let (old, new) = (rules_of(old), rules_of(new));
        if old != new || !is_seen {
            let rules: Vec<&Blueprint> = old.into_iter().chain(new).collect();
            wake_selected(queues, kind, &rules);
        }
    }

    fn blueprint_store(&self, kind: OwnerKind) -> &Store<Read<Listed>> {
        match kind {
            OwnerKind::Workload => &self.supply_chains,
            OwnerKind::Deliverable => &self.deliveries,
        }
    }

    fn template_store(&self, kind: TemplateKind) -> &Store<Read<Template>> {
        let store = self.templates.iter().find(|(known, _)| *known == kind);
        &store
            .expect("there is a store for every kind of templates")
            .1
    }
}

/// Returns the key of what is cluster-wide.
fn named(name: &str) -> Key {
    Key::new("", name)
}

/// Returns what matters to owners; what a blueprint reports of itself does not.
fn rules_of(read: Option<&Read<Listed>>) -> Option<&Blueprint> {
    read.and_then(|read| read.as_ref().ok())
        .map(|listed| &listed.blueprint)
}

fn generation_of(read: Option<&Read<Listed>>) -> Option<i64> {
    read?.as_ref().ok()?.generation
}

/// Wakes the owners that one of the blueprints selects, or would if its selector were right.
fn wake_selected(queues: &Queues, kind: OwnerKind, blueprints: &[&Blueprint]) {
    let is_other = |owner: &Owner, blueprint: &Blueprint| {
        selector::score(&blueprint.selector, owner).is_ok_and(|score| score.is_none())
    };
    queues.wake_where(kind, |object| {
        let value = serde_json::to_value(object).unwrap_or_default();
        // What cannot be read is reconciled, so that it can say so.
        Owner::read(kind, value).map_or(true, |owner| {
            blueprints
                .iter()
                .any(|blueprint| !is_other(&owner, blueprint))
        })
    });
}

fn watch_kind(
    client: &Client,
    kind: &str,
    plural: Option<&str>,
    stop: &CancellationToken,
) -> impl futures::Stream<Item = watcher::Result<watcher::Event<DynamicObject>>> {
    let plural = plural.map_or_else(|| format!("{}s", kind.to_lowercase()), str::to_owned);
    let gvk = GroupVersionKind::gvk(GROUP, "v1alpha1", kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let events = watcher(api, watcher::Config::default()).default_backoff();
    events
        .modify(|object| object.managed_fields_mut().clear())
        .take_until(stop.clone().cancelled_owned())
}

fn read_blueprint(kind: OwnerKind, object: DynamicObject) -> Read<Listed> {
    let generation = object.metadata.generation;
    let status = object.data.get("status").cloned().unwrap_or_default();
    let status: BlueprintStatus = serde_json::from_value(status).unwrap_or_default();
    let blueprint: Blueprint = match kind {
        OwnerKind::Workload => parse::<ClusterSupplyChain>(object)?.into(),
        OwnerKind::Deliverable => parse::<ClusterDelivery>(object)?.into(),
    };
    Ok(Arc::new(Listed {
        plan: Plan::new(&blueprint),
        blueprint,
        generation,
        status,
    }))
}

fn read_template(kind: TemplateKind, object: DynamicObject) -> Read<Template> {
    let name = object.name_any();
    let template = serde_json::to_value(object).and_then(|it| Template::read(kind, it));
    match template {
        Ok(template) => Ok(Arc::new(template)),
        Err(source) => Err(unreadable(&name, &ParseDynamicObjectError::from(source))),
    }
}

fn read_run_template(object: DynamicObject) -> Read<ClusterRunTemplateSpec> {
    Ok(Arc::new(parse::<ClusterRunTemplate>(object)?.spec))
}

fn parse<K: kube::Resource + DeserializeOwned>(object: DynamicObject) -> Result<K, String> {
    let name = object.name_any();
    let parsed = object.try_parse();
    parsed.map_err(|error| unreadable(&name, &error))
}

fn unreadable(name: &str, error: &ParseDynamicObjectError) -> String {
    tracing::warn!(%name, %error, "an object of the catalogue cannot be read");
    error.to_string()
}

#[cfg(test)]
mod tests;
