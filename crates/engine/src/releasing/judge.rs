//! Judges whether an owner runs with what a release has set, by the one rule of waits.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kube::api::{Api, DynamicObject};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_lineage::OwnerLineage;
use pathline_lineage::wait::Setting;
use pathline_lineage::wait::deployment::{Deployment, Outcome};
use serde_json::Value;
use tokio::sync::watch;

use super::tools::Tools;
use crate::observe::confirm::{ConfirmError, Confirmer, OwnerVersion, owner_resource};
use crate::runtime::calls::call;

/// The pause before an answer that was held back is asked for again: what differs is about to be reconciled.
const CONFIRM_INTERVAL: Duration = Duration::from_millis(500);
/// The params of an owner that have what the application file says, each with another one that has it too.
const CONTENT_PARAMS: [(&str, &str); 2] = [
    ("param:configMaps", "param:volumes"),
    ("param:image", "param:image"),
];
/// The pause after which an owner without a path is looked at again.
const PATH_INTERVAL: Duration = Duration::from_secs(2);

/// Looks at one owner until it is known whether it runs with what was applied.
pub(super) struct Judge {
    kind: OwnerKind,
    namespace: String,
    name: String,
    lineages: watch::Receiver<Option<Arc<OwnerLineage>>>,
    deployment: Deployment,
    was_known: bool,
    /// The pause before the next look, if nothing happens.
    pause: Option<Duration>,
}

impl Judge {
    /// Begins to look at an owner as it was written; `applied` is what was set.
    pub(super) async fn new(
        tools: &Tools,
        kind: OwnerKind,
        (written, applied): (&DynamicObject, &Value),
    ) -> Result<Self, pathline_ledger::Error> {
        let version = OwnerVersion::of(written);
        let set = settings(kind, applied);
        Ok(Self {
            kind,
            namespace: written.metadata.namespace.clone().unwrap_or_default(),
            name: written.metadata.name.clone().unwrap_or_default(),
            lineages: tools.ledger.lineage().follow(&version.uid).await?,
            deployment: Deployment::new(version.generation, version.metadata_digest, set),
            was_known: false,
            pause: None,
        })
    }

    /// Returns what can be said now.
    pub(super) async fn judge(&mut self, tools: &Tools) -> Result<Outcome, ConfirmError> {
        self.pause = None;
        let lineage = self.lineages.borrow_and_update().clone();
        let Some(lineage) = lineage else {
            self.pause = Some(PATH_INTERVAL);
            return Ok(match self.was_known {
                true => Outcome::Never(self.gone()),
                false => Outcome::not_yet(false),
            });
        };
        self.was_known = true;
        let now = self.metadata_now(tools, &lineage).await?;
        let Some(verdict) = self.deployment.judge(&lineage, now.as_deref()) else {
            return Ok(Outcome::not_yet(true));
        };
        let confirmation = self.deployment.confirmation(&lineage, &verdict);
        let owner = (self.namespace.as_str(), self.name.as_str());
        let confirmer = Confirmer::new(&tools.client, &tools.ledger);
        let differences = confirmer.differences(self.kind, owner, &confirmation);
        let is_confirmed = Box::pin(differences).await?.is_empty();
        let outcome = Outcome::of(&lineage, &verdict, is_confirmed);
        self.pause = match &outcome {
            Outcome::Unconfirmed => Some(CONFIRM_INTERVAL),
            _ if lineage.state.chain().resources().is_empty() => Some(PATH_INTERVAL),
            _ => None,
        };
        Ok(outcome)
    }

    /// Waits until there may be something new to say.
    pub(super) async fn changed(&mut self) {
        let pause = async {
            match self.pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = self.lineages.changed() => if changed.is_err() {
                // The ledger is closed; whoever waits here is about to be stopped.
                std::future::pending().await
            },
            () = pause => {}
        }
    }

    /// Returns an owner as it is now, if it is there.
    pub(super) async fn owner(&self, tools: &Tools) -> Result<Option<DynamicObject>, ConfirmError> {
        let (client, resource) = (tools.client.clone(), owner_resource(self.kind));
        let api: Api<DynamicObject> = Api::namespaced_with(client, &self.namespace, &resource);
        Ok(call(api.get_opt(&self.name)).await?)
    }

    /// Returns the digest of the labels and annotations that the owner has now, where it has to be known.
    async fn metadata_now(
        &self,
        tools: &Tools,
        lineage: &OwnerLineage,
    ) -> Result<Option<String>, ConfirmError> {
        if !self.deployment.needs_metadata(lineage) {
            return Ok(None);
        }
        let now = self.owner(tools).await?;
        let now = now.as_ref().map(OwnerVersion::of);
        let now = now.filter(|it| it.uid == lineage.uid);
        Ok(now.map(|it| it.metadata_digest))
    }

    /// Says what is to be known about an owner that is live: the inputs of a release that nothing on the path reads.
    pub(super) fn note(&self) -> Option<String> {
        let lineage = self.lineages.borrow().clone();
        lineage.and_then(|it| unread(&it))
    }

    /// Tells whether the owner was there, and is no longer.
    pub(super) fn is_gone(&self) -> bool {
        self.was_known && self.lineages.borrow().is_none()
    }

    fn gone(&self) -> String {
        let Self {
            namespace, name, ..
        } = self;
        let kind = self.kind.name();
        format!("{kind} `{name}` in namespace `{namespace}` was deleted")
    }
}

/// Says which inputs of a release nothing on the path reads. That its number and its labels are not read means nothing, and
/// neither does `config`, which repeats what is in fields and files.
fn unread(lineage: &OwnerLineage) -> Option<String> {
    let inputs = lineage.inputs().into_iter().filter(|it| it.unused);
    let unused: BTreeSet<String> = inputs.map(|it| it.name).collect();
    let is_content = |name: &str| {
        let mut params = CONTENT_PARAMS.iter();
        name.starts_with("field:spec.")
            || params.any(|(param, other)| *param == name && unused.contains(*other))
    };
    let unread: Vec<_> = unused.iter().filter(|it| is_content(it)).cloned().collect();
    (!unread.is_empty()).then(|| format!("nothing on the path reads {}", unread.join(", ")))
}

/// Returns what an apply sets, by the names of inputs.
fn settings(kind: OwnerKind, applied: &Value) -> Vec<Setting> {
    let owner = Owner::read(kind, applied.clone());
    let said = owner.map(|it| it.said()).unwrap_or_default();
    let settings = said.iter().map(|(name, value)| Setting::new(name, value));
    settings.collect()
}
