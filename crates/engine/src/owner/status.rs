//! What an owner reports, written only when it changed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DynamicObject, PostParams};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::conditions::{self, Verdict};
use pathline_blueprint::model::{
    Condition, ConditionStatus, ObjectReference, PathEntry, ResourceStatus,
};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::path;
use pathline_blueprint::realization::Realization;
use serde_json::{Map, Value, json};

use super::news;
use crate::FIELD_MANAGER;
use crate::calls::{self, call};
use crate::events::News;
use crate::lineage::Shown;
use crate::wakeups::Reconciled;

/// The status of an owner, on its way from the last report to the next.
pub(super) struct Status {
    kind: OwnerKind,
    generation: Option<i64>,
    blueprint: Option<ObjectReference>,
    conditions: Vec<Condition>,
    pub(super) resources: Vec<ResourceStatus>,
    pub(super) path: Vec<PathEntry>,
    /// What the path makes, and how far the owner's inputs have come, as the ledger knows it.
    lineage: Shown,
    before: Before,
}

/// What was last reported.
pub(super) struct Before {
    pub(super) resources: Vec<ResourceStatus>,
    pub(super) path: Vec<PathEntry>,
}

impl Status {
    /// Starts from what the owner reports now.
    pub(super) fn of(owner: &Owner) -> Self {
        let status = owner.object.get("status").cloned().unwrap_or_default();
        let field = |name: &str| status.get(name).cloned().unwrap_or_default();
        let resources: Vec<ResourceStatus> =
            serde_json::from_value(field("resources")).unwrap_or_default();
        let path: Vec<PathEntry> = serde_json::from_value(field("path")).unwrap_or_default();
        Self {
            kind: owner.kind,
            generation: owner.generation,
            blueprint: serde_json::from_value(field(owner.kind.blueprint_ref_field())).ok(),
            conditions: serde_json::from_value(field("conditions")).unwrap_or_default(),
            resources: resources.clone(),
            path: path.clone(),
            lineage: Shown {
                outputs: serde_json::from_value(field("outputs")).unwrap_or_default(),
                inputs: serde_json::from_value(field("inputs")).unwrap_or_default(),
                live: serde_json::from_value(field("live")).unwrap_or_default(),
                live_generation: field("liveGeneration").as_i64(),
            },
            before: Before { resources, path },
        }
    }

    /// Returns what was last reported.
    pub(super) fn before(&self) -> &Before {
        &self.before
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

    /// Notes what became of the resources.
    pub(super) fn replace_resources<'r>(
        &mut self,
        blueprint: &str,
        realizations: impl Iterator<Item = &'r Realization>,
        now: &Time,
    ) {
        let known = |name: &str| self.before.resources.iter().find(|old| old.name == name);
        self.resources = realizations
            .map(|realization| realization.status(blueprint, known(&realization.resource), now))
            .collect();
    }

    /// Keeps the reference to an object that is still there, although its resource is not on the path.
    pub(super) fn keep_reference(&mut self, resource: &str) {
        let known = self.before.resources.iter();
        let Some(old) = known.clone().find(|old| old.name == resource) else {
            return;
        };
        let mut entries = self.resources.iter_mut();
        match entries.find(|entry| entry.name == resource) {
            Some(entry) if entry.stamped_ref.is_none() => {
                entry.stamped_ref = old.stamped_ref.clone();
                entry.template_ref = old.template_ref.clone();
            }
            Some(_) => {}
            None => self.resources.push(old.clone()),
        }
    }

    /// Says of a resource which is no longer declared why its object is still there.
    pub(super) fn accuse(&mut self, resource: &str, why: &str, now: &Time) {
        self.keep_reference(resource);
        let mut entries = self.resources.iter_mut();
        let Some(entry) = entries.find(|entry| entry.name == resource) else {
            return;
        };
        let is_skipped = |condition: &Condition| condition.r#type == "Selected";
        if entry.conditions.iter().any(is_skipped) {
            return;
        }
        let message = format!("unable to delete the object, which is no longer stamped: {why}");
        let verdicts = ["ResourceSubmitted", "Ready"].map(|condition| {
            let reason = "StampedObjectNotRemoved";
            Verdict::new(condition, ConditionStatus::False, reason, &message)
        });
        entry.conditions = conditions::with_times(verdicts.into(), &entry.conditions, now);
    }

    /// Shows what is known of the lineage.
    pub(super) fn show(&mut self, lineage: Shown) {
        self.lineage = lineage;
    }

    /// Returns why the owner itself cannot go on.
    pub(super) fn failure(&self) -> Option<String> {
        let mut conditions = self.conditions.iter();
        let failed = conditions.find(|it| it.status == ConditionStatus::False);
        failed.map(words)
    }

    /// Tells what this report says that the last one did not.
    pub(super) fn news(&self) -> Vec<News> {
        let mut news = news::of_resources(&self.before.resources, &self.resources);
        if let Some(change) = path::change(&self.before.path, &self.path) {
            news.push(News::normal("PathChanged", change));
        }
        news
    }

    /// Writes the status unless the owner reports it already; returns the version that was written.
    pub(super) async fn write(
        &self,
        client: &Client,
        owner: &DynamicObject,
    ) -> Result<Option<String>, calls::Error> {
        let status = self.to_value();
        if owner.data.get("status") == Some(&status) {
            return Ok(None);
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
            Err(error) if error.is_absence() => Ok(None),
            other => other.map(|written| written.resource_version()),
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
        if !self.path.is_empty() {
            status.insert("path".to_owned(), json!(self.path));
        }
        if !self.lineage.outputs.is_empty() {
            status.insert("outputs".to_owned(), json!(self.lineage.outputs));
        }
        if !self.lineage.inputs.is_empty() {
            status.insert("inputs".to_owned(), json!(self.lineage.inputs));
        }
        if let Some(live) = self.lineage.live {
            status.insert("live".to_owned(), json!(live));
        }
        if let Some(generation) = self.lineage.live_generation {
            status.insert("liveGeneration".to_owned(), json!(generation));
        }
        Value::Object(status)
    }
}

/// Returns what a condition says: its message, if it has one.
fn words(condition: &Condition) -> String {
    if condition.message.is_empty() {
        condition.reason.clone()
    } else {
        condition.message.clone()
    }
}
