//! Whether an answer is about the present.
//!
//! What the ledger knows of an owner is as old as the last look at it. A change of the owner itself is
//! told by its generation; a change of its blueprint, of a template, or of a delivery on the other side
//! of git is not. So before somebody is told that it is over, these are read, and compared with what the
//! last look was made with. Whatever is newer wakes the owner, and so whoever waits.

use futures::future::try_join_all;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use pathline_blueprint::model::GROUP;
use pathline_blueprint::owner::OwnerKind;
use pathline_lineage::rollout::{Below, DeliveredBy, Object, ObjectName, judge};
use pathline_lineage::used::{Used, newer};
use pathline_lineage::{Artifact, Live, Stage, Track, track};

use crate::Doors;
use crate::names::OwnerName;
use crate::owners;
use crate::refusal::Refusal;

/// Says what has changed since the last look at an owner; with `live`, at the deliveries of what it
/// wrote, too.
pub(super) async fn outdated(
    doors: &Doors,
    track: &Track,
    live: bool,
) -> Result<Vec<String>, Refusal> {
    let now = generations(doors.cluster()?, &track.used).await?;
    let mut outdated = track.outdated(&now);
    if live {
        outdated.extend(stopped(doors.cluster()?, track).await?);
        for rollout in track.rollouts.values() {
            let is_done = rollout.stage == Stage::Done;
            for delivery in &rollout.deliveries {
                outdated.extend(of_delivery(doors, delivery, is_done).await?);
            }
        }
    }
    outdated.sort();
    outdated.dedup();
    Ok(outdated)
}

/// Says that an owner has a generation that nobody has looked at: it may say again what was
/// replaced.
pub(super) fn newer_owner(track: &Track, generation: Option<i64>) -> Vec<String> {
    let newer = generation.filter(|it| *it > track.generation);
    let told = |it| format!("generation {it} of the owner has not been looked at yet");
    newer.map(told).into_iter().collect()
}

/// Says what has changed since the last look at the owner whose commit a delivery has; `is_done` if that
/// look found that it runs.
async fn of_delivery(
    doors: &Doors,
    delivery: &DeliveredBy,
    is_done: bool,
) -> Result<Vec<String>, Refusal> {
    let name = OwnerName {
        namespace: delivery.namespace.clone(),
        name: delivery.name.clone(),
    };
    let title = format!("deliverable `{}/{}`", name.namespace, name.name);
    let object = owners::get_if_there(doors, OwnerKind::Deliverable, &name).await?;
    let Some(object) = object else {
        return Ok(vec![format!("{title} is gone")]);
    };
    let generation = object.metadata.generation.unwrap_or_default();
    let metadata = serde_json::to_value(&object.metadata).unwrap_or_default();
    let is_same = generation <= delivery.generation
        && (delivery.marks.is_empty() || track::marks(&metadata) == delivery.marks);
    if !is_same {
        let why = format!("{title} has been changed, and has not been looked at since");
        return Ok(vec![why]);
    }
    let now = generations(doors.cluster()?, &delivery.used).await?;
    let mut outdated = newer(&delivery.used, &now);
    let kind = OwnerKind::Deliverable.name();
    let ledger = doors.ledger()?;
    if let Some(track) = ledger.find_track(kind, &name.namespace, &name.name).await? {
        outdated.extend(stopped(doors.cluster()?, &track).await?);
        // The delivery may have been looked at since, and the one who wrote the commit not yet.
        let now = track.delivered();
        let revision = now.source.map(Artifact::shown);
        let is_elsewhere = delivery.revision.is_some() && delivery.revision.as_deref() != revision;
        if is_elsewhere || (is_done && now.live != Live::True) {
            outdated.push(format!("{title} does not run what it did"));
        }
    }
    Ok(outdated)
}

/// Says which processes do not run as they did at the last look: they end with Pathline, and are
/// started again before anybody looks.
async fn stopped(client: &Client, track: &Track) -> Result<Vec<String>, Refusal> {
    let mut stopped = Vec::new();
    let rollouts = track.rollouts.values();
    let done = rollouts.filter(|it| it.stage == Stage::Done && it.object.kind == "Process");
    for rollout in done {
        let ObjectName {
            namespace, name, ..
        } = &rollout.object;
        let gvk = GroupVersionKind::gvk("pathline.dev", "v1alpha1", "Process");
        let resource = ApiResource {
            plural: "processes".to_owned(),
            ..ApiResource::from_gvk(&gvk)
        };
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
        let found = owners::answer(api.get_opt(name)).await?;
        let found = found.and_then(|it| serde_json::to_value(it).ok());
        let runs = found.is_some_and(|it| {
            let now = judge(&Object::read(&it), &Below::default(), &[]);
            now.uid == rollout.uid && now.stage == Stage::Done
        });
        if !runs {
            stopped.push(format!("{} does not run as it did", rollout.object));
        }
    }
    Ok(stopped)
}

/// Returns the generations that those have now which were used, as far as they are there.
async fn generations(client: &Client, used: &Used) -> Result<Used, Refusal> {
    let asked = used.keys().map(async |key| {
        let now = generation_of(client, key).await?;
        Ok::<_, Refusal>(now.map(|now| (key.clone(), now)))
    });
    Ok(try_join_all(asked).await?.into_iter().flatten().collect())
}

/// Returns the generation of a cluster-scoped object, given as `Kind/name`, if it is there.
async fn generation_of(client: &Client, key: &str) -> Result<Option<i64>, Refusal> {
    let Some((kind, name)) = key.split_once('/') else {
        return Ok(None);
    };
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1alpha1", kind));
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let found = owners::answer(api.get_metadata_opt(name)).await?;
    Ok(found.and_then(|it| it.metadata.generation))
}
