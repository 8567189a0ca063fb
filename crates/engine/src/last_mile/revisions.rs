//! The newest revisions of daemon sets.
//!
//! The status of a daemon set does not name its newest revision, and the watch that shows revisions may
//! be behind the one that showed the status. Before something is said to run they are read once more.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use pathline_lineage::rollout::Object;
use pathline_lineage::{Rollout, Stage};

use super::round::Round;
use super::seen::Seen;
use crate::calls::{self, call};

/// How many revisions are read in one call.
const PAGE: u32 = 500;

/// The versions of the revisions of an object, by uid.
type Versions = BTreeMap<String, String>;

/// A daemon set as it was judged.
pub(super) struct DaemonSet {
    object: Object,
    /// The revisions that were known then.
    revisions: Versions,
}

impl DaemonSet {
    /// Returns the daemon sets among objects that are judged.
    pub(super) fn among<'o>(judged: impl Iterator<Item = &'o Object>, seen: &Seen) -> Vec<Self> {
        let sets = judged.filter(|it| it.group == "apps" && it.kind == "DaemonSet");
        sets.map(|object| {
            let place = seen.place(&object.namespace).into_iter();
            let revisions = place.flat_map(|it| it.revisions_of(&object.uid));
            Self {
                object: object.clone(),
                revisions: revisions
                    .map(|it| (it.uid.clone(), it.version.clone()))
                    .collect(),
            }
        })
        .collect()
    }
}

impl Round<'_> {
    /// Makes sure that daemon sets were judged by the newest revisions that they had by then.
    pub(super) async fn confirm_revisions(
        &mut self,
        sets: &[DaemonSet],
        rollout: Rollout,
    ) -> Rollout {
        if rollout.stage != Stage::Done {
            return rollout;
        }
        for DaemonSet { object, revisions } in sets {
            if self.is_confirmed(object) {
                continue;
            }
            let why = match self.read_revisions(object).await {
                Ok(read) if read == *revisions => {
                    self.confirm(object);
                    continue;
                }
                Ok(_) => format!("the newest revision of `{}` is not known yet", object.name),
                Err(error) => self.unread("ControllerRevision", &error),
            };
            return Rollout {
                stage: Stage::Progressing { why },
                ..rollout
            };
        }
        rollout
    }

    async fn read_revisions(&self, object: &Object) -> Result<Versions, calls::Error> {
        let client = self.miles.client.clone();
        let api: Api<ControllerRevision> = Api::namespaced(client, &object.namespace);
        let mut params = ListParams::default().limit(PAGE);
        let mut revisions = Versions::new();
        loop {
            let page = call(api.list_metadata(&params)).await?;
            for revision in page.items {
                let mut owners = revision.owner_references().iter();
                if owners.any(|it| it.controller == Some(true) && it.uid == object.uid) {
                    let uid = revision.uid().unwrap_or_default();
                    revisions.insert(uid, revision.resource_version().unwrap_or_default());
                }
            }
            match page.metadata.continue_.filter(|it| !it.is_empty()) {
                Some(next) => params.continue_token = Some(next),
                None => return Ok(revisions),
            }
        }
    }
}
