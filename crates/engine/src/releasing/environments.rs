//! The Environments of the cluster: watched, put in order, and told whether they can be used.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, ResourceExt};
use pathline_kinds::environment::{Environment, EnvironmentStatus};
use pathline_release::environment::{EnvironmentObject, Environments};
use serde_json::json;
use tokio::sync::watch;

use crate::FIELD_MANAGER;
use crate::runtime::calls::{self, call};
use crate::runtime::env::Env;
use crate::runtime::part::Part;
use crate::runtime::retry;
use crate::runtime::store::{Item, Store};

/// The pause after the first status that was not written.
const FIRST_DELAY: Duration = Duration::from_millis(200);

/// The longest message of a condition that the API accepts, in characters.
const MAX_MESSAGE: usize = 32_768;

/// The type of the condition.
const READY: &str = "Ready";

/// The environments of the cluster, once they are known.
pub(crate) type EnvironmentsReceiver = watch::Receiver<Option<Arc<Environments>>>;

/// Watches the Environments of the cluster. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct EnvironmentWatch(Arc<Watched>);

#[derive(Default)]
struct Watched {
    store: Store<StoredEnvironment>,
    /// Nothing until the first listing is whole.
    current: watch::Sender<Option<Arc<Environments>>>,
}

/// An Environment with what it last reported of itself.
struct StoredEnvironment {
    object: EnvironmentObject,
    generation: Option<i64>,
    status: EnvironmentStatus,
}

impl Item for StoredEnvironment {}

/// The status of some Environment was not written.
struct Unwritten;

impl EnvironmentWatch {
    /// Returns the environments of the cluster, to read and to wait for. They are known once all of them have been
    /// listed; a listing that fails, or has not ended, changes nothing.
    pub(crate) fn subscribe(&self) -> EnvironmentsReceiver {
        self.0.current.subscribe()
    }

    /// Returns the loops that watch Environments and report on them.
    pub(crate) fn parts(&self, env: &Env) -> Vec<Part> {
        let (watching, reporting) = ((self.clone(), env.clone()), (self.clone(), env.clone()));
        vec![
            Part::new("environments", async move {
                let (Self(watched), env) = watching;
                tokio::join!(watched.follow(&env), watched.publish_first(&env));
            }),
            Part::new("environment status", async move {
                let (this, env) = reporting;
                let reporting = this.report(&env);
                env.stop.run_until_cancelled(reporting).await;
            }),
        ]
    }

    /// Keeps the status of all Environments true.
    async fn report(&self, env: &Env) {
        let mut current = self.subscribe();
        while let Ok(known) = current.wait_for(Option::is_some).await.map(|it| it.clone()) {
            current.mark_unchanged();
            let Some(environments) = known else {
                continue;
            };
            let write = || self.0.report_all(env, &environments);
            // What changes in the meantime is more than worth another attempt.
            tokio::select! {
                // Each Environment has said by then why its status was not written.
                () = retry::until_ok(FIRST_DELAY, write, |Unwritten| {}) => {
                    if current.changed().await.is_err() {
                        return;
                    }
                }
                changed = current.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
            }
            current.mark_changed();
        }
    }
}

impl Watched {
    /// Keeps the store current until the engine stops.
    async fn follow(&self, env: &Env) {
        let resource = ApiResource::erase::<Environment>(&());
        let api: Api<DynamicObject> = Api::all_with(env.client.clone(), &resource);
        let events = watcher(api, watcher::Config::default()).default_backoff();
        let events = events.modify(|object| object.managed_fields_mut().clear());
        let events = events.take_until(env.stop.clone().cancelled_owned());
        let read = |object: DynamicObject| StoredEnvironment::of(&object);
        let touched = |_: &_, _: Option<&_>, _: Option<&_>| {
            if self.store.is_filled() {
                self.publish();
            }
        };
        self.store
            .follow(&resource.kind, events, read, touched)
            .await;
    }

    /// Publishes the first listing, which may be empty.
    async fn publish_first(&self, env: &Env) {
        let filled = self.store.filled();
        if env.stop.run_until_cancelled(filled).await.is_some() {
            self.publish();
        }
    }

    fn publish(&self) {
        let stored = self.store.all();
        let objects: Vec<_> = stored.iter().map(|it| it.object.clone()).collect();
        let environments = Environments::of(&objects);
        self.current.send_replace(Some(Arc::new(environments)));
    }

    /// Writes every status that differs.
    async fn report_all(&self, env: &Env, environments: &Environments) -> Result<(), Unwritten> {
        let mut result = Ok(());
        for stored in self.store.all() {
            let Err(error) = report_one(env, environments, &stored).await else {
                continue;
            };
            if !error.is_absence() {
                tracing::warn!(
                    environment = stored.object.name,
                    error = error.message(),
                    "the status was not written"
                );
                result = Err(Unwritten);
            }
        }
        result
    }
}

impl StoredEnvironment {
    fn of(object: &DynamicObject) -> Self {
        let part = |key| object.data.get(key).cloned().unwrap_or_default();
        let status = serde_json::from_value(part("status"));
        Self {
            object: EnvironmentObject {
                name: object.name_any(),
                created: object.creation_timestamp().map(|it| it.0),
                spec: part("spec"),
                is_terminating: object.metadata.deletion_timestamp.is_some(),
            },
            generation: object.metadata.generation,
            status: status.unwrap_or_default(),
        }
    }
}

async fn report_one(
    env: &Env,
    environments: &Environments,
    stored: &StoredEnvironment,
) -> Result<(), calls::Error> {
    let name = &stored.object.name;
    let is_used = environments.get(name).is_some();
    let refusal = environments.refusal(name);
    // What is in the store and not among them has changed since, and is told next.
    if !is_used && refusal.is_none() {
        return Ok(());
    }
    let (status, reason, message) = match refusal {
        None => ("True", "Valid", "releases go here".to_owned()),
        Some(refused) => ("False", refused.reason(), refused.to_string()),
    };
    let conditions = &stored.status.conditions;
    let before = conditions.iter().find(|it| it.type_ == READY);
    let since = before.filter(|it| it.status == status);
    let since = since.map(|it| it.last_transition_time.clone());
    let ready = Condition {
        type_: READY.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.chars().take(MAX_MESSAGE).collect(),
        last_transition_time: since.unwrap_or_else(|| Time(env.clock.now())),
        observed_generation: stored.generation,
    };
    let others = conditions.iter().filter(|it| it.type_ != READY);
    let status = EnvironmentStatus {
        observed_generation: stored.generation,
        conditions: others.cloned().chain([ready]).collect(),
    };
    if status == stored.status {
        return Ok(());
    }
    let api: Api<Environment> = Api::all(env.client.clone());
    let params = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({"status": status}));
    call(api.patch_status(name, &params, &patch))
        .await
        .map(drop)
}
