//! `Process`: a command that is kept running.

#![expect(
    clippy::duplicated_attributes,
    reason = "clippy takes the types of several columns for one attribute"
)]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Source, Span, Variable, Volume, VolumeMount};

/// The command to keep running. A change of anything here stops it and starts it anew.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "pathline.dev",
    version = "v1alpha1",
    kind = "Process",
    plural = "processes",
    namespaced,
    status = "ProcessStatus",
    category = "all",
    doc = "A command that is kept running.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].reason"
    ),
    printcolumn(name = "Restarts", type_ = "integer", json_path = ".status.restarts"),
    printcolumn(
        name = "Revision",
        type_ = "string",
        json_path = ".status.running.source.revision",
        priority = 1
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ProcessSpec {
    /// The files the command starts with; none is an empty directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The program and its arguments; there is no shell in between.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// Variables for the command, beside PATH, HOME, TMPDIR, LANG and those that start with PATHLINE_.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<Variable>,
    /// ConfigMaps and Secrets whose files can be mounted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Volume>,
    /// The directories of their files when it starts. Another content of the same object starts nothing anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// The probe that tells whether it is ready; without, it is once it has been running for a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness: Option<Readiness>,
    /// The time that the command may take to end after it was asked to.
    #[serde(default = "default_stop_timeout")]
    pub stop_timeout: Span,
}

fn default_stop_timeout() -> Span {
    Span::new("10s")
}

/// The probe that tells whether a process is ready.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// A request that must succeed.
    pub http_get: HttpGet,
    /// The interval at which to ask.
    #[serde(default = "default_period")]
    #[schemars(range(min = 1))]
    pub period_seconds: u32,
}

fn default_period() -> u32 {
    1
}

/// A request to this machine; 2xx and 3xx are success, if it is the process or one of its descendants that answers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HttpGet {
    /// The port.
    #[schemars(range(min = 1))]
    pub port: u16,
    /// The path.
    #[serde(default = "default_path")]
    #[schemars(regex(pattern = r"^/[!-~]*$"))]
    pub path: String,
}

fn default_path() -> String {
    "/".into()
}

/// The status of a Process.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStatus {
    /// The generation the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`: Unknown while it starts or stops; False when it has ended, does not answer or somebody else has its port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The process id, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i64>,
    /// The number of times that this generation had to be started again.
    #[serde(default)]
    pub restarts: u32,
    /// The number of times in a row that it ended on its own before it had run for a while.
    #[serde(default)]
    pub crashes: u32,
    /// The time at which it was started, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// The inputs of the process, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
    /// The end of the log when the status was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_tail: Option<String>,
    /// The path of the log of the newest start; those of the last few others are beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_path: Option<String>,
}

/// The inputs of a running process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Running {
    /// The generation of the object.
    pub generation: i64,
    /// The files it was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}
