//! `GitRepository`: Flux's kind, with its fields.

#![expect(
    clippy::duplicated_attributes,
    reason = "clippy takes the types of several columns for one attribute"
)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{SecretReference, Span};
use crate::schema;

/// The repository to follow, with the fields that Flux has.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "source.toolkit.fluxcd.io",
    version = "v1",
    kind = "GitRepository",
    plural = "gitrepositories",
    shortname = "gitrepo",
    namespaced,
    status = "GitRepositoryStatus",
    doc = "A git repository whose content is published as an archive.",
    printcolumn(name = "URL", type_ = "string", json_path = ".spec.url"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct GitRepositorySpec {
    /// The repository: `https://`, `ssh://`, `file://` or an absolute path.
    pub url: String,
    /// The interval at which to ask the repository.
    pub interval: Span,
    /// The time that a fetch may take.
    #[serde(default = "default_timeout")]
    pub timeout: Span,
    /// The reference to follow; the branch `master` if nothing is said.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<GitRepositoryRef>,
    /// A Secret with `username` and `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
    /// Whether to leave it alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// Fields of Flux that are accepted, and refused in the status when they ask for something.
    #[serde(flatten)]
    pub unsupported: Unsupported,
}

fn default_timeout() -> Span {
    Span::new("60s")
}

/// The reference to follow: `name` goes before `commit`, then `tag`, then `branch`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GitRepositoryRef {
    /// A branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// A tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// A range of versions; not supported yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semver: Option<String>,
    /// A full reference name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A commit, by its full id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Fields of Flux that nothing here serves yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unsupported {
    /// Files to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// Whether to fetch submodules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurse_submodules: Option<bool>,
    /// Directories to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse_checkout: Option<Vec<String>>,
    /// A cloud that hands out credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// A Secret with the address of a proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_secret_ref: Option<SecretReference>,
    /// An identity to fetch as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Signatures to check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub verify: Option<Value>,
    /// Other repositories to mix in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_objects")]
    pub include: Option<Vec<Value>>,
}

impl GitRepositorySpec {
    /// Returns the fields that ask for something nobody here does.
    pub fn unsupported_fields(&self) -> Vec<&'static str> {
        let Unsupported {
            ignore,
            recurse_submodules,
            sparse_checkout,
            provider,
            proxy_secret_ref,
            service_account_name,
            verify,
            include,
        } = &self.unsupported;
        let semver = self
            .reference
            .as_ref()
            .and_then(|reference| reference.semver.as_ref());
        [
            ("ref.semver", semver.is_some()),
            ("ignore", ignore.is_some()),
            ("recurseSubmodules", *recurse_submodules == Some(true)),
            (
                "sparseCheckout",
                sparse_checkout.as_ref().is_some_and(|it| !it.is_empty()),
            ),
            (
                "provider",
                provider.as_ref().is_some_and(|it| it != "generic"),
            ),
            ("proxySecretRef", proxy_secret_ref.is_some()),
            ("serviceAccountName", service_account_name.is_some()),
            ("verify", verify.is_some()),
            ("include", include.as_ref().is_some_and(|it| !it.is_empty())),
        ]
        .into_iter()
        .filter_map(|(name, asked)| asked.then_some(name))
        .collect()
    }
}

/// The status of a GitRepository: what was published.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitRepositoryStatus {
    /// The newest generation that was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`, `ArtifactInStorage`, and while it fails `FetchFailed` or `Stalled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The last content that could be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// The value of `reconcile.fluxcd.io/requestedAt` that was last acted upon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// A published archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// The path, below the directory of artifacts.
    pub path: String,
    /// The address, for everybody on this machine.
    pub url: String,
    /// The commit: `main@sha1:<commit>`.
    pub revision: String,
    /// The digest of the archive: `sha256:<digest>`.
    pub digest: String,
    /// The time at which it was published.
    pub last_update_time: Time,
    /// The number of its bytes.
    pub size: i64,
    /// More about it; always empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}
