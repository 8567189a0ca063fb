//! Kubernetes Events about owners: told without waiting, published in the background.
//!
//! Nobody waits for an Event, so nothing here may hold a loop up or grow without end: what does not
//! fit into the queue is dropped, what repeats is counted, and one owner cannot drown the others.

mod recent;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use pathline_blueprint::model::API_VERSION;
use pathline_blueprint::owner::Owner;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::FIELD_MANAGER;
use crate::calls::{self, call};
use recent::{Recent, Verdict};

/// How many Events may wait to be published.
const MOST_WAITING: usize = 1024;

/// The longest note that the API accepts, in bytes.
const MOST_NOTE: usize = 1024;

/// After a failure the cluster gets this long to recover.
const PAUSE: Duration = Duration::from_secs(1);

/// What happened, in the words of an Event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct News {
    pub(crate) is_warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) note: String,
}

impl News {
    /// Says that something happened as it should.
    pub(crate) fn normal(reason: &'static str, note: String) -> Self {
        Self {
            is_warning: false,
            reason,
            note,
        }
    }

    /// Says that something happened that somebody should look at.
    pub(crate) fn warning(reason: &'static str, note: String) -> Self {
        Self {
            is_warning: true,
            reason,
            note,
        }
    }
}

/// Takes Events. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Events {
    queue: mpsc::Sender<(ObjectReference, News)>,
}

/// The Events that wait to be published.
pub(crate) struct Waiting {
    queue: mpsc::Receiver<(ObjectReference, News)>,
}

impl Events {
    pub(crate) fn new() -> (Self, Waiting) {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        (Self { queue: sender }, Waiting { queue: receiver })
    }

    /// Tells what happened to an owner.
    pub(crate) fn tell(&self, owner: &Owner, news: News) {
        let regarding = ObjectReference {
            api_version: Some(API_VERSION.to_owned()),
            kind: Some(owner.kind.name().to_owned()),
            namespace: Some(owner.namespace.clone()),
            name: Some(owner.name.clone()),
            uid: Some(owner.uid.clone()),
            ..ObjectReference::default()
        };
        if let Err(error) = self.queue.try_send((regarding, news)) {
            tracing::debug!(owner = owner.name, %error, "an event is dropped");
        }
    }
}

/// Publishes what is told, one Event after the other, until told to stop.
pub(crate) async fn publish(client: Client, mut waiting: Waiting, stop: CancellationToken) {
    let mut recent = Recent::default();
    let work = async {
        while let Some((regarding, news)) = waiting.queue.recv().await {
            let now = Timestamp::now();
            let published = match recent.judge(&regarding, &news, now) {
                Verdict::Suppress => continue,
                Verdict::Create(name) => create(&client, regarding, news, name, now).await,
                Verdict::Count { name, count } => {
                    count_once_more(&client, &regarding, &name, count, now).await
                }
            };
            if let Err(error) = published {
                tracing::debug!(error = error.message(), "an event is not published");
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    stop.run_until_cancelled(work).await;
}

async fn create(
    client: &Client,
    regarding: ObjectReference,
    news: News,
    name: String,
    now: Timestamp,
) -> Result<(), calls::Error> {
    let namespace = regarding.namespace.clone().unwrap_or_default();
    let event = Event {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(namespace.clone()),
            ..ObjectMeta::default()
        },
        action: Some("Reconcile".to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(shortened(news.note)),
        reason: Some(news.reason.to_owned()),
        regarding: Some(regarding),
        reporting_controller: Some(FIELD_MANAGER.to_owned()),
        reporting_instance: Some(FIELD_MANAGER.to_owned()),
        type_: Some(if news.is_warning { "Warning" } else { "Normal" }.to_owned()),
        ..Event::default()
    };
    let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
    call(api.create(&PostParams::default(), &event))
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
    let mut end = note.len().min(MOST_NOTE);
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
