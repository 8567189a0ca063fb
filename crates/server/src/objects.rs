//! Any object of the cluster: what is it made of?
//!
//! From a pod, say, its controllers are followed up to the object that was stamped, and from there to
//! the owner. What it is made of is what was stamped when it was made, not what its owner wants now.

mod climbing;
mod kinds;

use axum::Json;
use axum::extract::State;
use pathline_lineage::running::{Revision, Running};
use serde::Deserialize;
use utoipa::IntoParams;

use self::climbing::Way;
pub(crate) use self::climbing::ask;
pub(crate) use self::kinds::resolve;
use crate::Doors;
use crate::across;
use crate::api::{ObjectLineage, example};
use crate::extract::Path;
use crate::names;
use crate::openapi::refusals::{Guarded, MayMiss, Picky, Withheld};
use crate::refusal::Refusal;

/// The most artifacts that are told.
const MOST: usize = 2000;

/// Names an object in a path.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Asked {
    /// Its namespace.
    #[param(
        example = "dev",
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length = 63
    )]
    namespace: String,
    /// Its kind: `pod`, `deployment`, `process` and the like, or `KIND.VERSION.GROUP`.
    #[param(
        example = "pod",
        pattern = "^[a-zA-Z0-9]([-.a-zA-Z0-9]*[a-zA-Z0-9])?$",
        max_length = 253
    )]
    kind: String,
    /// Its name.
    #[param(
        example = "web-6b7f9c-x2xql",
        pattern = "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$",
        max_length = 253
    )]
    name: String,
}

/// Show what an object is made of
///
/// From a running pod, or anything else below what was stamped for a workload or deliverable, up to
/// its owner. What it is made of is told for the revision that the object is of, if that is proven; below
/// a commit that another owner wrote, what that one made it of.
#[utoipa::path(
    get, path = "/objects/{namespace}/{kind}/{name}/lineage", operation_id = "explain_object", tag = "artifacts",
    params(Asked), security(("token" = ["read"])),
    responses(
        (status = 200, description = "What it is made of", body = ObjectLineage, example = json!(example::object_lineage())),
        Guarded, Picky, MayMiss, Withheld
    )
)]
pub(crate) async fn lineage(
    State(doors): State<Doors>,
    Path(asked): Path<Asked>,
) -> Result<Json<ObjectLineage>, Refusal> {
    names::check_label("namespace", &asked.namespace)?;
    names::check_subdomain("kind", &asked.kind.to_ascii_lowercase())?;
    names::check_subdomain("name", &asked.name)?;
    let client = doors.cluster()?;
    let resource = kinds::find(client, &asked.kind).await?;
    let climb = || climbing::climb(client, &asked.namespace, &resource, &asked.name);
    // Once to learn whose it is, and once more after the track was read: see `Sight`.
    let owner = climb().await?.owner;
    let ledger = doors.ledger()?;
    let track = ledger.track(&owner.uid).await?;
    let way = climb().await?;
    let word = way.owner.kind.to_ascii_lowercase();
    let running = track.and_then(|track| track.running(&way.sight(), &word, MOST));
    let running = running.unwrap_or_else(|| unrecorded(&way));
    let (object, above) = way.names();
    let mut found = ObjectLineage::new(object, above, way.owner, running);
    let made = found.made.as_mut_slice();
    across::extend(ledger, &found.owner.uid, made).await?;
    Ok(Json(found))
}

fn unrecorded(way: &Way) -> Running {
    let why = "the ledger has nothing about the object that was stamped; ask again in a moment";
    Running {
        resource: way.resource(),
        revision: Revision::Unknown { why: why.into() },
        made: None,
        rollout: None,
    }
}
