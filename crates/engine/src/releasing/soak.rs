//! Follows whether a release that soaks is live: only then does its time count.

use std::time::Duration;

use kube::ResourceExt;
use kube::api::DynamicObject;
use pathline_lineage::wait::deployment::Outcome;
use pathline_release::objects::{Part, RELEASE_ID, TRACKER, changed, parts, tracker_label};
use pathline_release::owner_name;
use serde_json::{Value, json};

use super::deployment::Deployment;
use super::judge::Judge;
use super::parts::present_parts;
use super::reporter::Reporter;
use super::tools::Tools;
use super::write::{NotWritten, owner_now};

/// The pause before an owner is looked for again that is not the release's.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// The pause after which what the owner names is looked for again.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

impl Deployment {
    /// Follows what was deployed, and tells whenever it becomes live, or stops being so.
    pub(super) async fn follow(self, tools: &Tools, reporter: &mut Reporter) {
        loop {
            let Ok(Some((owner, applied))) = self.deployed(tools).await else {
                reporter.tell_live(false).await;
                tokio::time::sleep(LOOK_PAUSE).await;
                continue;
            };
            let judge = Judge::new(tools, self.kind(), (&owner, &applied)).await;
            let Ok(mut judge) = judge else {
                tokio::time::sleep(LOOK_PAUSE).await;
                continue;
            };
            // What differs from what was written ends this, as it ends what views call live.
            while !matches!(self.deployed(tools).await, Ok(None)) {
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
                // Nobody tells that a ConfigMap is gone.
                let _ = tokio::time::timeout(LOOK_INTERVAL, judge.changed()).await;
            }
            reporter.tell_live(false).await;
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }

    /// Returns the owner and what was set, if it is the release's, and as it was written.
    async fn deployed(&self, tools: &Tools) -> Result<Option<(DynamicObject, Value)>, NotWritten> {
        let release = self.release(tools).await;
        let release = release.map_err(|error| NotWritten::Passing(error.to_string()))?;
        let Some(release) = release else {
            return Ok(None);
        };
        let (namespace, name) = (&self.environment.namespace, owner_name(&self.tracker));
        let owner = owner_now(&tools.client, self.kind(), namespace, &name).await;
        let owner = owner.map_err(|error| NotWritten::Passing(error.message()))?;
        let is_same = |it: &DynamicObject| it.annotations().get(RELEASE_ID) == Some(&release.id);
        let Some(owner) = owner.filter(is_same) else {
            return Ok(None);
        };
        let spec = owner.data.get("spec").unwrap_or(&Value::Null);
        let applied = match changed(owner.annotations(), owner.labels(), spec) {
            Some(changed) if !changed.is_empty() => return Ok(None),
            Some(_) => json!({"metadata": {}, "spec": spec}),
            // A version before has written it.
            None => self.objects(tools, &release).await?.owner,
        };
        let has_parts = self.has_parts(tools, &parts(spec)).await;
        Ok(has_parts.then_some((owner, applied)))
    }

    /// Tells whether nothing is known to be gone that the owner names.
    async fn has_parts(&self, tools: &Tools, parts: &[Part]) -> bool {
        let (client, namespace) = (&tools.client, &self.environment.namespace);
        if parts.is_empty() {
            return true;
        }
        let selector = format!("{TRACKER}={}", tracker_label(&self.tracker));
        let present = present_parts(client, Some(namespace), &selector).await;
        let is_there = |part: &Part| {
            let key = (namespace.clone(), part.clone());
            present.as_ref().is_none_or(|it| it.contains(&key))
        };
        parts.iter().all(is_there)
    }
}
