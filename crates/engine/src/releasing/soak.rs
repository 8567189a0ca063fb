//! Follows whether a release that soaks is live: only then does its time count.

use std::time::Duration;

use kube::ResourceExt;
use kube::api::DynamicObject;
use pathline_lineage::wait::deployment::Outcome;
use pathline_release::objects::RELEASE_ID;
use serde_json::Value;

use super::deployment::Deployment;
use super::judge::Judge;
use super::reporter::Reporter;
use super::tools::Tools;
use super::write::owner_now;

/// The pause before an owner is looked for again that is not the release's.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

impl Deployment {
    /// Follows what was deployed, and tells whenever it becomes live, or stops being so.
    pub(super) async fn follow(self, tools: &Tools, reporter: &mut Reporter) {
        loop {
            let Some((owner, applied)) = self.deployed(tools).await else {
                reporter.tell_live(false).await;
                tokio::time::sleep(LOOK_PAUSE).await;
                continue;
            };
            let judge = Judge::new(tools, self.kind(), (&owner, &applied)).await;
            let Ok(mut judge) = judge else {
                tokio::time::sleep(LOOK_PAUSE).await;
                continue;
            };
            loop {
                match judge.judge(tools).await {
                    Ok(Outcome::Live) => reporter.tell_live(true).await,
                    Ok(Outcome::NotYet { .. } | Outcome::Never(_)) => {
                        reporter.tell_live(false).await
                    }
                    Ok(Outcome::Unconfirmed) => {}
                    Err(_) => tokio::time::sleep(LOOK_PAUSE).await,
                }
                if judge.is_gone() {
                    break;
                }
                judge.changed().await;
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }

    /// Returns the owner if it is the release's, and what was set; nothing if it is not, or nobody can say.
    async fn deployed(&self, tools: &Tools) -> Option<(DynamicObject, Value)> {
        let release = self.release(tools).await.ok()??;
        let objects = self.objects(tools, &release).await.ok()?;
        let namespace = self.environment.namespace.as_str();
        let owner = owner_now(&tools.client, self.kind(), namespace, &objects.owner).await;
        let owner = owner.ok()??;
        let is_same = owner.annotations().get(RELEASE_ID) == Some(&release.id);
        is_same.then_some((owner, objects.owner))
    }
}
