//! The table of built-in kinds.

use super::BuiltinKind;
use super::columns::{self, Column};

/// The properties that most kinds have in common; the table states what differs.
const NAMESPACED: BuiltinKind = BuiltinKind {
    group: "",
    version: "v1",
    kind: "",
    plural: "",
    singular: "",
    short_names: &[],
    categories: &[],
    namespaced: true,
    has_status: false,
    has_scale: false,
    has_generation: false,
    columns: columns::CREATED_AT,
    definition: "",
};

/// The properties that the workload kinds, which run pods, have in common.
const WORKLOAD: BuiltinKind = BuiltinKind {
    group: "apps",
    categories: &["all"],
    has_status: true,
    has_scale: true,
    has_generation: true,
    ..NAMESPACED
};

const RBAC: BuiltinKind = BuiltinKind {
    group: "rbac.authorization.k8s.io",
    ..NAMESPACED
};

static KINDS: &[BuiltinKind] = &[
    BuiltinKind {
        namespaced: false,
        has_status: true,
        short_names: &["ns"],
        definition: "io.k8s.api.core.v1.Namespace",
        ..core("Namespace", "namespaces", "namespace", columns::NAMESPACE)
    },
    BuiltinKind {
        short_names: &["cm"],
        definition: "io.k8s.api.core.v1.ConfigMap",
        ..core("ConfigMap", "configmaps", "configmap", columns::CONFIG_MAP)
    },
    BuiltinKind {
        definition: "io.k8s.api.core.v1.Secret",
        ..core("Secret", "secrets", "secret", columns::SECRET)
    },
    BuiltinKind {
        short_names: &["sa"],
        definition: "io.k8s.api.core.v1.ServiceAccount",
        ..core(
            "ServiceAccount",
            "serviceaccounts",
            "serviceaccount",
            columns::NAME_AND_AGE,
        )
    },
    BuiltinKind {
        short_names: &["ev"],
        definition: "io.k8s.api.core.v1.Event",
        ..core("Event", "events", "event", columns::EVENT)
    },
    BuiltinKind {
        group: "events.k8s.io",
        short_names: &["ev"],
        definition: "io.k8s.api.events.v1.Event",
        ..core("Event", "events", "event", columns::EVENT)
    },
    BuiltinKind {
        short_names: &["po"],
        categories: &["all"],
        has_status: true,
        has_generation: true,
        definition: "io.k8s.api.core.v1.Pod",
        ..core("Pod", "pods", "pod", columns::POD)
    },
    BuiltinKind {
        short_names: &["svc"],
        categories: &["all"],
        has_status: true,
        definition: "io.k8s.api.core.v1.Service",
        ..core("Service", "services", "service", columns::SERVICE)
    },
    BuiltinKind {
        namespaced: false,
        has_status: true,
        short_names: &["no"],
        definition: "io.k8s.api.core.v1.Node",
        ..core("Node", "nodes", "node", columns::NODE)
    },
    BuiltinKind {
        kind: "Deployment",
        plural: "deployments",
        singular: "deployment",
        short_names: &["deploy"],
        columns: columns::DEPLOYMENT,
        definition: "io.k8s.api.apps.v1.Deployment",
        ..WORKLOAD
    },
    BuiltinKind {
        kind: "ReplicaSet",
        plural: "replicasets",
        singular: "replicaset",
        short_names: &["rs"],
        columns: columns::REPLICA_SET,
        definition: "io.k8s.api.apps.v1.ReplicaSet",
        ..WORKLOAD
    },
    BuiltinKind {
        kind: "StatefulSet",
        plural: "statefulsets",
        singular: "statefulset",
        short_names: &["sts"],
        columns: columns::STATEFUL_SET,
        definition: "io.k8s.api.apps.v1.StatefulSet",
        ..WORKLOAD
    },
    BuiltinKind {
        kind: "DaemonSet",
        plural: "daemonsets",
        singular: "daemonset",
        short_names: &["ds"],
        has_scale: false,
        columns: columns::DAEMON_SET,
        definition: "io.k8s.api.apps.v1.DaemonSet",
        ..WORKLOAD
    },
    BuiltinKind {
        group: "batch",
        kind: "Job",
        plural: "jobs",
        singular: "job",
        has_scale: false,
        columns: columns::JOB,
        definition: "io.k8s.api.batch.v1.Job",
        ..WORKLOAD
    },
    BuiltinKind {
        group: "coordination.k8s.io",
        kind: "Lease",
        plural: "leases",
        singular: "lease",
        columns: columns::LEASE,
        definition: "io.k8s.api.coordination.v1.Lease",
        ..NAMESPACED
    },
    BuiltinKind {
        kind: "Role",
        plural: "roles",
        singular: "role",
        definition: "io.k8s.api.rbac.v1.Role",
        ..RBAC
    },
    BuiltinKind {
        kind: "RoleBinding",
        plural: "rolebindings",
        singular: "rolebinding",
        columns: columns::ROLE_BINDING,
        definition: "io.k8s.api.rbac.v1.RoleBinding",
        ..RBAC
    },
    BuiltinKind {
        kind: "ClusterRole",
        plural: "clusterroles",
        singular: "clusterrole",
        namespaced: false,
        definition: "io.k8s.api.rbac.v1.ClusterRole",
        ..RBAC
    },
    BuiltinKind {
        kind: "ClusterRoleBinding",
        plural: "clusterrolebindings",
        singular: "clusterrolebinding",
        namespaced: false,
        columns: columns::ROLE_BINDING,
        definition: "io.k8s.api.rbac.v1.ClusterRoleBinding",
        ..RBAC
    },
    BuiltinKind {
        group: "apiextensions.k8s.io",
        kind: "CustomResourceDefinition",
        plural: "customresourcedefinitions",
        singular: "customresourcedefinition",
        short_names: &["crd", "crds"],
        categories: &["api-extensions"],
        namespaced: false,
        has_status: true,
        has_generation: true,
        definition: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
        ..NAMESPACED
    },
];

/// Returns the built-in kinds, core ones first.
pub(crate) fn kinds() -> &'static [BuiltinKind] {
    KINDS
}

const fn core(
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    columns: &'static [Column],
) -> BuiltinKind {
    BuiltinKind {
        kind,
        plural,
        singular,
        columns,
        ..NAMESPACED
    }
}
