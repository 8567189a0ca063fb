//! Environments of the cluster: which there are, in which order, and how they are now.

mod cache;
pub(crate) mod view;

use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::{Client, ResourceExt};
use pathline_client::api;
use pathline_kinds::environment::Environment as EnvironmentKind;
use pathline_ledger::releases::Releases;
use pathline_release::environment::{EnvironmentObject, Environments};
use pathline_release::queue::{Environment, Flow, Holds};
use serde_json::Value;
use tokio::time::timeout;

pub(crate) use self::cache::EnvironmentCache;

use self::view::Present;
pub(crate) use self::view::hold;
use crate::AppState;
use crate::error::ApiError;
use crate::views::owners::CLUSTER_TIMEOUT;

/// The most Environments that are read. More are not meant to be: each is a place, not a copy of one.
const MAX_ENVIRONMENTS: u32 = 500;

/// The environments that releases go through now, and the holds of them as a whole.
pub(crate) struct Course {
    pub(crate) environments: Environments,
    pub(crate) halts: Holds,
}

impl Course {
    /// Reads the environments of the cluster, and the holds in the ledger.
    pub(crate) async fn load(state: &AppState) -> Result<Self, ApiError> {
        Ok(Self {
            environments: load(state).await?,
            halts: state.ledger()?.releases().environment_holds().await?,
        })
    }

    pub(crate) fn flow(&self) -> &Flow {
        self.environments.flow()
    }
}

/// Reads the environments of the cluster. There is none where the kind is not installed.
pub(crate) async fn load(state: &AppState) -> Result<Environments, ApiError> {
    let objects = objects(state.cluster()?).await?;
    Ok(Environments::of(&objects))
}

/// Reads the environments of the cluster for something that is worth showing without them.
pub(crate) async fn load_if_possible(state: &AppState) -> Option<Environments> {
    // Whoever has no cluster, or one that does not answer, has said so in the log.
    load(state).await.ok()
}

/// Lists the environments in the order in which releases go through them; those without a place come last.
pub(crate) async fn list(state: &AppState) -> Result<Vec<api::Environment>, ApiError> {
    let objects = objects(state.cluster()?).await?;
    let environments = Environments::of(&objects);
    let releases = state.ledger()?.releases();
    let present = Present {
        environments: &environments,
        halts: releases.environment_holds().await?,
        tracker_holds: releases.tracker_holds().await?,
        counts: releases.counts().await?,
        now: state.clock().now(),
    };
    let flow = environments.flow().environments();
    let place = |name: &str| flow.iter().position(|it| it.name == name);
    let mut listed: Vec<&EnvironmentObject> = objects.iter().collect();
    listed.sort_by_key(|it| (place(&it.name).unwrap_or(usize::MAX), it.name.clone()));
    Ok(listed.into_iter().map(|it| present.view(it)).collect())
}

/// Returns the environment of a name, or says which there are.
pub(crate) fn find<'a>(flow: &'a Flow, name: &str) -> Result<&'a Environment, ApiError> {
    flow.get(name).ok_or_else(|| missing(flow, name))
}

/// Returns the error that there is no such environment.
pub(crate) fn missing(flow: &Flow, name: &str) -> ApiError {
    let names: Vec<_> = flow
        .environments()
        .iter()
        .map(|it| format!("`{}`", it.name))
        .collect();
    let hint = match names.is_empty() {
        true => {
            "there is none; make one with `kubectl apply`, as docs/releases.md shows".to_owned()
        }
        false => format!("there are {}", names.join(", ")),
    };
    ApiError::not_found(format!("there is no environment `{name}`")).with_hint(hint)
}

/// Returns the next instant at which an environment takes something that is not held.
pub(crate) fn next_tick(
    environments: &Environments,
    name: &str,
    now: Timestamp,
) -> Option<Timestamp> {
    let environment = environments.get(name)?;
    environment.environment.next_open_tick(now)
}

/// Returns the holds of environments as a whole.
pub(crate) async fn halts(releases: Releases<'_>) -> Result<Holds, ApiError> {
    Ok(releases.environment_holds().await?)
}

async fn objects(client: &Client) -> Result<Vec<EnvironmentObject>, ApiError> {
    let resource = ApiResource::erase::<EnvironmentKind>(&());
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let page = ListParams::default().limit(MAX_ENVIRONMENTS);
    let listed = timeout(CLUSTER_TIMEOUT, api.list(&page)).await;
    let listed = listed.map_err(|_| ApiError::unavailable("the cluster does not answer"))?;
    match listed {
        Ok(found) => Ok(found.items.iter().map(object).collect()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(kube::Error::Api(status)) if status.code == 403 => {
            Err(ApiError::cluster_forbidden("environments"))
        }
        Err(error) => Err(error.into()),
    }
}

fn object(object: &DynamicObject) -> EnvironmentObject {
    let created = object.creation_timestamp();
    EnvironmentObject {
        name: object.name_any(),
        created: created.map(|it| it.0),
        spec: object.data.get("spec").cloned().unwrap_or(Value::Null),
        is_terminating: object.metadata.deletion_timestamp.is_some(),
    }
}
