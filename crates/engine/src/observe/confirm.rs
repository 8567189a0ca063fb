//! Reads the objects by which an answer to a wait is confirmed before it is given.
//!
//! [`Confirmation`] decides which objects these are, and what it means that one differs. Whoever waits reads them here:
//! those who ask over REST, and releases, which count as deployed by the same answer.

mod final_objects;

use futures::future::try_join_all;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_kinds::carto::{Deliverable, GROUP, Workload};
use pathline_ledger::Ledger;
use pathline_lineage::owner_lineage;
use pathline_lineage::rollout::ObjectName;
use pathline_lineage::wait::Confirmation;
use pathline_lineage::wait::confirmation::{ConfirmedDelivery, DeliveryVersion};
use serde_json::{Value, json};

use crate::runtime::calls::{self, call};

/// Reads what confirms an answer, from the cluster and from the ledger.
#[derive(Clone, Copy)]
#[expect(
    missing_debug_implementations,
    reason = "a client of the cluster has none"
)]
pub struct Confirmer<'a> {
    client: &'a Client,
    ledger: &'a Ledger,
}

/// Says why it is not known whether an answer holds.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmError {
    /// The cluster answered with an error, or could not be reached.
    #[error("the cluster does not answer")]
    Cluster(#[source] kube::Error),
    /// The cluster did not answer in time.
    #[error("the cluster does not answer")]
    TimedOut,
    /// The ledger cannot be read.
    #[error("the ledger does not answer")]
    Ledger(#[from] pathline_ledger::Error),
}

/// An owner as it is now, for those who wait for it.
#[derive(Clone, Debug)]
pub struct OwnerVersion {
    /// The uid.
    pub uid: String,
    /// The generation.
    pub generation: i64,
    /// The digest of what can change without a new generation.
    pub metadata_digest: String,
}

impl OwnerVersion {
    /// Takes from an owner what tells it from others, and from itself at another time.
    pub fn of(object: &DynamicObject) -> Self {
        let metadata = json!({
            "labels": object.metadata.labels,
            "annotations": object.metadata.annotations,
        });
        Self {
            uid: object.uid().unwrap_or_default(),
            generation: object.metadata.generation.unwrap_or_default(),
            metadata_digest: owner_lineage::metadata_digest(&metadata),
        }
    }
}

/// Returns the kind of owners as clients name it.
pub fn owner_resource(kind: OwnerKind) -> ApiResource {
    match kind {
        OwnerKind::Workload => ApiResource::erase::<Workload>(&()),
        OwnerKind::Deliverable => ApiResource::erase::<Deliverable>(&()),
    }
}

impl<'a> Confirmer<'a> {
    /// Reads from a cluster and a ledger.
    pub fn new(client: &'a Client, ledger: &'a Ledger) -> Self {
        Self { client, ledger }
    }

    /// Says what keeps an answer about an owner from being given.
    ///
    /// # Errors
    /// If the cluster or the ledger does not answer.
    pub async fn differences(
        self,
        kind: OwnerKind,
        (namespace, name): (&str, &str),
        confirmation: &Confirmation<'_>,
    ) -> Result<Vec<String>, ConfirmError> {
        let mut differences = Vec::new();
        if let Some(owner) = confirmation.owner {
            let now = self.owner(kind, namespace, name).await?;
            differences.extend(owner.difference(now.and_then(|it| it.metadata.generation)));
        }
        differences.extend(self.of_reconcile(confirmation).await?);
        for delivery in &confirmation.deliveries {
            differences.extend(self.of_delivery(delivery).await?);
        }
        differences.sort();
        differences.dedup();
        if !differences.is_empty() || confirmation.finals.is_empty() {
            return Ok(differences);
        }
        let Some(owner) = self.owner(kind, namespace, name).await? else {
            return Ok(differences);
        };
        Ok(final_objects::differences(self.client, &owner, &confirmation.finals).await)
    }

    /// Returns an owner as it is now, if it is there.
    async fn owner(
        self,
        kind: OwnerKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<DynamicObject>, ConfirmError> {
        let (client, resource) = (self.client.clone(), owner_resource(kind));
        let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &resource);
        Ok(call(api.get_opt(name)).await?)
    }

    /// Reads what a reconcile was made with, and the processes that it found running.
    async fn of_reconcile(
        self,
        confirmation: &Confirmation<'_>,
    ) -> Result<Vec<String>, ConfirmError> {
        let used = confirmation.used.iter().map(async |it| {
            let now = self.generation_of(it.key).await?;
            Ok::<_, ConfirmError>(it.difference(now))
        });
        let used = try_join_all(used).await?.into_iter().flatten();
        let mut differences: Vec<_> = used.collect();
        for ran in &confirmation.processes {
            let now = self.process(ran.object).await?;
            differences.extend(ran.difference(now.as_ref()));
        }
        Ok(differences)
    }

    /// Reads a deliverable and, if that is as it was, what it uses and runs.
    async fn of_delivery(
        self,
        delivery: &ConfirmedDelivery<'_>,
    ) -> Result<Vec<String>, ConfirmError> {
        let (kind, namespace, name) = (
            OwnerKind::Deliverable,
            delivery.namespace(),
            delivery.name(),
        );
        let now = self.owner(kind, namespace, name).await?;
        let now = now.as_ref().map(OwnerVersion::of);
        let now = now.as_ref().map(|it| DeliveryVersion {
            generation: it.generation,
            metadata_digest: &it.metadata_digest,
        });
        if let Some(difference) = delivery.difference(now) {
            return Ok(vec![difference]);
        }
        let lineage = self.ledger.lineage();
        let lineage = lineage.find(kind.name(), namespace, name).await?;
        let confirmation = delivery.confirmation(lineage.as_ref());
        let mut differences = self.of_reconcile(&confirmation).await?;
        differences.extend(lineage.and_then(|it| delivery.difference_of_source(&it)));
        Ok(differences)
    }

    /// Returns a process, if it is there.
    async fn process(self, object: &ObjectName) -> Result<Option<Value>, ConfirmError> {
        let gvk = GroupVersionKind::gvk("pathline.dev", "v1alpha1", "Process");
        let resource = ApiResource {
            plural: "processes".to_owned(),
            ..ApiResource::from_gvk(&gvk)
        };
        let client = self.client.clone();
        let api: Api<DynamicObject> = Api::namespaced_with(client, &object.namespace, &resource);
        let found = call(api.get_opt(&object.name)).await?;
        Ok(found.and_then(|it| serde_json::to_value(it).ok()))
    }

    /// Returns the generation of a cluster-scoped object, given as `Kind/name`, if it is there.
    async fn generation_of(self, key: &str) -> Result<Option<i64>, ConfirmError> {
        let Some((kind, name)) = key.split_once('/') else {
            return Ok(None);
        };
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1alpha1", kind));
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let found = call(api.get_metadata_opt(name)).await?;
        Ok(found.and_then(|it| it.metadata.generation))
    }
}

impl From<calls::Error> for ConfirmError {
    fn from(error: calls::Error) -> Self {
        match error {
            calls::Error::Kube(error) => Self::Cluster(error),
            calls::Error::TimedOut => Self::TimedOut,
        }
    }
}
