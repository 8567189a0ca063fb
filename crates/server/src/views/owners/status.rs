//! The status of an owner, as the cluster has it: who it is, how it is, and its path.

use kube::ResourceExt;
use kube::api::DynamicObject;
use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::{ObjectName, OwnerRef, OwnerSummary, PathStep, Ready};
use pathline_kinds::carto::{
    Condition, ObjectReference, OwnerStatus, PathEntry, ResourceStatus, StampedReference,
};
use serde_json::Value;

const SELECTED: &str = "selected";
const SKIPPED: &str = "skipped";

/// Reads the status of an object; one that is not Pathline's tells nothing.
fn status(object: &DynamicObject) -> OwnerStatus {
    OwnerStatus::read(object.data.get("status").unwrap_or(&Value::Null))
}

/// Says who an owner is, and how it is.
pub(super) fn summary(kind: OwnerKind, object: &DynamicObject) -> OwnerSummary {
    let status = status(object);
    let ready = ready(&status.conditions);
    // The status still names the blueprint of before where none is found now.
    let word = kind.blueprint_kind().trim_start_matches("Cluster");
    let is_lost = ready
        .as_ref()
        .is_some_and(|it| it.status == "False" && it.reason == format!("{word}NotFound"));
    let blueprint = status.blueprint_ref().filter(|_| !is_lost).cloned();
    OwnerSummary {
        owner: OwnerRef {
            kind: kind.name().to_owned(),
            namespace: object.namespace().unwrap_or_default(),
            name: object.name_any(),
            uid: object.uid().unwrap_or_default(),
        },
        generation: object.metadata.generation.unwrap_or_default(),
        created: object.creation_timestamp().map(|time| time.0),
        blueprint: blueprint.and_then(object_name),
        ready,
    }
}

/// Says which way the owner takes through its blueprint, in declared order.
pub(super) fn path(object: &DynamicObject) -> Vec<PathStep> {
    let status = status(object);
    let resources = status.resources.iter();
    let mut steps: Vec<PathStep> = resources.map(|it| step(it, &status.path)).collect();
    let known = |name: &str| status.resources.iter().any(|it| it.name == name);
    // What is being retired, say, is on no list of resources any more.
    let others = status.path.iter().filter(|entry| !known(&entry.resource));
    steps.extend(others.map(bare_step));
    steps
}

fn step(resource: &ResourceStatus, path: &[PathEntry]) -> PathStep {
    let entry = path.iter().find(|entry| entry.resource == resource.name);
    let is_skipped = resource.conditions.iter().any(|it| it.r#type == "Selected");
    let presumed = if is_skipped { SKIPPED } else { SELECTED };
    let decided = entry.map_or_else(
        || PathStep {
            state: presumed.to_owned(),
            ..bare(&resource.name)
        },
        bare_step,
    );
    PathStep {
        template: resource.template_ref.clone().and_then(object_name),
        object: resource.stamped_ref.clone().and_then(stamped_name),
        inputs: resource.inputs.iter().map(|it| it.name.clone()).collect(),
        ready: ready(&resource.conditions),
        ..decided
    }
}

fn bare_step(entry: &PathEntry) -> PathStep {
    let state = serde_json::to_value(entry.state).ok();
    let state = state.as_ref().and_then(Value::as_str).unwrap_or_default();
    PathStep {
        state: state.to_owned(),
        option: entry.option,
        reason: Some(entry.reason.clone()).filter(|reason| !reason.is_empty()),
        ..bare(&entry.resource)
    }
}

fn bare(resource: &str) -> PathStep {
    PathStep {
        resource: resource.to_owned(),
        state: SELECTED.to_owned(),
        option: None,
        template: None,
        object: None,
        inputs: Vec::new(),
        reason: None,
        ready: None,
    }
}

fn ready(conditions: &[Condition]) -> Option<Ready> {
    let ready = conditions.iter().find(|it| it.r#type == "Ready")?;
    Some(Ready {
        status: format!("{:?}", ready.status),
        reason: ready.reason.clone(),
        message: ready.message.clone(),
    })
}

fn object_name(reference: ObjectReference) -> Option<ObjectName> {
    Some(ObjectName {
        kind: reference.kind?,
        api_version: reference.api_version,
        namespace: reference.namespace,
        name: reference.name?,
    })
}

fn stamped_name(reference: StampedReference) -> Option<ObjectName> {
    Some(ObjectName {
        kind: reference.kind?,
        api_version: reference.api_version,
        namespace: reference.namespace,
        name: reference.name?,
    })
}
