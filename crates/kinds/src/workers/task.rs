//! `Task`: a command that runs once in a checked-out source.

#![expect(
    clippy::duplicated_attributes,
    reason = "clippy takes the types of several columns for one attribute"
)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ByteSize, Source, Span, Variable};

/// The command to run. A change of anything here runs it again.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "pathline.dev",
    version = "v1alpha1",
    kind = "Task",
    namespaced,
    status = "TaskStatus",
    category = "all",
    doc = "A command that runs once in a checked-out source.",
    printcolumn(
        name = "Succeeded",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Succeeded')].status"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Succeeded')].reason"
    ),
    printcolumn(
        name = "Revision",
        type_ = "string",
        json_path = ".spec.source.revision",
        priority = 1
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct TaskSpec {
    /// The files the command starts with; none is an empty directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The program and its arguments; there is no shell in between.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// Variables for the command, beside PATH, HOME, TMPDIR, LANG and those that start with PATHLINE_.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<Variable>,
    /// The files to keep after the command succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// The time that the command may run.
    #[serde(default = "default_timeout")]
    pub timeout: Span,
    /// The size to which the log may grow; the oldest part goes first.
    #[serde(default = "default_log_limit")]
    pub log_limit: ByteSize,
}

fn default_timeout() -> Span {
    Span::new("10m")
}

fn default_log_limit() -> ByteSize {
    ByteSize::new("1Mi")
}

/// Something the command leaves behind: the content of a file, or a directory as an archive.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The key in `status.outputs`.
    pub name: String,
    /// A file whose trimmed content is the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A directory that is packed; the URL of the archive is the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// A file whose trimmed content tags the packed directory: the value then refers to the archive as one refers to an
    /// image, `URL:TAG@sha256:DIGEST`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// The status of a Task: how the newest run went, and what the last success produced.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The generation the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Succeeded`: Unknown while it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The time at which the newest run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// The time at which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
    /// The exit code of the command, if it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The end of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_tail: Option<String>,
    /// The path of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_path: Option<String>,
    /// The generation that `source` and `outputs` came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeded_generation: Option<i64>,
    /// The source of the last success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The outputs of the last success.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
}
