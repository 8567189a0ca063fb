//! The columns that `kubectl get` shows for the built-in kinds.

use jiff::Timestamp;
use serde_json::Value;

use super::cells;

/// One column of a kind's table.
#[derive(Debug)]
pub(crate) struct Column {
    /// The heading.
    pub(crate) name: &'static str,
    /// The OpenAPI type of its cells.
    pub(crate) kind: &'static str,
    /// The OpenAPI format of its cells; `name` marks the object's name.
    pub(crate) format: &'static str,
    /// 0 is always shown, above that only with `-o wide`.
    pub(crate) priority: i32,
    /// Computes a cell from an object at a time.
    pub(crate) cell: fn(&Value, Timestamp) -> Value,
}

const fn text(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column {
        name,
        kind: "string",
        format: "",
        priority: 0,
        cell,
    }
}

const fn number(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column {
        kind: "integer",
        ..text(name, cell)
    }
}

const fn wide(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column {
        priority: 1,
        ..text(name, cell)
    }
}

const NAME: Column = Column {
    format: "name",
    ..text("Name", cells::name)
};
const AGE: Column = text("Age", cells::age);

/// The columns of kinds for which Kubernetes has no printer.
pub(super) const CREATED_AT: &[Column] = &[
    NAME,
    Column {
        kind: "date",
        ..text("Created At", cells::created_at)
    },
];
pub(super) const NAME_AND_AGE: &[Column] = &[NAME, AGE];
pub(super) const NAMESPACE: &[Column] = &[
    NAME,
    text("Status", |object, _| cells::at(object, "/status/phase")),
    AGE,
];
pub(super) const CONFIG_MAP: &[Column] = &[NAME, text("Data", cells::data_count), AGE];
pub(super) const SECRET: &[Column] = &[
    NAME,
    text("Type", |object, _| cells::at(object, "/type")),
    text("Data", cells::data_count),
    AGE,
];
pub(super) const LEASE: &[Column] = &[
    NAME,
    text("Holder", |object, _| {
        cells::at(object, "/spec/holderIdentity")
    }),
    AGE,
];
pub(super) const EVENT: &[Column] = &[
    text("Last Seen", cells::event_last_seen),
    text("Type", |object, _| cells::at(object, "/type")),
    text("Reason", |object, _| cells::at(object, "/reason")),
    text("Object", cells::event_object),
    wide("Subobject", |object, _| {
        cells::event_field(object, "fieldPath")
    }),
    wide("Source", cells::event_source),
    text("Message", cells::event_message),
    wide("First Seen", cells::event_first_seen),
    wide("Count", cells::event_count),
    Column {
        priority: 1,
        ..NAME
    },
];
pub(super) const POD: &[Column] = &[
    NAME,
    text("Ready", cells::pod_ready),
    text("Status", cells::pod_status),
    text("Restarts", cells::pod_restarts),
    AGE,
    wide("IP", |object, _| {
        cells::or_none(object, "/status/podIPs/0/ip")
    }),
    wide("Node", |object, _| cells::or_none(object, "/spec/nodeName")),
    wide("Nominated Node", |object, _| {
        cells::or_none(object, "/status/nominatedNodeName")
    }),
    wide("Readiness Gates", cells::pod_readiness_gates),
];
pub(super) const SERVICE: &[Column] = &[
    NAME,
    text("Type", |object, _| cells::at(object, "/spec/type")),
    text("Cluster-IP", |object, _| {
        cells::or_none(object, "/spec/clusterIPs/0")
    }),
    text("External-IP", cells::service_external_ip),
    text("Port(s)", cells::service_ports),
    AGE,
    wide("Selector", |object, _| {
        cells::labels(object.pointer("/spec/selector"))
    }),
];
pub(super) const NODE: &[Column] = &[
    NAME,
    text("Status", cells::node_status),
    text("Roles", cells::node_roles),
    AGE,
    text("Version", |object, _| {
        cells::at(object, "/status/nodeInfo/kubeletVersion")
    }),
];
pub(super) const DEPLOYMENT: &[Column] = &[
    NAME,
    text("Ready", cells::replicas_ready),
    text("Up-to-date", |object, _| {
        cells::count_at(object, "/status/updatedReplicas")
    }),
    text("Available", |object, _| {
        cells::count_at(object, "/status/availableReplicas")
    }),
    AGE,
    wide("Containers", cells::container_names),
    wide("Images", cells::container_images),
    wide("Selector", cells::selector),
];
pub(super) const REPLICA_SET: &[Column] = &[
    NAME,
    number("Desired", |object, _| {
        cells::count_at(object, "/spec/replicas")
    }),
    number("Current", |object, _| {
        cells::count_at(object, "/status/replicas")
    }),
    number("Ready", |object, _| {
        cells::count_at(object, "/status/readyReplicas")
    }),
    AGE,
    wide("Containers", cells::container_names),
    wide("Images", cells::container_images),
    wide("Selector", cells::selector),
];
pub(super) const STATEFUL_SET: &[Column] = &[
    NAME,
    text("Ready", cells::replicas_ready),
    AGE,
    wide("Containers", cells::container_names),
    wide("Images", cells::container_images),
];
pub(super) const DAEMON_SET: &[Column] = &[
    NAME,
    number("Desired", |object, _| {
        cells::count_at(object, "/status/desiredNumberScheduled")
    }),
    number("Current", |object, _| {
        cells::count_at(object, "/status/currentNumberScheduled")
    }),
    number("Ready", |object, _| {
        cells::count_at(object, "/status/numberReady")
    }),
    number("Up-to-date", |object, _| {
        cells::count_at(object, "/status/updatedNumberScheduled")
    }),
    number("Available", |object, _| {
        cells::count_at(object, "/status/numberAvailable")
    }),
    text("Node Selector", |object, _| {
        cells::labels(object.pointer("/spec/template/spec/nodeSelector"))
    }),
    AGE,
    wide("Containers", cells::container_names),
    wide("Images", cells::container_images),
    wide("Selector", cells::selector),
];
pub(super) const JOB: &[Column] = &[
    NAME,
    text("Status", cells::job_status),
    text("Completions", cells::job_completions),
    text("Duration", cells::job_duration),
    AGE,
    wide("Containers", cells::container_names),
    wide("Images", cells::container_images),
    wide("Selector", cells::selector),
];
pub(super) const ROLE_BINDING: &[Column] = &[
    NAME,
    text("Role", cells::role_ref),
    AGE,
    wide("Users", |object, _| cells::subjects(object, "User")),
    wide("Groups", |object, _| cells::subjects(object, "Group")),
    wide("ServiceAccounts", |object, _| {
        cells::subjects(object, "ServiceAccount")
    }),
];
