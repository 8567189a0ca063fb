//! What an owner reports, written only when it changed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DynamicObject, PostParams};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::conditions::{self, Verdict};
use pathline_blueprint::model::{Condition, ObjectReference, ResourceStatus, StampedReference};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::realization::Realization;
use serde_json::{Map, Value, json};

use crate::FIELD_MANAGER;
use crate::calls::{self, call};
use crate::wakeups::Reconciled;

/// The status of an owner, on its way from the last report to the next.
pub(super) struct Status {
    kind: OwnerKind,
    generation: Option<i64>,
    blueprint: Option<ObjectReference>,
    conditions: Vec<Condition>,
    resources: Vec<ResourceStatus>,
}

impl Status {
    /// Starts from what the owner reports now.
    pub(super) fn of(owner: &Owner) -> Self {
        let status = owner.object.get("status").cloned().unwrap_or_default();
        let field = |name: &str| status.get(name).cloned().unwrap_or_default();
        Self {
            kind: owner.kind,
            generation: owner.generation,
            blueprint: serde_json::from_value(field(owner.kind.blueprint_ref_field())).ok(),
            conditions: serde_json::from_value(field("conditions")).unwrap_or_default(),
            resources: serde_json::from_value(field("resources")).unwrap_or_default(),
        }
    }

    /// Notes which blueprint picked the owner up.
    pub(super) fn name_blueprint(&mut self, name: &str) {
        self.blueprint = Some(ObjectReference {
            kind: Some(self.kind.blueprint_kind().to_owned()),
            name: Some(name.to_owned()),
            ..ObjectReference::default()
        });
    }

    /// Notes the conditions; what is as before keeps its time.
    pub(super) fn conclude(&mut self, verdicts: Vec<Verdict>, now: &Time) {
        self.conditions = conditions::with_times(verdicts, &self.conditions, now);
    }

    /// Notes what became of the resources, and returns those entries whose object none of them stamps.
    pub(super) fn replace_resources(
        &mut self,
        blueprint: &str,
        realizations: &[Realization],
        now: &Time,
    ) -> Vec<ResourceStatus> {
        let previous = std::mem::take(&mut self.resources);
        let known = |name: &str| previous.iter().find(|old| old.name == name);
        self.resources = realizations
            .iter()
            .map(|realization| realization.status(blueprint, known(&realization.resource), now))
            .collect();
        let stamped: Vec<StampedReference> = self
            .resources
            .iter()
            .filter_map(|resource| resource.stamped_ref.clone())
            .collect();
        let is_orphaned = |old: &ResourceStatus| {
            old.stamped_ref
                .as_ref()
                .is_some_and(|old| !stamped.iter().any(|new| is_same_object(old, new)))
        };
        previous.into_iter().filter(is_orphaned).collect()
    }

    /// Keeps an entry whose object could not be removed, so that it is seen and tried again.
    pub(super) fn keep(&mut self, leftover: ResourceStatus) {
        self.resources.push(leftover);
    }

    /// Writes the status unless the owner reports it already.
    pub(super) async fn write(
        &self,
        client: &Client,
        owner: &DynamicObject,
    ) -> Result<(), calls::Error> {
        let status = self.to_value();
        if owner.data.get("status") == Some(&status) {
            return Ok(());
        }
        let mut reported = owner.clone();
        reported.data["status"] = status;
        let namespace = owner.namespace().unwrap_or_default();
        let resource = Reconciled::from(self.kind).resource();
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, &resource);
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            dry_run: false,
        };
        match call(api.replace_status(&owner.name_any(), &params, &reported)).await {
            Err(error) if error.is_absence() => Ok(()),
            // Our cache is behind; the event that brings it up to date wakes the owner again.
            Err(error) if error.is_conflict() => Ok(()),
            other => other.map(drop),
        }
    }

    fn to_value(&self) -> Value {
        let mut status = Map::new();
        status.insert("observedGeneration".to_owned(), json!(self.generation));
        status.insert("conditions".to_owned(), json!(self.conditions));
        if let Some(blueprint) = &self.blueprint {
            status.insert(self.kind.blueprint_ref_field().to_owned(), json!(blueprint));
        }
        if !self.resources.is_empty() {
            status.insert("resources".to_owned(), json!(self.resources));
        }
        Value::Object(status)
    }
}

/// Two references to one object may differ in the version they reach it by.
fn is_same_object(one: &StampedReference, other: &StampedReference) -> bool {
    one.resource == other.resource && one.namespace == other.namespace && one.name == other.name
}
