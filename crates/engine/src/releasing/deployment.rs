//! One deployment, from what the ledger wants to what came of it.
//!
//! It may be carried out again at any time, by whoever leads then: what it writes is the same, and what it waits for
//! begins with what is there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::service_account::Account;
use pathline_kinds::carto::OwnerStatus;
use pathline_ledger::releases::{StoredConfiguration, StoredRelease};
use pathline_lineage::wait::deployment::Outcome;
use pathline_release::environment::{self, DeployEnvironment};
use pathline_release::objects::{self, Deployed, Objects, tracker_label};
use pathline_release::queue::{EntryState, Report, Restore};
use pathline_release::{TrackerName, owner_name};
use serde_json::Value;

use super::judge::Judge;
use super::reporter::Reporter;
use super::tools::Tools;
use super::write::{CONFLICT_PAUSE, NotWritten, Write};
use crate::observe::confirm::ConfirmError;
use crate::runtime::clients;

/// The pause after a failure that may pass.
const RETRY_PAUSE: Duration = Duration::from_secs(2);
/// The reason of a condition that says that no blueprint selects an owner.
const NOT_FOUND: [&str; 2] = ["SupplyChainNotFound", "DeliveryNotFound"];

/// A deployment to carry out.
#[derive(Clone)]
pub(super) struct Deployment {
    pub(super) tracker_uid: String,
    pub(super) tracker: TrackerName,
    pub(super) environment: Arc<DeployEnvironment>,
    pub(super) purpose: Purpose,
}

/// The purpose of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// An environment has taken a release.
    Deploy {
        /// The number of the release.
        release: u64,
        /// The attempt.
        attempt: u32,
    },
    /// A release that was deployed is brought back after another one has failed.
    Restore {
        /// The number of the one that has failed.
        failed: u64,
        /// The attempt that has failed.
        attempt: u32,
        /// The number of the one that is brought back.
        deployed: u64,
    },
}

impl Purpose {
    /// Returns the number of the release that is written.
    fn written(self) -> u64 {
        match self {
            Self::Deploy { release, .. } => release,
            Self::Restore { deployed, .. } => deployed,
        }
    }
}

impl Deployment {
    /// Carries it out, and tells how it goes; ends without a word if it is not wanted any more.
    pub(super) async fn run(self, tools: &Tools, reporter: &mut Reporter) {
        let Some((mut judge, written)) = self.write_until_done(tools, reporter).await else {
            return;
        };
        reporter.note(None).await;
        loop {
            match judge.judge(tools).await {
                Ok(Outcome::Live) => return reporter.end(Report::Ready, judge.note()).await,
                Ok(Outcome::Never(message)) => {
                    return reporter.end(Report::Failed(message), None).await;
                }
                Ok(Outcome::Unconfirmed) => {}
                Ok(Outcome::NotYet {
                    has_path: true,
                    missing,
                }) => reporter.note(missing).await,
                Ok(Outcome::NotYet {
                    has_path: false, ..
                }) => {
                    if let Ok(missing) = self.no_path(tools, &judge, &written).await {
                        reporter.note(missing).await;
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "a deployment cannot be judged; trying again");
                    tokio::time::sleep(RETRY_PAUSE).await;
                    continue;
                }
            }
            judge.changed().await;
        }
    }

    /// Writes the objects, as often as it takes, and begins to look at the owner; nothing if that is over already.
    async fn write_until_done(
        &self,
        tools: &Tools,
        reporter: &mut Reporter,
    ) -> Option<(Judge, DynamicObject)> {
        loop {
            match self.write(tools, reporter).await {
                Ok((owner, applied)) => {
                    match Judge::new(tools, self.kind(), (&owner, &applied)).await {
                        Ok(judge) => return Some((judge, owner)),
                        Err(error) => reporter.note(Some(error.to_string())).await,
                    }
                }
                Err(NotWritten::Refused(message)) => {
                    reporter.end(Report::Failed(message), None).await;
                    return None;
                }
                Err(NotWritten::Passing(message)) => reporter.note(Some(message)).await,
                Err(NotWritten::Outdated) => {
                    tokio::time::sleep(CONFLICT_PAUSE).await;
                    continue;
                }
                Err(NotWritten::Unwanted) => return None,
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    /// Returns the kind of the owner that is written.
    pub(super) fn kind(&self) -> OwnerKind {
        match self.environment.owner.kind {
            environment::OwnerKind::Workload => OwnerKind::Workload,
            environment::OwnerKind::Deliverable => OwnerKind::Deliverable,
        }
    }

    /// Writes the objects of the release, and returns the owner, and what was set.
    async fn write(
        &self,
        tools: &Tools,
        reporter: &mut Reporter,
    ) -> Result<(DynamicObject, Value), NotWritten> {
        let passing = |error: pathline_ledger::Error| NotWritten::Passing(error.to_string());
        let release = self.release(tools).await.map_err(passing)?;
        let Some(release) = release else {
            return Err(NotWritten::Unwanted);
        };
        let configuration = self.configuration(tools, &release).await?;
        reporter.keep_secret(&configuration.secrets);
        let objects = self.objects_of(tools, &release, &configuration)?;
        let tracker = tracker_label(&self.tracker);
        let write = Write {
            kind: self.kind(),
            namespace: &self.environment.namespace,
            account: self.account(),
            tracker: &tracker,
            release: release.release.number,
            objects: &objects,
        };
        let owner = Box::pin(write.run(tools, self)).await?;
        Ok((owner, objects.owner))
    }

    fn name(&self) -> &str {
        &self.environment.environment.name
    }

    /// Returns the account that everything is written under; nothing if that is the engine itself.
    fn account(&self) -> Option<Account> {
        let name = self.environment.owner.service_account_name.clone()?;
        let namespace = self.environment.namespace.clone();
        Some(Account { namespace, name })
    }

    /// Returns the client that everything is written with, and removed.
    pub(super) async fn client(&self, tools: &Tools) -> Result<Client, clients::Error> {
        match self.account() {
            Some(account) => tools.clients.of_account(&account).await,
            None => Ok(tools.client.clone()),
        }
    }

    /// Returns the release that is written.
    pub(super) async fn release(
        &self,
        tools: &Tools,
    ) -> Result<Option<StoredRelease>, pathline_ledger::Error> {
        let releases = tools.ledger.releases();
        let number = self.purpose.written();
        releases.numbered(&self.tracker_uid, number).await
    }

    /// Returns the objects of the release in the environment.
    pub(super) async fn objects(
        &self,
        tools: &Tools,
        release: &StoredRelease,
    ) -> Result<Objects, NotWritten> {
        let configuration = self.configuration(tools, release).await?;
        self.objects_of(tools, release, &configuration)
    }

    /// Returns the configuration of the release, with its secrets.
    async fn configuration(
        &self,
        tools: &Tools,
        release: &StoredRelease,
    ) -> Result<StoredConfiguration, NotWritten> {
        let hash = &release.release.configuration.config_hash;
        let releases = tools.ledger.releases();
        let configuration = releases.configuration(&self.tracker_uid, hash).await;
        let configuration =
            configuration.map_err(|error| NotWritten::Passing(error.to_string()))?;
        let Some(configuration) = configuration else {
            let message = "the configuration of the release is no longer kept".to_owned();
            return Err(NotWritten::Refused(message));
        };
        if configuration.has_lost_secrets {
            let message = "the secrets of the configuration were lost with their key; they are read again with its \
                           application file, if that is still in the repository";
            return Err(NotWritten::Passing(message.to_owned()));
        }
        Ok(configuration)
    }

    fn objects_of(
        &self,
        tools: &Tools,
        release: &StoredRelease,
        configuration: &StoredConfiguration,
    ) -> Result<Objects, NotWritten> {
        let deployed = Deployed {
            tracker: &self.tracker,
            tracker_uid: &self.tracker_uid,
            id: &release.id,
            release: &release.release,
            attempt: release.entries.get(self.name()).map_or(0, |it| it.attempt),
            revision: release.image_revision.as_deref(),
            document: &configuration.document,
            secrets: &configuration.secrets,
            environment: &self.environment,
        };
        let key = tools.ledger.seal_key();
        // Where there are secrets there is a key: they were sealed with it.
        let digest = |secret: &[u8]| key.map(|it| it.digest(secret)).unwrap_or_default();
        let objects = objects::objects(&deployed, &digest);
        objects.map_err(|error| NotWritten::Refused(error.to_string()))
    }

    /// Tells whether the ledger still wants what this is for.
    pub(super) async fn is_wanted(&self, tools: &Tools) -> Result<bool, pathline_ledger::Error> {
        let releases = tools.ledger.releases();
        let asked = match self.purpose {
            Purpose::Deploy { release, .. } => release,
            Purpose::Restore { failed, .. } => failed,
        };
        let stored = releases.numbered(&self.tracker_uid, asked).await?;
        let entry = stored.and_then(|mut it| it.entries.remove(self.name()));
        Ok(entry.is_some_and(|entry| match self.purpose {
            Purpose::Deploy { attempt, .. } => {
                entry.state == EntryState::Deploying && entry.attempt == attempt
            }
            Purpose::Restore { attempt, .. } => {
                entry.restore == Some(Restore::Pending) && entry.attempt == attempt
            }
        }))
    }

    /// Says that no blueprint selects the owner, if that is so.
    async fn no_path(
        &self,
        tools: &Tools,
        judge: &Judge,
        written: &DynamicObject,
    ) -> Result<Option<String>, ConfirmError> {
        let Some(owner) = judge.owner(tools).await? else {
            return Ok(None);
        };
        let status = OwnerStatus::read(owner.data.get("status").unwrap_or(&Value::Null));
        if status.observed_generation < written.metadata.generation {
            return Ok(None);
        }
        let mut conditions = status.conditions.iter();
        let missing = conditions.find(|it| NOT_FOUND.contains(&it.reason.as_str()));
        Ok(missing.map(|_| {
            let (kind, namespace) = (self.kind().name(), &self.environment.namespace);
            let name = owner_name(&self.tracker);
            let what_to_do = match self.kind() {
                OwnerKind::Workload => format!("`{}` installs one that does", tools.path_command),
                OwnerKind::Deliverable => delivery_wanted(owner.labels()),
            };
            format!(
                "NoPath: no blueprint selects {kind} `{name}` in namespace `{namespace}`; {what_to_do}"
            )
        }))
    }
}

/// Says what has to select a Deliverable of these labels.
fn delivery_wanted(labels: &BTreeMap<String, String>) -> String {
    let labels: Vec<_> = labels
        .iter()
        .map(|(name, value)| format!("`{name}: {value}`"))
        .collect();
    let labels = labels.join(", ");
    format!("a ClusterDelivery has to select it, by labels that it has: {labels}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliverable_without_a_path_wants_a_delivery_that_selects_its_labels() {
        let labels = [("app.kubernetes.io/name", "web"), ("team", "shop")];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            delivery_wanted(&BTreeMap::from(labels)),
            "a ClusterDelivery has to select it, by labels that it has: `app.kubernetes.io/name: web`, `team: shop`"
        );
    }
}
