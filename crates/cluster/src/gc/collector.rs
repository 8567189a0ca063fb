//! Carries out what was decided about one object.

use std::sync::Arc;

use futures::future;
use jiff::Timestamp;
use serde_json::Value;

use super::graph::{Graph, owners, uid};
use super::locate::locate;
use super::verdict::{Owner, Verdict, judge, waits_for_dependents};
use crate::api::hold_for_cleanup;
use crate::deletion::{self, Deletion, FOREGROUND, ORPHAN, Propagation};
use crate::store::{Change, Collection, Expect, Key, Refused, Store, Stored, Write};

/// The consequence of a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing; an event will tell if there is more to do.
    Nothing,
    /// These objects should be looked at.
    Examine(Vec<Key>),
}

/// Looks at one object and does what is to be done about it now.
///
/// # Errors
/// Fails if a write is refused; the object should be looked at again.
pub(super) async fn examine(
    store: &Store,
    graph: &Graph,
    key: &Key,
    now: Timestamp,
) -> Result<Next, Refused> {
    let Some(item) = store.get(key) else {
        return Ok(Next::Nothing);
    };
    let dependents: Vec<Arc<Stored>> = graph
        .dependents(item.uid())
        .filter_map(|key| store.get(key))
        .collect();
    let states: Vec<Owner> = owners(item.object())
        .map(|reference| owner_state(store, reference, &item.key.namespace))
        .collect();
    let objects: Vec<&Value> = dependents
        .iter()
        .map(|dependent| dependent.object())
        .collect();
    match judge(item.object(), &states, &objects) {
        Verdict::Keep => Ok(Next::Nothing),
        Verdict::Release(lost) => {
            put(
                store,
                &item,
                without_owners(item.object(), |owner| lost.contains(&owner.to_owned())),
            )
            .await
        }
        Verdict::Delete {
            propagation,
            unblock,
        } => delete(store, &item, propagation, unblock, now).await,
        Verdict::ExamineDependents => Ok(Next::Examine(
            dependents
                .iter()
                .map(|dependent| dependent.key.clone())
                .collect(),
        )),
        Verdict::LetGo => {
            put(
                store,
                &item,
                deletion::without_finalizer(item.object(), FOREGROUND),
            )
            .await
        }
        Verdict::Orphan => orphan(store, &item, &dependents).await,
    }
}

/// Deletes `item` as a client would.
pub(super) async fn delete(
    store: &Store,
    item: &Stored,
    propagation: Propagation,
    unblock: bool,
    now: Timestamp,
) -> Result<Next, Refused> {
    let mut object = match is_definition(item) {
        true => hold_for_cleanup(item.object(), now),
        false => item.object().clone(),
    };
    if unblock && let Some(owners) = object["metadata"]["ownerReferences"].as_array_mut() {
        for owner in owners {
            owner["blockOwnerDeletion"] = false.into();
        }
    }
    let how = Deletion {
        propagation: Some(propagation),
        ..Deletion::default()
    };
    match deletion::delete(&object, how, now).into_change() {
        Some(change) => write(store, item, change).await,
        None => Ok(Next::Nothing),
    }
}

/// Writes a new state of `item`, or removes it if it is being deleted and nothing holds it now.
pub(super) async fn put(store: &Store, item: &Stored, object: Value) -> Result<Next, Refused> {
    write(store, item, deletion::settle(object)).await
}

async fn orphan(store: &Store, item: &Stored, dependents: &[Arc<Stored>]) -> Result<Next, Refused> {
    let releases = dependents.iter().map(|dependent| {
        put(
            store,
            dependent,
            without_owners(dependent.object(), |owner| owner == item.uid()),
        )
    });
    future::try_join_all(releases).await?;
    put(
        store,
        item,
        deletion::without_finalizer(item.object(), ORPHAN),
    )
    .await
}

async fn write(store: &Store, item: &Stored, change: Change) -> Result<Next, Refused> {
    let expect = Expect::Revision(item.revision);
    let write = Write {
        key: item.key.clone(),
        expect,
        change,
        needs_namespace: false,
    };
    store.write(write).await.map(|_| Next::Nothing)
}

/// Returns whether `item` is a CustomResourceDefinition, which goes after its objects.
fn is_definition(item: &Stored) -> bool {
    let Collection { group, resource } = &item.key.collection;
    (&**group, &**resource) == ("apiextensions.k8s.io", "customresourcedefinitions")
}

fn owner_state(store: &Store, reference: &Value, namespace: &str) -> Owner {
    let Some(key) = locate(store, reference, namespace) else {
        return Owner::Solid;
    };
    match store.get(&key) {
        Some(owner) if owner.uid() != uid(reference) => Owner::Gone,
        Some(owner) if waits_for_dependents(owner.object()) => Owner::Waiting,
        Some(_) => Owner::Solid,
        None => Owner::Gone,
    }
}

fn without_owners(object: &Value, lost: impl Fn(&str) -> bool) -> Value {
    let mut released = object.clone();
    let kept: Vec<Value> = owners(object)
        .filter(|owner| !lost(uid(owner)))
        .cloned()
        .collect();
    if let Some(metadata) = released["metadata"].as_object_mut() {
        if kept.is_empty() {
            metadata.remove("ownerReferences");
        } else {
            metadata.insert("ownerReferences".into(), kept.into());
        }
    }
    released
}
