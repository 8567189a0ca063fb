//! Any object of the cluster: what is it made of?
//!
//! From a pod, say, its controllers are followed up to the object that was stamped, and from there to
//! the owner. What it is made of is what was stamped when it was made, not what its owner wants now.

mod controllers;
mod kinds;

use pathline_client::api::{Made, ObjectLineage, ObjectName, OwnerRef, RevisionState};
use pathline_lineage::Stage;
use pathline_lineage::running::{Revision, Running};

use self::controllers::ControllerChain;
pub(crate) use self::controllers::ask;
pub(crate) use self::kinds::resolve;
use crate::AppState;
use crate::error::ApiError;
use crate::views::across;
use crate::views::names;

/// The most artifacts that are told.
const MAX_ARTIFACTS: usize = 2000;

/// A question for what an object is made of.
#[derive(Debug)]
pub(crate) struct ExplainObject {
    pub(crate) namespace: String,
    /// `pod`, `deployment`, `process` and the like, or `KIND.VERSION.GROUP`.
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// Says whose an object is, and what it is made of.
pub(crate) async fn explain(
    state: &AppState,
    asked: &ExplainObject,
) -> Result<ObjectLineage, ApiError> {
    names::check_label("namespace", &asked.namespace)?;
    names::check_subdomain("kind", &asked.kind.to_ascii_lowercase())?;
    names::check_subdomain("name", &asked.name)?;
    let client = state.cluster()?;
    let resource = kinds::find(client, &asked.kind).await?;
    let climb = || controllers::climb(client, &asked.namespace, &resource, &asked.name);
    // Once to learn whose it is, and once more after the lineage was read: see `Sight`.
    let owner = climb().await?.owner;
    let ledger = state.ledger()?;
    let lineage = ledger.lineage().get(&owner.uid).await?;
    let way = climb().await?;
    let word = way.owner.kind.to_ascii_lowercase();
    let running = lineage.and_then(|lineage| lineage.running(&way.sight(), &word, MAX_ARTIFACTS));
    let running = running.unwrap_or_else(|| unrecorded(&way));
    let (object, above) = way.names();
    let mut found = lineage_of(object, above, way.owner, running);
    let made = found.made.as_mut_slice();
    across::extend(ledger, &found.owner.uid, made).await?;
    Ok(found)
}

fn unrecorded(way: &ControllerChain) -> Running {
    let why = "the ledger has nothing about the object that was stamped; ask again in a moment";
    Running {
        resource: way.resource(),
        revision: Revision::Unknown { why: why.into() },
        made: None,
        rollout: None,
    }
}

/// Puts together who something is and what it is made of.
fn lineage_of(
    object: ObjectName,
    above: Vec<ObjectName>,
    owner: OwnerRef,
    running: Running,
) -> ObjectLineage {
    let (revision, why) = match running.revision {
        Revision::Current => (RevisionState::Current, None),
        Revision::Older => (RevisionState::Older, None),
        Revision::Unknown { why } => (RevisionState::Unknown, Some(why)),
    };
    let rollout = running.rollout.and_then(|stage| match stage {
        Stage::NoFollower { why } | Stage::Progressing { why } => Some(why),
        Stage::Failed { reason } => Some(reason),
        Stage::None | Stage::Done => None,
    });
    ObjectLineage {
        object,
        above,
        owner,
        resource: running.resource,
        revision,
        why,
        made: running.made.as_ref().map(Made::from),
        rollout,
    }
}
