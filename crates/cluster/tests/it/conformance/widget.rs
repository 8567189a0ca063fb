//! The custom resource that the suite works with.

use anyhow::Result;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::PostParams;
use kube::runtime::wait::{await_condition, conditions::is_crd_established};
use kube::{Api, Client, CustomResource};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The object that a test asks for; the rules are in [`definition`].
#[derive(CustomResource, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "conformance.pathline.dev",
    version = "v1",
    kind = "Widget",
    namespaced,
    status = "WidgetStatus",
    schema = "disabled"
)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WidgetSpec {
    pub(crate) color: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WidgetStatus {
    pub(crate) observed_generation: Option<i64>,
    pub(crate) conditions: Vec<Condition>,
}

/// Makes a red widget.
pub(crate) fn mk_widget(name: &str) -> Widget {
    Widget::new(
        name,
        WidgetSpec {
            color: "red".to_owned(),
            ..WidgetSpec::default()
        },
    )
}

/// Returns the definition, which uses what definitions of supply chains use: defaults, an enum,
/// bounds, lists merged as sets and by key, open-ended parts, a status and printer columns.
pub(crate) fn definition() -> CustomResourceDefinition {
    let definition = json!({
        "metadata": {"name": "widgets.conformance.pathline.dev"},
        "spec": {
            "group": "conformance.pathline.dev",
            "scope": "Namespaced",
            "names": {
                "kind": "Widget", "plural": "widgets", "singular": "widget",
                "shortNames": ["wd"], "categories": ["gadgets"],
            },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                    {"name": "Ready", "type": "string",
                     "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
                    {"name": "Note", "type": "string", "jsonPath": ".spec.note", "priority": 1},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
                "schema": {"openAPIV3Schema": schema()},
            }],
        },
    });
    serde_json::from_value(definition).expect("the definition is well formed")
}

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "required": ["color"],
                "properties": {
                    "color": {"type": "string", "enum": ["red", "green", "blue"]},
                    "size": {"type": "integer", "default": 1, "minimum": 0, "maximum": 10},
                    "note": {"type": "string", "maxLength": 20, "pattern": "^[a-z ]*$"},
                    "tags": {
                        "type": "array", "items": {"type": "string"},
                        "x-kubernetes-list-type": "set",
                    },
                    "ports": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "required": ["name", "port"],
                            "properties": {
                                "name": {"type": "string"},
                                "port": {"type": "integer", "format": "int32"},
                                "protocol": {"type": "string", "default": "TCP"},
                            },
                        },
                    },
                    "limits": {
                        "type": "object",
                        "additionalProperties": {"x-kubernetes-int-or-string": true},
                    },
                    "template": {
                        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    },
                },
            },
            "status": {
                "type": "object",
                "properties": {
                    "observedGeneration": {"type": "integer"},
                    "phase": {"type": "string"},
                    "conditions": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                        "items": {
                            "type": "object",
                            "required": ["type", "status"],
                            "properties": {
                                "type": {"type": "string"},
                                "status": {"type": "string"},
                                "reason": {"type": "string"},
                                "message": {"type": "string"},
                                "lastTransitionTime": {"type": "string", "format": "date-time"},
                                "observedGeneration": {"type": "integer"},
                            },
                        },
                    },
                },
            },
        },
    })
}

/// Installs the definition and waits until its kind is served.
pub(crate) async fn install(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions
        .create(&PostParams::default(), &definition())
        .await?;
    let name = "widgets.conformance.pathline.dev";
    await_condition(definitions, name, is_crd_established()).await?;
    Ok(())
}
