//! Files and variables from ConfigMaps and Secrets, written as in the spec of a pod.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of the value of a variable; one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VariableSource {
    /// A key of a ConfigMap in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<KeyReference>,
    /// A key of a Secret in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<KeyReference>,
}

/// Names a key of a ConfigMap or Secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyReference {
    /// The name of the object.
    pub name: String,
    /// The key.
    pub key: String,
}

/// The files of a ConfigMap, of a Secret, or of several of them in the same namespace; one of the three.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Volume {
    /// The name by which it is mounted.
    pub name: String,
    /// The ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapVolume>,
    /// The Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretVolume>,
    /// Several of them, in one directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projected: Option<ProjectedVolume>,
}

/// Several ConfigMaps and Secrets in one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectedVolume {
    /// The ConfigMaps and Secrets; of two files with one name the later one is taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<VolumeProjection>,
}

/// A ConfigMap or a Secret of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeProjection {
    /// The ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapVolume>,
    /// The Secret, which is named as a ConfigMap is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<ConfigMapVolume>,
}

/// The files of a ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigMapVolume {
    /// The name of the ConfigMap.
    pub name: String,
    /// The keys, each with the file that it becomes; none are all of them, each by its own name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<KeyToPath>,
}

/// The files of a Secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretVolume {
    /// The name of the Secret.
    pub secret_name: String,
    /// The keys, each with the file that it becomes; none are all of them, each by its own name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<KeyToPath>,
}

/// A key of a ConfigMap or Secret, and the file that it becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyToPath {
    /// The key.
    pub key: String,
    /// The path of the file below that of the mount.
    pub path: String,
}

/// The place of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeMount {
    /// The name of the volume.
    pub name: String,
    /// The directory, below that in which the command runs: `/etc/web` is `etc/web` there.
    pub mount_path: String,
    /// Taken for the sake of pods: each process has files of its own.
    #[serde(default)]
    pub read_only: bool,
}
