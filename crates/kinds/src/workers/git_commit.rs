//! `GitCommit`: files to write to a git repository.

#![expect(
    clippy::duplicated_attributes,
    reason = "clippy takes the types of several columns for one attribute"
)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SecretReference;

/// The files to write. A change of anything here is written as a further commit.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "pathline.dev",
    version = "v1alpha1",
    kind = "GitCommit",
    namespaced,
    status = "GitCommitStatus",
    category = "all",
    doc = "Files to write to a branch of a git repository.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(name = "Revision", type_ = "string", json_path = ".status.revision"),
    printcolumn(name = "URL", type_ = "string", json_path = ".spec.url", priority = 1),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct GitCommitSpec {
    /// The repository: `https://`, `ssh://`, `file://` or an absolute path.
    pub url: String,
    /// The branch; it is created when it does not exist.
    #[serde(default = "default_branch")]
    pub branch: String,
    /// The files: paths in the repository and their content. Others stay as they are.
    #[schemars(extend("minProperties" = 1))]
    pub files: BTreeMap<String, String>,
    /// The commit message.
    pub message: String,
    /// The author; the committer is Pathline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Trailers at the end of the message, as git writes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trailers: BTreeMap<String, String>,
    /// A Secret with `username` and `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
}

fn default_branch() -> String {
    "main".into()
}

/// The author of a commit.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// The status of a GitCommit: what was written.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitCommitStatus {
    /// The generation the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`: True once the branch has the files, Unknown while they are written; `Stalled` when only a change of the object can help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The commit that has the files, of the last success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The same with its branch: `main@sha1:<commit>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}
