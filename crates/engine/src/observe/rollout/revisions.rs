//! Reads the newest revisions of daemon sets once more, before something is said to run.

use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use pathline_lineage::rollout::Object;
use pathline_lineage::{Rollout, Stage};
use pathline_observe::rollout::{DaemonSet, Versions};

use super::check::RolloutCheck;
use crate::runtime::calls::{self, call};

/// The number of revisions that are read in one call.
const PAGE: u32 = 500;

impl RolloutCheck<'_> {
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
        let client = self.watcher.client.clone();
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
