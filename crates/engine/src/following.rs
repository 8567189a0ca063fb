//! Following one of the kinds that are looked at.

use futures::StreamExt;
use kube::api::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use tokio_util::sync::CancellationToken;

use crate::objects::{Objects, key_of};
use crate::wakeups::{Reconciled, Wakeups};

/// Keeps the cache of a kind, and wakes those that change, until told to stop.
pub(crate) async fn follow(
    kind: Reconciled,
    client: Client,
    wakeups: Wakeups,
    objects: Objects,
    stop: CancellationToken,
) {
    let api: Api<DynamicObject> = Api::all_with(client, &kind.resource());
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let events = events.modify(|object| object.managed_fields_mut().clear());
    let mut events = std::pin::pin!(events.take_until(stop.cancelled_owned()));
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(kind = kind.name(), %error, "a watch failed; it is tried again");
                continue;
            }
        };
        let touched = match &event {
            watcher::Event::Apply(object) | watcher::Event::Delete(object) => Some(key_of(object)),
            watcher::Event::Init | watcher::Event::InitApply(_) | watcher::Event::InitDone => None,
        };
        let is_listed = matches!(event, watcher::Event::InitDone);
        // The cache first: whoever wakes up must see what woke it.
        objects.observe(event);
        if let Some(key) = touched {
            wakeups.wake(kind, &key.namespace, &key.name);
        }
        if is_listed {
            wakeups.wake_all(kind);
        }
    }
}
