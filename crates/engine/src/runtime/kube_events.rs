//! Kubernetes events about owners: recorded without waiting, published in the background.
//!
//! Nobody waits for an Event, so nothing here may hold a loop up or grow without end: what does not
//! fit into the queue is dropped, what repeats is counted, and one owner cannot drown the others.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use pathline_blueprint::owner::Owner;
use pathline_kinds::carto::API_VERSION;
use pathline_observe::kube_events::{Decision, KubeEvent, Recent};
use serde_json::json;
use tokio::sync::mpsc;

use crate::FIELD_MANAGER;
use crate::runtime::calls::{self, call};
use crate::runtime::env::Env;

/// The number of events that may wait to be published.
const MAX_WAITING: usize = 1024;

/// The longest note that the API accepts, in bytes.
const MAX_NOTE_BYTES: usize = 1024;

/// After a failure the cluster gets this long to recover.
const PAUSE: Duration = Duration::from_secs(1);

/// Records events for the publisher. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Recorder {
    queue: mpsc::Sender<(ObjectReference, KubeEvent)>,
}

/// Publishes the events that were recorded.
pub(crate) struct Publisher {
    queue: mpsc::Receiver<(ObjectReference, KubeEvent)>,
}

impl Recorder {
    pub(crate) fn new() -> (Self, Publisher) {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        (Self { queue: sender }, Publisher { queue: receiver })
    }

    /// Has an event about an owner published; it is dropped if too many wait.
    pub(crate) fn publish(&self, owner: &Owner, event: KubeEvent) {
        let regarding = ObjectReference {
            api_version: Some(API_VERSION.to_owned()),
            kind: Some(owner.kind.name().to_owned()),
            namespace: Some(owner.namespace.clone()),
            name: Some(owner.name.clone()),
            uid: Some(owner.uid.clone()),
            ..ObjectReference::default()
        };
        if let Err(error) = self.queue.try_send((regarding, event)) {
            tracing::debug!(owner = owner.name, %error, "an event is dropped");
        }
    }
}

impl Publisher {
    /// Publishes one event after the other, until the engine stops.
    pub(crate) async fn run(mut self, env: Env) {
        let client = &env.client;
        let mut recent = Recent::default();
        let work = async {
            while let Some((regarding, event)) = self.queue.recv().await {
                let now = env.clock.now();
                let published = match recent.decide(&regarding, &event, now) {
                    Decision::Suppress => continue,
                    Decision::Create(name) => create(client, regarding, event, name, now).await,
                    Decision::Count { name, count } => {
                        count_once_more(client, &regarding, &name, count, now).await
                    }
                };
                if let Err(error) = published {
                    tracing::debug!(error = error.message(), "an event is not published");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        env.stop.run_until_cancelled(work).await;
    }
}

async fn create(
    client: &Client,
    regarding: ObjectReference,
    event: KubeEvent,
    name: String,
    now: Timestamp,
) -> Result<(), calls::Error> {
    let namespace = regarding.namespace.clone().unwrap_or_default();
    let published = Event {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(namespace.clone()),
            ..ObjectMeta::default()
        },
        action: Some("Reconcile".to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(shortened(event.note)),
        reason: Some(event.reason.to_owned()),
        regarding: Some(regarding),
        reporting_controller: Some(FIELD_MANAGER.to_owned()),
        reporting_instance: Some(FIELD_MANAGER.to_owned()),
        type_: Some(
            if event.is_warning {
                "Warning"
            } else {
                "Normal"
            }
            .to_owned(),
        ),
        ..Event::default()
    };
    let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
    call(api.create(&PostParams::default(), &published))
        .await
        .map(drop)
}

async fn count_once_more(
    client: &Client,
    regarding: &ObjectReference,
    name: &str,
    count: i32,
    now: Timestamp,
) -> Result<(), calls::Error> {
    let series = EventSeries {
        count,
        last_observed_time: MicroTime(now),
    };
    let namespace = regarding.namespace.clone().unwrap_or_default();
    let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
    let patch = Patch::Merge(json!({"series": series}));
    call(api.patch(name, &PatchParams::default(), &patch))
        .await
        .map(drop)
}

fn shortened(mut note: String) -> String {
    let mut end = note.len().min(MAX_NOTE_BYTES);
    while !note.is_char_boundary(end) {
        end -= 1;
    }
    note.truncate(end);
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_fits_the_api() {
        assert_eq!(shortened("é".repeat(600)).len(), 1024);
        assert_eq!(shortened(format!("a{}", "é".repeat(600))).len(), 1023);
        assert_eq!(shortened("short".to_owned()), "short");
    }
}
