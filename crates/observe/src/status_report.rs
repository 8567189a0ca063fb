//! The status of an owner, from its last report to the next.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pathline_blueprint::conditions::{self, Verdict};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::path;
use pathline_blueprint::realization::Realization;
use pathline_kinds::carto::{
    Condition, ConditionStatus, ObjectReference, OwnerStatus, PathEntry, ResourceStatus,
};
use serde_json::Value;

use crate::kube_events::{self, KubeEvent};
use crate::shown::Shown;

/// The status of an owner, on its way from the last report to the next.
#[derive(Debug)]
pub struct StatusReport {
    kind: OwnerKind,
    /// The status that is to be reported.
    pub next: OwnerStatus,
    before: LastReport,
}

/// The part of the last report that the next one goes on from.
#[derive(Debug)]
pub struct LastReport {
    /// The resources.
    pub resources: Vec<ResourceStatus>,
    /// The path, if there were several.
    pub path: Vec<PathEntry>,
}

impl StatusReport {
    /// Starts from what the owner reports now.
    pub fn of(owner: &Owner) -> Self {
        let status = owner.object.get("status").unwrap_or(&Value::Null);
        let reported = OwnerStatus::read(status);
        Self {
            kind: owner.kind,
            before: LastReport {
                resources: reported.resources.clone(),
                path: reported.path.clone(),
            },
            next: OwnerStatus {
                observed_generation: owner.generation,
                ..reported
            },
        }
    }

    /// Returns the kind of the owner.
    pub fn kind(&self) -> OwnerKind {
        self.kind
    }

    /// Returns what was last reported.
    pub fn before(&self) -> &LastReport {
        &self.before
    }

    /// Notes which blueprint picked the owner up.
    pub fn name_blueprint(&mut self, name: &str) {
        let reference = Some(ObjectReference {
            kind: Some(self.kind.blueprint_kind().to_owned()),
            name: Some(name.to_owned()),
            ..ObjectReference::default()
        });
        match self.kind {
            OwnerKind::Workload => self.next.supply_chain_ref = reference,
            OwnerKind::Deliverable => self.next.delivery_ref = reference,
        }
    }

    /// Notes the conditions; what is as before keeps its time.
    pub fn conclude(&mut self, verdicts: Vec<Verdict>, now: &Time) {
        self.next.conditions = conditions::with_times(verdicts, &self.next.conditions, now);
    }

    /// Notes what became of the resources.
    pub fn replace_resources<'r>(
        &mut self,
        blueprint: &str,
        realizations: impl Iterator<Item = &'r Realization>,
        now: &Time,
    ) {
        let known = |name: &str| self.before.resources.iter().find(|old| old.name == name);
        self.next.resources = realizations
            .map(|realization| realization.status(blueprint, known(&realization.resource), now))
            .collect();
    }

    /// Keeps the reference to an object that is still there, although its resource is not on the path.
    pub fn keep_reference(&mut self, resource: &str) {
        let known = self.before.resources.iter();
        let Some(old) = known.clone().find(|old| old.name == resource) else {
            return;
        };
        let mut entries = self.next.resources.iter_mut();
        match entries.find(|entry| entry.name == resource) {
            Some(entry) if entry.stamped_ref.is_none() => {
                entry.stamped_ref = old.stamped_ref.clone();
                entry.template_ref = old.template_ref.clone();
            }
            Some(_) => {}
            None => self.next.resources.push(old.clone()),
        }
    }

    /// Reports on a resource which is no longer declared why its object could not be removed.
    pub fn report_removal_failure(&mut self, resource: &str, why: &str, now: &Time) {
        self.keep_reference(resource);
        let mut entries = self.next.resources.iter_mut();
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
    pub fn show(&mut self, lineage: Shown) {
        self.next.outputs = lineage.outputs;
        self.next.inputs = lineage.inputs;
        self.next.live = lineage.live;
        self.next.live_generation = lineage.live_generation;
    }

    /// Returns why the owner itself cannot go on.
    pub fn failure(&self) -> Option<String> {
        let mut conditions = self.next.conditions.iter();
        let failed = conditions.find(|it| it.status == ConditionStatus::False);
        failed.map(words)
    }

    /// Returns the events of what this report says and the last one did not.
    pub fn kube_events(&self) -> Vec<KubeEvent> {
        let mut events = kube_events::of_resources(&self.before.resources, &self.next.resources);
        if let Some(change) = path::change(&self.before.path, &self.next.path) {
            events.push(KubeEvent::normal("PathChanged", change));
        }
        events
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(status: &Value) -> StatusReport {
        let object = json!({
            "metadata": {"name": "app", "generation": 2},
            "spec": {},
            "status": status,
        });
        let owner = Owner::read(OwnerKind::Workload, object);
        StatusReport::of(&owner.expect("the test wrote a valid owner"))
    }

    #[test]
    fn object_that_could_not_be_removed_stays_in_the_status_with_the_reason() {
        let mut report = report(&json!({"resources": [
            {"name": "build", "stampedRef": {"resource": "tasks.pathline.dev", "name": "b"}},
        ]}));
        report.next.resources.clear();
        let now = Time("2026-01-01T00:00:00Z".parse().expect("a time"));
        report.report_removal_failure("build", "forbidden", &now);
        report.report_removal_failure("nobody", "forbidden", &now);
        assert_eq!(report.next.observed_generation, Some(2));
        let [build] = report.next.resources.as_slice() else {
            panic!("{:?}", report.next.resources);
        };
        let reference = build
            .stamped_ref
            .as_ref()
            .expect("the object is still there");
        assert_eq!(reference.name.as_deref(), Some("b"));
        let conditions: Vec<&str> = build
            .conditions
            .iter()
            .map(|it| it.r#type.as_str())
            .collect();
        assert_eq!(conditions, ["ResourceSubmitted", "Ready"]);
        assert!(build.conditions[0].message.ends_with("forbidden"));
    }

    #[test]
    fn change_of_the_path_is_told_once() {
        let build = json!({"resource": "build", "state": "selected", "reason": ""});
        let mut report = report(&json!({ "path": [build] }));
        assert_eq!(report.kube_events(), []);
        report.next.path.clear();
        let note = "the path changed: [build] leaves".to_owned();
        assert_eq!(
            report.kube_events(),
            [KubeEvent::normal("PathChanged", note)]
        );
    }
}
