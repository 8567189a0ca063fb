//! What an object of the cluster is made of.

use pathline_lineage::Stage;
use pathline_lineage::running::{Revision, Running};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Made, ObjectName, OwnerRef};

/// What an object, such as a pod, is made of: the revision that it is of, which need not be the
/// newest of its owner.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ObjectLineage {
    /// The object.
    pub object: ObjectName,
    /// What controls it, nearest first, up to the object that was stamped; empty if it is that one.
    pub above: Vec<ObjectName>,
    /// The owner it was stamped for.
    pub owner: OwnerRef,
    /// The resource of the owner's blueprint that it was stamped for.
    pub resource: String,
    /// Which revision it is of.
    pub revision: RevisionState,
    /// Why nobody knows which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What that revision is made of; absent if nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    /// Why the newest revision is not rolled out; absent if it is, or if nothing runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<String>,
}

/// Which revision an object is of.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RevisionState {
    /// The one that was applied last.
    Current,
    /// One that was applied before: the owner has moved on.
    Older,
    /// Nothing proves which.
    Unknown,
}

impl ObjectLineage {
    /// Puts together who something is and what it is made of.
    pub(crate) fn new(
        object: ObjectName,
        above: Vec<ObjectName>,
        owner: OwnerRef,
        running: Running,
    ) -> Self {
        let (revision, why) = match running.revision {
            Revision::Current => (RevisionState::Current, None),
            Revision::Older => (RevisionState::Older, None),
            Revision::Unknown { why } => (RevisionState::Unknown, Some(why)),
        };
        let rollout = running.rollout.and_then(|stage| match stage {
            Stage::Unfollowed { why } | Stage::Progressing { why } => Some(why),
            Stage::Failed { reason } => Some(reason),
            Stage::None | Stage::Done => None,
        });
        Self {
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
}
