//! Workloads and deliverables: what the cluster says of them, and what the ledger knows.

mod lineage;
mod nearest;
mod status;

use std::time::Duration;

use kube::ResourceExt;
use kube::api::{Api, DynamicObject, ListParams};
use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::{Owner, OwnerPage, OwnerRef, PathStep};
use pathline_engine::{OwnerVersion, owner_resource};
use tokio::time::timeout;

use crate::AppState;
use crate::error::ApiError;
use crate::views::across;
use crate::views::names;

/// The time that the cluster may take.
pub(crate) const CLUSTER_TIMEOUT: Duration = Duration::from_secs(20);

/// A question for owners of one kind, a page at a time.
#[derive(Debug)]
pub(crate) struct ListOwners {
    pub(crate) kind: OwnerKind,
    /// Only those of this namespace.
    pub(crate) namespace: Option<String>,
    /// The most that are listed, from 1 to 500.
    pub(crate) limit: u32,
    /// The `next` of the page before.
    pub(crate) after: Option<String>,
}

/// Lists owners in the order of the cluster.
pub(crate) async fn list(state: &AppState, asked: &ListOwners) -> Result<OwnerPage, ApiError> {
    if !(1..=500).contains(&asked.limit) {
        return Err(ApiError::bad_request(
            "limit: a number from 1 to 500 is expected",
        ));
    }
    let client = state.cluster()?.clone();
    let resource = owner_resource(asked.kind);
    let api: Api<DynamicObject> = match &asked.namespace {
        Some(namespace) => {
            names::check_label("namespace", namespace)?;
            Api::namespaced_with(client, namespace, &resource)
        }
        None => Api::all_with(client, &resource),
    };
    let mut page = ListParams::default().limit(asked.limit);
    page.continue_token.clone_from(&asked.after);
    let found = answer(api.list(&page)).await?;
    let next = found.metadata.continue_.filter(|next| !next.is_empty());
    let items = found.items.iter().map(|it| status::summary(asked.kind, it));
    Ok(OwnerPage {
        items: items.collect(),
        next,
    })
}

/// Shows an owner: its path, what it gives, what comes out, and how each of that came to be.
pub(crate) async fn show(
    state: &AppState,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<Owner, ApiError> {
    let ledger = state.ledger()?;
    let object = get(state, kind, name).await?;
    let summary = status::summary(kind, &object);
    let known = ledger.lineage().get(&summary.owner.uid).await?;
    let lineage = known.unwrap_or_default();
    let mut outputs = lineage::outputs(&lineage, kind);
    across::extend(ledger, &summary.owner.uid, &mut outputs).await?;
    Ok(Owner {
        live: lineage.live().to_string(),
        live_generation: lineage.live_generation,
        nearest: nearest::find(state, kind, &object, &summary).await,
        lost_templates: lineage.lost_templates().map(str::to_owned).collect(),
        path: status::path(&object),
        inputs: lineage::inputs(&lineage),
        outputs,
        lineage: lineage::derivations(&lineage),
        summary,
    })
}

/// Returns the path of an owner as it is now; none if the owner is gone.
pub(crate) async fn path_of(state: &AppState, owner: &OwnerRef) -> Result<Vec<PathStep>, ApiError> {
    let client = state.cluster()?.clone();
    let kind = OwnerKind::ALL
        .into_iter()
        .find(|it| it.name() == owner.kind);
    let Some(kind) = kind else {
        return Ok(Vec::new());
    };
    let api: Api<DynamicObject> =
        Api::namespaced_with(client, &owner.namespace, &owner_resource(kind));
    let object = answer(api.get_opt(&owner.name)).await?;
    let object = object.filter(|it| it.uid().as_ref() == Some(&owner.uid));
    Ok(object.as_ref().map(status::path).unwrap_or_default())
}

/// Finds an owner, if it is there now.
pub(crate) async fn find(
    state: &AppState,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<Option<OwnerVersion>, ApiError> {
    let object = get_if_there(state, kind, name).await?;
    Ok(object.as_ref().map(OwnerVersion::of))
}

/// Returns an owner as the cluster has it now.
pub(crate) async fn get(
    state: &AppState,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<DynamicObject, ApiError> {
    let object = get_if_there(state, kind, name).await?;
    object.ok_or_else(|| {
        let (noun, names::OwnerName { namespace, name }) = (kind.noun(), name);
        ApiError::not_found(format!(
            "there is no {noun} `{name}` in namespace `{namespace}`"
        ))
        .with_hint("check its name and its namespace, or apply it first")
    })
}

/// Returns an owner as it is now, if it is there.
pub(crate) async fn get_if_there(
    state: &AppState,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<Option<DynamicObject>, ApiError> {
    name.check()?;
    answer(api(state.cluster()?, kind, &name.namespace).get_opt(&name.name)).await
}

/// Returns the owners of a kind in a namespace.
pub(crate) fn api(client: &kube::Client, kind: OwnerKind, namespace: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), namespace, &owner_resource(kind))
}

/// Returns the owners of a kind in all namespaces.
pub(crate) fn everywhere(client: &kube::Client, kind: OwnerKind) -> Api<DynamicObject> {
    Api::all_with(client.clone(), &owner_resource(kind))
}

/// Waits for the cluster, but not for ever.
pub(crate) async fn answer<T>(asked: impl Future<Output = kube::Result<T>>) -> Result<T, ApiError> {
    let answered = timeout(CLUSTER_TIMEOUT, asked).await;
    let answered = answered.map_err(|_| ApiError::unavailable("the cluster does not answer"))?;
    Ok(answered?)
}
