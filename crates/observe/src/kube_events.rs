//! The Kubernetes events that tell people what a reconcile did and saw.

mod recent;

use pathline_kinds::carto::{ConditionStatus, ResourceStatus, StampedReference};

use crate::stamped_object::{StampedObject, Write};

pub use self::recent::{Decision, Recent};

/// An event about an owner, as Kubernetes shows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KubeEvent {
    /// Whether somebody should look at it.
    pub is_warning: bool,
    /// The reason, in one word.
    pub reason: &'static str,
    /// The message, for people.
    pub note: String,
}

impl KubeEvent {
    /// Says that something happened as it should.
    pub fn normal(reason: &'static str, note: String) -> Self {
        Self {
            is_warning: false,
            reason,
            note,
        }
    }

    /// Says that something happened that somebody should look at.
    pub fn warning(reason: &'static str, note: String) -> Self {
        Self {
            is_warning: true,
            reason,
            note,
        }
    }
}

/// Returns the events of a write that stamped an object.
pub fn of_write(stamped: &StampedObject) -> Vec<KubeEvent> {
    let object = spell(&stamped.reference);
    let applied =
        |verb: &str| KubeEvent::normal("StampedObjectApplied", format!("{verb} object [{object}]"));
    match &stamped.write {
        Write::Nothing => Vec::new(),
        Write::Created => vec![applied("Created")],
        Write::Patched { taken } if taken.is_empty() => vec![applied("Patched")],
        Write::Patched { taken } => {
            let note = format!(
                "took over fields of object [{object}] that another manager had set: {}",
                taken.join(", ")
            );
            vec![
                applied("Patched"),
                KubeEvent::warning("FieldsTakenOver", note),
            ]
        }
    }
}

/// Returns the event of an object that was removed.
pub fn of_removal(object: &str) -> KubeEvent {
    KubeEvent::normal("StampedObjectRemoved", format!("Deleted object [{object}]"))
}

/// Returns the event of an object that could not be removed.
pub fn of_failed_removal(object: &str, why: &str) -> KubeEvent {
    let note = format!("unable to delete object [{object}], which is no longer stamped: {why}");
    KubeEvent::warning("StampedObjectNotRemoved", note)
}

/// Returns the events by which the resources of an owner differ from the last report.
pub fn of_resources(before: &[ResourceStatus], after: &[ResourceStatus]) -> Vec<KubeEvent> {
    let mut events = Vec::new();
    for resource in after {
        let old = before.iter().find(|old| old.name == resource.name);
        let object = resource.stamped_ref.as_ref().map(spell);
        let place = object.map_or_else(String::new, |object| format!(" in [{object}]"));
        let name = &resource.name;
        if !resource.outputs.is_empty() && digests(Some(resource)) != digests(old) {
            let note = format!("[{name}] found a new output{place}");
            events.push(KubeEvent::normal("ResourceOutputChanged", note));
        }
        if let Some(health) = health(resource)
            && old.and_then(self::health) != Some(health)
        {
            let note = format!("[{name}] found healthy status{place} changed to [{health:?}]");
            events.push(KubeEvent::normal("ResourceHealthyStatusChanged", note));
        }
    }
    events
}

fn digests(resource: Option<&ResourceStatus>) -> Vec<&str> {
    let outputs = resource.iter().flat_map(|resource| &resource.outputs);
    outputs.map(|output| output.digest.as_str()).collect()
}

fn health(resource: &ResourceStatus) -> Option<ConditionStatus> {
    let mut conditions = resource.conditions.iter();
    let healthy = conditions.find(|condition| condition.r#type == "Healthy")?;
    Some(healthy.status)
}

fn spell(reference: &StampedReference) -> String {
    let field = |field: &Option<String>| field.clone().unwrap_or_default();
    format!("{}/{}", field(&reference.resource), field(&reference.name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resource(revision: &str, healthy: &str) -> ResourceStatus {
        let time = "2026-01-01T00:00:00Z";
        serde_json::from_value(json!({
            "name": "fetch",
            "stampedRef": {"resource": "configmaps", "name": "m"},
            "outputs": [{"name": "url", "preview": "", "digest": revision, "lastTransitionTime": time}],
            "conditions": [
                {"type": "Healthy", "status": healthy, "reason": "R", "message": "", "lastTransitionTime": time},
            ],
        }))
        .expect("the test wrote a valid status")
    }

    #[test]
    fn new_outputs_and_new_health_are_told_once() {
        let notes = |before: &[ResourceStatus], after| -> Vec<String> {
            let events = of_resources(before, &[after]);
            events.into_iter().map(|event| event.note).collect()
        };
        let first = resource("1", "True");
        assert_eq!(notes(std::slice::from_ref(&first), first.clone()), [""; 0]);
        assert_eq!(
            notes(std::slice::from_ref(&first), resource("2", "True")),
            ["[fetch] found a new output in [configmaps/m]"]
        );
        assert_eq!(
            notes(std::slice::from_ref(&first), resource("1", "False")),
            ["[fetch] found healthy status in [configmaps/m] changed to [False]"]
        );
        assert_eq!(notes(&[], first).len(), 2);
    }
}
