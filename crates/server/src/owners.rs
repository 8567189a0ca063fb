//! Workloads and deliverables: what the cluster says of them, and what the ledger knows.

mod lineage;
mod nearest;
mod status;

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use pathline_blueprint::model::{Deliverable, Workload};
use pathline_blueprint::owner::OwnerKind;
use pathline_lineage::track;
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;
use utoipa::IntoParams;

use crate::Doors;
use crate::across;
use crate::api::{Owner, OwnerPage, OwnerRef, PathStep, example};
use crate::extract::{Path, Query};
use crate::names;
use crate::openapi::refusals::{Guarded, MayMiss, Outdated, Picky};
use crate::refusal::Refusal;

/// How long the cluster may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Which owners to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Only those of this namespace.
    #[param(
        example = "dev",
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length = 63
    )]
    namespace: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 500)]
    #[serde(default = "usual_limit")]
    limit: u32,
    /// The `continue` of the page before.
    #[serde(rename = "continue")]
    after: Option<String>,
}

fn usual_limit() -> u32 {
    100
}

/// List workloads
///
/// In the order of the cluster; a page at a time.
#[utoipa::path(
    get, path = "/workloads", tag = "owners", params(Wanted), security(("token" = ["read"])),
    responses(
        (status = 200, description = "Some workloads", body = OwnerPage, example = json!(example::owner_page())),
        Guarded, Picky, Outdated
    )
)]
pub(crate) async fn list_workloads(
    State(doors): State<Doors>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<OwnerPage>, Refusal> {
    list(&doors, OwnerKind::Workload, &wanted).await
}

/// List deliverables
///
/// In the order of the cluster; a page at a time.
#[utoipa::path(
    get, path = "/deliverables", tag = "owners", params(Wanted), security(("token" = ["read"])),
    responses(
        (status = 200, description = "Some deliverables", body = OwnerPage, example = json!(example::owner_page())),
        Guarded, Picky, Outdated
    )
)]
pub(crate) async fn list_deliverables(
    State(doors): State<Doors>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<OwnerPage>, Refusal> {
    list(&doors, OwnerKind::Deliverable, &wanted).await
}

/// Show a workload
///
/// Its path through the supply chain, what it gives and how far that has come, what comes out, and
/// how each of that came to be.
#[utoipa::path(
    get, path = "/workloads/{namespace}/{name}", tag = "owners", params(names::OwnerName),
    security(("token" = ["read"])),
    responses(
        (status = 200, description = "The workload", body = Owner, example = json!(example::owner())),
        Guarded, Picky, MayMiss
    )
)]
pub(crate) async fn show_workload(
    State(doors): State<Doors>,
    Path(name): Path<names::OwnerName>,
) -> Result<Json<Owner>, Refusal> {
    show(&doors, OwnerKind::Workload, &name).await
}

/// Show a deliverable
///
/// Its path through the delivery, what it gives and how far that has come, what comes out, and how
/// each of that came to be, across git down to what the commit was made of that it runs.
#[utoipa::path(
    get, path = "/deliverables/{namespace}/{name}", tag = "owners", params(names::OwnerName),
    security(("token" = ["read"])),
    responses(
        (status = 200, description = "The deliverable", body = Owner, example = json!(example::delivery())),
        Guarded, Picky, MayMiss
    )
)]
pub(crate) async fn show_deliverable(
    State(doors): State<Doors>,
    Path(name): Path<names::OwnerName>,
) -> Result<Json<Owner>, Refusal> {
    show(&doors, OwnerKind::Deliverable, &name).await
}

async fn list(doors: &Doors, kind: OwnerKind, wanted: &Wanted) -> Result<Json<OwnerPage>, Refusal> {
    if !(1..=500).contains(&wanted.limit) {
        return Err(Refusal::bad_request(
            "limit: a number from 1 to 500 is expected",
        ));
    }
    let client = doors.cluster()?.clone();
    let resource = resource(kind);
    let api: Api<DynamicObject> = match &wanted.namespace {
        Some(namespace) => {
            names::check_label("namespace", namespace)?;
            Api::namespaced_with(client, namespace, &resource)
        }
        None => Api::all_with(client, &resource),
    };
    let mut page = ListParams::default().limit(wanted.limit);
    page.continue_token.clone_from(&wanted.after);
    let found = answer(api.list(&page)).await?;
    let next = found.metadata.continue_.filter(|next| !next.is_empty());
    let items = found.items.iter().map(|it| status::summary(kind, it));
    Ok(Json(OwnerPage {
        items: items.collect(),
        next,
    }))
}

async fn show(
    doors: &Doors,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<Json<Owner>, Refusal> {
    let ledger = doors.ledger()?;
    let object = get(doors, kind, name).await?;
    let summary = status::summary(kind, &object);
    let known = ledger.track(&summary.owner.uid).await?;
    let track = known.unwrap_or_default();
    let mut outputs = lineage::outputs(&track, kind);
    across::extend(ledger, &summary.owner.uid, &mut outputs).await?;
    Ok(Json(Owner {
        live: track.live().to_string(),
        live_generation: track.live_generation,
        nearest: nearest::find(doors, kind, &object, &summary).await,
        path: status::path(&object),
        inputs: lineage::inputs(&track),
        outputs,
        lineage: lineage::derivations(&track),
        summary,
    }))
}

/// Returns the path of an owner as it is now; none if the owner is gone.
pub(crate) async fn path_of(doors: &Doors, owner: &OwnerRef) -> Result<Vec<PathStep>, Refusal> {
    let client = doors.cluster()?.clone();
    let kind = OwnerKind::ALL
        .into_iter()
        .find(|it| it.name() == owner.kind);
    let Some(kind) = kind else {
        return Ok(Vec::new());
    };
    let api: Api<DynamicObject> = Api::namespaced_with(client, &owner.namespace, &resource(kind));
    let object = answer(api.get_opt(&owner.name)).await?;
    let object = object.filter(|it| it.uid().as_ref() == Some(&owner.uid));
    Ok(object.as_ref().map(status::path).unwrap_or_default())
}

/// An owner as it is now, for those who wait for it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) uid: String,
    pub(crate) generation: i64,
    /// The digest of what can change without a new generation.
    pub(crate) marks: String,
}

impl Found {
    /// Takes from an owner what tells it from others, and from itself at another time.
    pub(crate) fn of(object: &DynamicObject) -> Self {
        let metadata = json!({
            "labels": object.metadata.labels,
            "annotations": object.metadata.annotations,
        });
        Self {
            uid: object.uid().unwrap_or_default(),
            generation: object.metadata.generation.unwrap_or_default(),
            marks: track::marks(&metadata),
        }
    }
}

/// Finds an owner, if it is there now.
pub(crate) async fn find(
    doors: &Doors,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<Option<Found>, Refusal> {
    let object = get_if_there(doors, kind, name).await?;
    Ok(object.as_ref().map(Found::of))
}

/// Returns an owner as the cluster has it now.
pub(crate) async fn get(
    doors: &Doors,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<DynamicObject, Refusal> {
    let object = get_if_there(doors, kind, name).await?;
    object.ok_or_else(|| {
        let (noun, names::OwnerName { namespace, name }) = (kind.noun(), name);
        Refusal::not_found(format!(
            "there is no {noun} `{name}` in namespace `{namespace}`"
        ))
        .with_hint("check its name and its namespace, or apply it first")
    })
}

/// Returns an owner as it is now, if it is there.
pub(crate) async fn get_if_there(
    doors: &Doors,
    kind: OwnerKind,
    name: &names::OwnerName,
) -> Result<Option<DynamicObject>, Refusal> {
    name.check()?;
    answer(api(doors.cluster()?, kind, &name.namespace).get_opt(&name.name)).await
}

/// Returns the owners of a kind in a namespace.
pub(crate) fn api(client: &kube::Client, kind: OwnerKind, namespace: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), namespace, &resource(kind))
}

/// Returns the owners of a kind in all namespaces.
pub(crate) fn everywhere(client: &kube::Client, kind: OwnerKind) -> Api<DynamicObject> {
    Api::all_with(client.clone(), &resource(kind))
}

/// Waits for the cluster, but not for ever.
pub(crate) async fn answer<T>(asked: impl Future<Output = kube::Result<T>>) -> Result<T, Refusal> {
    let answered = timeout(PATIENCE, asked).await;
    let answered = answered.map_err(|_| Refusal::unavailable("the cluster does not answer"))?;
    Ok(answered?)
}

fn resource(kind: OwnerKind) -> ApiResource {
    match kind {
        OwnerKind::Workload => ApiResource::erase::<Workload>(&()),
        OwnerKind::Deliverable => ApiResource::erase::<Deliverable>(&()),
    }
}
