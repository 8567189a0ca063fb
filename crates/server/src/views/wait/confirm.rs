//! Reads the objects by which an answer is confirmed before it is given.
//!
//! [`Confirmation`] decides which objects these are, and what it means that one differs.

use futures::future::try_join_all;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use pathline_blueprint::owner::OwnerKind;
use pathline_kinds::carto::GROUP;
use pathline_lineage::rollout::ObjectName;
use pathline_lineage::wait::Confirmation;
use pathline_lineage::wait::confirmation::{ConfirmedDelivery, DeliveryVersion};
use serde_json::Value;

use super::final_objects;
use crate::AppState;
use crate::error::ApiError;
use crate::views::names::OwnerName;
use crate::views::owners::{self, OwnerVersion};

/// Says what keeps an answer about an owner from being given.
pub(super) async fn differences(
    state: &AppState,
    kind: OwnerKind,
    name: &OwnerName,
    confirmation: &Confirmation<'_>,
) -> Result<Vec<String>, ApiError> {
    let mut differences = Vec::new();
    if let Some(owner) = confirmation.owner {
        let now = owners::get_if_there(state, kind, name).await?;
        differences.extend(owner.difference(now.and_then(|it| it.metadata.generation)));
    }
    differences.extend(of_reconcile(state, confirmation).await?);
    for delivery in &confirmation.deliveries {
        differences.extend(of_delivery(state, delivery).await?);
    }
    differences.sort();
    differences.dedup();
    if !differences.is_empty() || confirmation.finals.is_empty() {
        return Ok(differences);
    }
    let Some(owner) = owners::get_if_there(state, kind, name).await? else {
        return Ok(differences);
    };
    let finals = &confirmation.finals;
    Ok(final_objects::differences(state.cluster()?, &owner, finals).await)
}

/// Reads what a reconcile was made with, and the processes that it found running.
async fn of_reconcile(
    state: &AppState,
    confirmation: &Confirmation<'_>,
) -> Result<Vec<String>, ApiError> {
    let client = state.cluster()?;
    let used = confirmation.used.iter().map(async |it| {
        let now = generation_of(client, it.key).await?;
        Ok::<_, ApiError>(it.difference(now))
    });
    let used = try_join_all(used).await?.into_iter().flatten();
    let mut differences: Vec<_> = used.collect();
    for ran in &confirmation.processes {
        let now = process(client, ran.object).await?;
        differences.extend(ran.difference(now.as_ref()));
    }
    Ok(differences)
}

/// Reads a deliverable and, if that is as it was, what it uses and runs.
async fn of_delivery(
    state: &AppState,
    delivery: &ConfirmedDelivery<'_>,
) -> Result<Vec<String>, ApiError> {
    let (kind, name) = (
        OwnerKind::Deliverable,
        OwnerName {
            namespace: delivery.namespace().to_owned(),
            name: delivery.name().to_owned(),
        },
    );
    let now = owners::find(state, kind, &name).await?;
    let now = now.as_ref().map(|it: &OwnerVersion| DeliveryVersion {
        generation: it.generation,
        metadata_digest: &it.metadata_digest,
    });
    if let Some(difference) = delivery.difference(now) {
        return Ok(vec![difference]);
    }
    let OwnerName { namespace, name } = &name;
    let ledger = state.ledger()?.lineage();
    let lineage = ledger.find(kind.name(), namespace, name).await?;
    let mut differences = of_reconcile(state, &delivery.confirmation(lineage.as_ref())).await?;
    differences.extend(lineage.and_then(|it| delivery.difference_of_source(&it)));
    Ok(differences)
}

/// Returns a process, if it is there.
async fn process(client: &Client, object: &ObjectName) -> Result<Option<Value>, ApiError> {
    let gvk = GroupVersionKind::gvk("pathline.dev", "v1alpha1", "Process");
    let resource = ApiResource {
        plural: "processes".to_owned(),
        ..ApiResource::from_gvk(&gvk)
    };
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), &object.namespace, &resource);
    let found = owners::answer(api.get_opt(&object.name)).await?;
    Ok(found.and_then(|it| serde_json::to_value(it).ok()))
}

/// Returns the generation of a cluster-scoped object, given as `Kind/name`, if it is there.
async fn generation_of(client: &Client, key: &str) -> Result<Option<i64>, ApiError> {
    let Some((kind, name)) = key.split_once('/') else {
        return Ok(None);
    };
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1alpha1", kind));
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let found = owners::answer(api.get_metadata_opt(name)).await?;
    Ok(found.and_then(|it| it.metadata.generation))
}
