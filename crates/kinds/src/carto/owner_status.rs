//! The status of a Workload or a Deliverable.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Condition, InputStatus, Live, MadeOf, ObjectReference, PathEntry, ResourceStatus};

/// The status of an owner; both kinds of owners have it.
///
/// In the descriptions of the schema `{Kind}`, `{owner}` and `{blueprint}` stand for the words of a kind,
/// which [`super::crds`] puts in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "The status of a {Kind}.")]
pub struct OwnerStatus {
    /// The generation of the owner this status was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "The generation of the {owner} this status was made from.")]
    pub observed_generation: Option<i64>,
    /// The conditions of the owner; `Ready` sums them up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(description = "The conditions of the {owner}; `Ready` sums them up.")]
    pub conditions: Vec<Condition>,
    /// The supply chain that picked the workload up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supply_chain_ref: Option<ObjectReference>,
    /// The delivery that picked the deliverable up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_ref: Option<ObjectReference>,
    /// The state of each resource of the blueprint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(description = "The status of each resource of the {blueprint}.")]
    pub resources: Vec<ResourceStatus>,
    /// The path through the blueprint, if it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(description = "The path through the {blueprint}, if it has several.")]
    pub path: Vec<PathEntry>,
    /// The artifacts that the path makes, and what those are made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<MadeOf>,
    /// The inputs that the owner gives, and how far they have come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputStatus>,
    /// Whether everything that the owner gives now runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// The newest generation of the owner that is, or was, live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_generation: Option<i64>,
}

impl OwnerStatus {
    /// Reads a status field by field: one that cannot be read, because somebody else wrote it or it is of
    /// another version, is as if it was absent and loses nothing of the others.
    ///
    /// ```
    /// use pathline_kinds::carto::OwnerStatus;
    /// use serde_json::json;
    ///
    /// let status = OwnerStatus::read(&json!({"observedGeneration": 3, "conditions": "fine"}));
    /// assert_eq!(status.observed_generation, Some(3));
    /// assert!(status.conditions.is_empty());
    /// ```
    pub fn read(status: &Value) -> Self {
        Self {
            observed_generation: field(status, "observedGeneration"),
            conditions: field(status, "conditions"),
            supply_chain_ref: field(status, "supplyChainRef"),
            delivery_ref: field(status, "deliveryRef"),
            resources: field(status, "resources"),
            path: field(status, "path"),
            outputs: field(status, "outputs"),
            inputs: field(status, "inputs"),
            live: field(status, "live"),
            live_generation: field(status, "liveGeneration"),
        }
    }

    /// Returns the blueprint that picked the owner up, of either kind.
    pub fn blueprint_ref(&self) -> Option<&ObjectReference> {
        self.supply_chain_ref
            .as_ref()
            .or(self.delivery_ref.as_ref())
    }
}

fn field<T: DeserializeOwned + Default>(status: &Value, name: &str) -> T {
    let value = status.get(name).cloned().unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn everything() -> Value {
        let condition = json!({
            "type": "Ready",
            "status": "True",
            "reason": "Ready",
            "message": "",
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        });
        json!({
            "observedGeneration": 2,
            "conditions": [condition],
            "supplyChainRef": {"kind": "ClusterSupplyChain", "name": "web"},
            "deliveryRef": {"kind": "ClusterDelivery", "name": "prod"},
            "resources": [{"name": "source"}],
            "path": [{"resource": "source", "state": "selected", "reason": ""}],
            "outputs": [{"type": "image", "value": "web:1", "passed": ["build"]}],
            "inputs": [{"name": "param:debug", "value": "on", "arrived": true, "live": "True"}],
            "live": "True",
            "liveGeneration": 1,
        })
    }

    #[test]
    fn every_field_is_read_and_written() {
        let status = OwnerStatus::read(&everything());
        assert_eq!(serde_json::to_value(&status).unwrap(), everything());
        assert_eq!(
            serde_json::from_value::<OwnerStatus>(everything()).unwrap(),
            status
        );
    }

    #[test]
    fn a_field_that_cannot_be_read_loses_nothing_of_the_others() {
        let all = everything();
        for name in all.as_object().unwrap().keys() {
            let mut broken = all.clone();
            broken[name] = json!({"of": ["another", "shape"]});
            let mut without = all.clone();
            without.as_object_mut().unwrap().remove(name);
            let read = OwnerStatus::read(&broken);
            // Every field of a reference is optional, and others are passed over.
            if name.ends_with("Ref") {
                broken[name] = json!({});
                assert_eq!(serde_json::to_value(&read).unwrap(), broken);
            } else {
                assert_eq!(serde_json::to_value(&read).unwrap(), without, "{name}");
            }
        }
    }
}
