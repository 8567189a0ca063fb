//! The Environments of the cluster: watched, put in order, and told whether they can be used.

mod departed;

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, ResourceExt};
use pathline_kinds::environment::{Environment, EnvironmentStatus};
use pathline_release::environment::{EnvironmentObject, Environments};
use serde_json::json;
use tokio::sync::{Notify, watch};

use self::departed::Departed;
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

/// The kind, for logs.
const KIND: &str = "Environment";

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
    departed: Departed,
    /// Told when one has departed.
    left: Notify,
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
                let first = env.stop.run_until_cancelled(watched.publish_first());
                let ends = env.stop.run_until_cancelled(watched.end_departures());
                tokio::join!(watched.follow(events(&env)), first, ends);
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
        if current.wait_for(Option::is_some).await.is_err() {
            return;
        }
        loop {
            current.mark_unchanged();
            let write = || self.0.report_all(env);
            // Each Environment has said by then why its status was not written.
            retry::until_ok(FIRST_DELAY, write, |Unwritten| {}).await;
            if current.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Watched {
    /// Keeps the store as the events of a watch say, until they end.
    async fn follow(
        &self,
        events: impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>>,
    ) {
        let read = |object: DynamicObject| StoredEnvironment::of(&object);
        let touched = |_: &_, old: Option<&StoredEnvironment>, new: Option<&StoredEnvironment>| {
            match (old, new) {
                (_, Some(new)) => self.departed.come(&new.object.name),
                (Some(old), None) => {
                    self.departed.leave(old.object.clone());
                    self.left.notify_one();
                }
                (None, None) => {}
            }
            if self.store.is_filled() {
                self.publish();
            }
        };
        self.store.follow(KIND, events, read, touched).await;
    }

    /// Publishes the first listing, which may be empty.
    async fn publish_first(&self) {
        self.store.filled().await;
        self.publish();
    }

    /// Publishes again whenever an Environment that was deleted loses its place.
    async fn end_departures(&self) {
        loop {
            match self.departed.next_end() {
                None => self.left.notified().await,
                Some(end) => {
                    tokio::time::sleep_until(end).await;
                    self.publish();
                }
            }
        }
    }

    fn publish(&self) {
        let stored = self.store.all();
        let objects: Vec<_> = stored.iter().map(|it| it.object.clone()).collect();
        let environments = Environments::with_departed(&objects, &self.departed.all());
        self.current.send_replace(Some(Arc::new(environments)));
    }

    /// Writes every status that differs.
    async fn report_all(&self, env: &Env) -> Result<(), Unwritten> {
        let environments = self.current.borrow().clone().unwrap_or_default();
        let mut result = Ok(());
        for stored in self.store.all() {
            let Err(error) = report_one(env, &environments, &stored).await else {
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

/// Watches Environments until the engine stops.
fn events(env: &Env) -> impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>> + use<> {
    let resource = ApiResource::erase::<Environment>(&());
    let api: Api<DynamicObject> = Api::all_with(env.client.clone(), &resource);
    let events = watcher(api, watcher::Config::default()).default_backoff();
    events
        .modify(|object| object.managed_fields_mut().clear())
        .take_until(env.stop.clone().cancelled_owned())
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

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::stream;
    use tokio::sync::mpsc;
    use watcher::Event;

    use super::*;

    fn mk_environment(name: &str, version: &str, spec: &serde_json::Value) -> DynamicObject {
        let object = json!({
            "apiVersion": "pathline.dev/v1alpha1",
            "kind": "Environment",
            "metadata": {"name": name, "resourceVersion": version, "uid": name},
            "spec": spec,
        });
        serde_json::from_value(object).expect("an object")
    }

    #[tokio::test]
    async fn environments_are_known_once_a_listing_is_whole_and_no_failure_takes_them_back() {
        let watched = Watched::default();
        let (send, receive) = mpsc::unbounded_channel();
        let events = stream::unfold(receive, async |mut it| Some((it.recv().await?, it)));
        let mut running =
            Box::pin(async { tokio::join!(watched.follow(events), watched.publish_first()) });
        let mut after = |events: Vec<watcher::Result<Event<DynamicObject>>>| {
            for event in events {
                send.send(event).expect("it is received");
            }
            // All that can happen by now has happened.
            for _ in 0..100 {
                assert!((&mut running).now_or_never().is_none());
            }
            let current = watched.current.borrow().clone();
            current.map(|it| {
                it.iter()
                    .map(|it| it.environment.name.clone())
                    .collect::<Vec<_>>()
            })
        };
        let failed = || Err(watcher::Error::NoResourceVersion);
        let dev = || mk_environment("dev", "1", &json!({"type": "dev"}));
        let prod = || mk_environment("prod", "2", &json!({"type": "prod"}));
        assert_eq!(after(vec![failed()]), None);
        assert_eq!(
            after(vec![Ok(Event::Init), Ok(Event::InitApply(dev()))]),
            None
        );
        assert_eq!(after(vec![failed(), Ok(Event::Init)]), None);
        let listed = vec![Ok(Event::InitApply(dev())), Ok(Event::InitDone)];
        assert_eq!(after(listed), Some(vec!["dev".to_owned()]));
        let both = Some(vec!["dev".to_owned(), "prod".to_owned()]);
        assert_eq!(after(vec![Ok(Event::Apply(prod()))]), both);
        assert_eq!(after(vec![failed(), Ok(Event::Init), failed()]), both);
        let listed = vec![Ok(Event::Init), Ok(Event::InitDone)];
        assert_eq!(after(listed), Some(Vec::new()), "an empty cluster has none");
    }

    #[tokio::test]
    async fn listing_without_environments_is_known_too() {
        let watched = Watched::default();
        let events = stream::iter([Ok(Event::Init), Ok(Event::InitDone)]);
        tokio::join!(watched.follow(events), watched.publish_first());
        let current = watched.current.borrow().clone();
        assert_eq!(current, Some(Arc::default()));
    }
}
