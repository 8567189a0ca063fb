//! The life of a definition: its names are accepted, it is established, and at its end its objects
//! go before it does.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{CLEANUP_FINALIZER, condition, set_condition, text, texts};
use crate::api::Api;
use crate::api::registry::definitions;
use crate::deletion::{has_finalizer, is_deleting, without_finalizer};
use crate::store::{Collection, Stored};

/// The pause after a failed attempt.
const PAUSE: Duration = Duration::from_secs(1);

/// Looks after every definition until `shutdown`.
pub(crate) async fn run(api: Arc<Api>, shutdown: CancellationToken) {
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = follow(&api) => {}
    }
}

async fn follow(api: &Arc<Api>) {
    loop {
        let revision = settle_all(api).await;
        if wait_for_work(api, revision).await.is_none() {
            tracing::debug!("the history has moved on; looking at all definitions again");
        }
    }
}

/// Brings every definition one step forward; returns the revision it looked at.
async fn settle_all(api: &Arc<Api>) -> u64 {
    let snapshot = api.store.list(&definitions(), None);
    for stored in &snapshot.items {
        if let Err(error) = settle(api, stored).await {
            tracing::warn!(definition = %stored.key.name, %error, "trying again");
            tokio::time::sleep(PAUSE).await;
        }
    }
    api.registry.refresh(&api.store);
    snapshot.revision
}

/// Waits until something changes that a definition may be waiting for: definitions themselves, and
/// the objects of those that are being deleted.
async fn wait_for_work(api: &Arc<Api>, revision: u64) -> Option<()> {
    let ending: BTreeSet<Collection> = api
        .store
        .list(&definitions(), None)
        .items
        .iter()
        .filter(|stored| is_deleting(stored.object()))
        .map(|stored| instances(stored.object()))
        .collect();
    let mut watch = api.store.watch_everything(revision).ok()?;
    loop {
        let event = watch.next().await.ok()?;
        let collection = &event.current.key.collection;
        if *collection == definitions() || ending.contains(collection) {
            return Some(());
        }
    }
}

fn instances(object: &Value) -> Collection {
    let spec = &object["spec"];
    Collection::new(&text(&spec["group"]), &text(&spec["names"]["plural"]))
}

async fn settle(api: &Arc<Api>, stored: &Arc<Stored>) -> Result<(), crate::status::Status> {
    let object = if is_deleting(stored.object()) {
        if !has_finalizer(stored.object(), CLEANUP_FINALIZER) {
            return Ok(());
        }
        match clean_up(api, stored).await? {
            Some(object) => object,
            None => return Ok(()),
        }
    } else {
        accept(api, stored)
    };
    if object != *stored.object() {
        let resource = api.definition_resource();
        api.replace(&resource, stored, object).await?;
    }
    Ok(())
}

/// Deletes the objects of a definition; returns it without its finalizer when none is left.
async fn clean_up(api: &Arc<Api>, stored: &Stored) -> Result<Option<Value>, crate::status::Status> {
    let collection = instances(stored.object());
    let kinds = api.registry.kinds();
    let resource = kinds
        .all()
        .find(|it| it.is_custom() && it.collection == collection);
    if let Some(resource) = resource {
        api.delete_all(resource).await?;
    }
    let left = api.store.list(&collection, None).items.len();
    if left > 0 {
        return Ok(None);
    }
    Ok(Some(without_finalizer(stored.object(), CLEANUP_FINALIZER)))
}

/// Accepts the names of a definition unless another one has them, and establishes it.
fn accept(api: &Api, stored: &Stored) -> Value {
    let mut object = stored.object().clone();
    let now = api.clock.now();
    if let Some(taken) = taken_name(api, stored) {
        let message = format!("{taken:?} is already in use");
        let refused = condition("NamesAccepted", false, "NamesConflict", &message, now);
        set_condition(&mut object, refused);
        if !super::has_condition(&object, "Established") {
            let message = "not all names are accepted";
            let waiting = condition("Established", false, "NotAccepted", message, now);
            set_condition(&mut object, waiting);
        }
        return object;
    }
    object["status"]["acceptedNames"] = object["spec"]["names"].clone();
    let accepted = condition(
        "NamesAccepted",
        true,
        "NoConflicts",
        "no conflicts found",
        now,
    );
    set_condition(&mut object, accepted);
    // A definition with accepted names is served as soon as it is stored. It is established by a
    // second write, so that nobody who sees that finds it missing.
    if !super::has_condition(stored.object(), "NamesAccepted") {
        return object;
    }
    let message = "the initial names have been accepted";
    let established = condition("Established", true, "InitialNamesAccepted", message, now);
    set_condition(&mut object, established);
    object
}

/// Returns a name of this definition that another resource of its group has.
fn taken_name(api: &Api, stored: &Stored) -> Option<String> {
    let names = &stored.object()["spec"]["names"];
    let group = text(&stored.object()["spec"]["group"]);
    let plural = text(&names["plural"]);
    let kinds = api.registry.kinds();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for other in kinds
        .all()
        .filter(|it| it.group == group && it.plural != plural)
    {
        used.extend(
            [
                &other.plural,
                &other.singular,
                &other.kind,
                &other.list_kind,
            ]
            .map(Clone::clone),
        );
        used.extend(other.short_names.iter().cloned());
    }
    let own = ["plural", "singular", "kind", "listKind"].map(|key| text(&names[key]));
    own.into_iter()
        .chain(texts(&names["shortNames"]))
        .find(|name| used.contains(name))
}
