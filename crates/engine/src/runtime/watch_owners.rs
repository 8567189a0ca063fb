//! The watch on one of the kinds that are reconciled.

use futures::StreamExt;
use kube::api::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, ResourceExt};

use crate::runtime::env::Env;
use crate::runtime::queues::OwnedKind;
use crate::runtime::store::Store;
use crate::runtime::stored_owner::StoredOwner;

/// Keeps the store of a kind current, and queues objects that change, until the engine stops.
pub(crate) async fn watch_owners(kind: OwnedKind, env: &Env, owners: &Store<StoredOwner>) {
    let api: Api<DynamicObject> = Api::all_with(env.client.clone(), &kind.resource());
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let events = events.modify(|object| object.managed_fields_mut().clear());
    let events = events.take_until(env.stop.clone().cancelled_owned());
    let read = |object: DynamicObject| {
        let revision = object.resource_version().and_then(|it| it.parse().ok());
        if let Some(revision) = revision {
            env.ledger.note_revision(revision);
        }
        StoredOwner::new(&object)
    };
    owners
        .follow(kind.name(), events, read, |key, _, _| {
            env.queues.wake(kind, &key.namespace, &key.name);
        })
        .await;
}
