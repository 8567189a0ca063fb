//! Runs in the cluster: created once each, found again, and removed when there are too many.

use kube::api::{DeleteParams, DynamicObject, PostParams, Preconditions};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::runs::{Runs, STARTED_ANNOTATION};
use pathline_blueprint::stamp::APPLIED_ANNOTATION;
use pathline_kinds::carto::{HealthRule, RetentionPolicy};
use pathline_observe::{StampedObject, Write};
use serde_json::{Value, json};

use crate::FIELD_MANAGER;
use crate::runtime::calls::{self, call};
use crate::runtime::clock::Clock;
use crate::runtime::watches::{WatchLabel, WatchedKind, Watches};
use crate::supply::stamping;

/// The runs of one resource, or of one Runnable.
pub(crate) struct RunSet<'a, M> {
    pub(crate) client: &'a Client,
    pub(crate) watches: &'a Watches,
    pub(crate) clock: &'a Clock,
    pub(crate) label: WatchLabel,
    pub(crate) namespace: &'a str,
    /// The owner, for people.
    pub(crate) owner: &'a str,
    /// The uid of the owner, which controls every run.
    pub(crate) owner_uid: &'a str,
    /// Tells which of the objects that the owner controls belong to the set.
    pub(crate) is_member: M,
    pub(crate) rule: Option<&'a HealthRule>,
    pub(crate) retention: RetentionPolicy,
}

/// The state of a set of runs.
pub(crate) struct Advanced {
    /// The run that carries what was rendered.
    pub(crate) current: StampedObject,
    /// The run whose output counts, if one has been healthy.
    pub(crate) producing: Option<Value>,
    /// The error that left runs in place which are too many.
    pub(crate) unpruned: Option<calls::Error>,
}

impl<M: Fn(&DynamicObject) -> bool> RunSet<'_, M> {
    /// Creates the run for what was rendered, unless it is there, and removes those that are too many.
    pub(crate) async fn advance(&self, rendered: &Value) -> Result<Advanced, stamping::Error> {
        let kind = stamping::kind_of(self.watches, self.label, rendered).await?;
        let name = rendered["metadata"]["name"].as_str().unwrap_or_default();
        let known = self.watches.live(&kind, self.namespace, name).await;
        let (object, write) = match known.map_err(stamping::Error::Refused)? {
            Some(known) => (self.recognised(known, rendered)?, Write::Nothing),
            None => self.create(&kind, rendered).await?,
        };
        let others = kind.controlled_by(self.owner_uid).await;
        let is_other = |other: &DynamicObject| other.name_any() != name && (self.is_member)(other);
        let others = others.into_iter().filter(is_other);
        let mut objects: Vec<Value> = others
            .filter_map(|other| serde_json::to_value(other).ok())
            .collect();
        objects.push(object.clone());
        let runs = Runs::new(&objects, self.rule, name);
        let unpruned = self.prune(&kind, &runs.expired(&self.retention)).await;
        Ok(Advanced {
            producing: runs.producing().cloned(),
            unpruned: unpruned.err(),
            current: StampedObject {
                reference: stamping::refer(&kind, self.namespace, rendered, name),
                object,
                before: None,
                write,
                steady_since: None,
            },
        })
    }

    async fn create(
        &self,
        kind: &WatchedKind,
        rendered: &Value,
    ) -> Result<(Value, Write), stamping::Error> {
        let mut run = rendered.clone();
        // Beside the digest, not in it: the same inputs at another time are the same run.
        run["metadata"]["annotations"][STARTED_ANNOTATION] = json!(self.clock.now().to_string());
        let run: DynamicObject =
            serde_json::from_value(run).map_err(stamping::Error::Unreadable)?;
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), self.namespace, &kind.resource);
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            dry_run: false,
        };
        let (created, write) = match call(api.create(&params, &run)).await {
            // A lost answer, or somebody else who acts for the same owner: it is there.
            Err(error) if error.is_conflict() => {
                (call(api.get(&run.name_any())).await, Write::Nothing)
            }
            other => (other, Write::Created),
        };
        let created = created.map_err(stamping::Error::Refused)?;
        kind.wrote(created.clone());
        let created = serde_json::to_value(&created).map_err(stamping::Error::Unreadable)?;
        Ok((self.recognised(created, rendered)?, write))
    }

    /// Returns a run that is known to be ours and to carry what was rendered.
    fn recognised(&self, run: Value, rendered: &Value) -> Result<Value, stamping::Error> {
        let controlled = |other| stamping::Error::Controlled {
            other,
            owner: self.owner.to_owned(),
        };
        if let Some(other) = stamping::other_controller(&run, self.owner_uid) {
            return Err(controlled(other));
        }
        let digest = |object: &Value| object["metadata"]["annotations"][APPLIED_ANNOTATION].clone();
        if digest(&run) != digest(rendered) {
            return Err(controlled("nobody".to_owned()));
        }
        Ok(run)
    }

    async fn prune(&self, kind: &WatchedKind, expired: &[&Value]) -> Result<(), calls::Error> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), self.namespace, &kind.resource);
        for run in expired {
            let metadata = &run["metadata"];
            let name = metadata["name"].as_str().unwrap_or_default();
            let same_run = Preconditions {
                uid: metadata["uid"].as_str().map(str::to_owned),
                resource_version: None,
            };
            let params = DeleteParams::background().preconditions(same_run);
            match call(api.delete(name, &params)).await {
                Err(error) if !error.is_absence() && !error.is_conflict() => return Err(error),
                Ok(_) | Err(_) => tracing::debug!(run = name, "removed, as there are newer ones"),
            }
        }
        Ok(())
    }
}
