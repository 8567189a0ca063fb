//! The messages of Kubernetes that are read: the numbers and names of their fields.

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) number: u64,
    /// The name in JSON.
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) repeated: bool,
    /// Whether Go keeps it in a pointer, so that zero and nothing are two things.
    pub(super) pointer: bool,
}

/// The type of what a field holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Text,
    Integer,
    Flag,
    Time,
    /// Texts by text.
    Map,
    /// A message around a text of JSON.
    Json,
    Message(&'static [Field]),
}

use Shape::{Flag, Integer, Json, Map, Message, Text, Time};

/// The parts of the envelope `runtime.Unknown` that are messages of their own, or bytes.
pub(super) const TYPE_META_NUMBER: u64 = 1;
pub(super) const RAW_NUMBER: u64 = 2;

/// The one field of a message around JSON.
pub(super) const JSON_NUMBER: u64 = 1;

pub(super) static UNKNOWN: &[Field] =
    &[one(3, "contentEncoding", Text), one(4, "contentType", Text)];

pub(super) static TYPE_META: &[Field] = &[one(1, "apiVersion", Text), one(2, "kind", Text)];

pub(super) static MAP_ENTRY: &[Field] = &[one(1, "key", Text), one(2, "value", Text)];

pub(super) static TIME: &[Field] = &[one(1, "seconds", Integer)];

pub(super) static NAMESPACE: &[Field] = &[
    one(1, "metadata", Message(OBJECT_META)),
    one(2, "spec", Message(&[many(1, "finalizers", Text)])),
    one(3, "status", Message(NAMESPACE_STATUS)),
];

pub(super) static DELETE_OPTIONS: &[Field] = &[
    pointer(1, "gracePeriodSeconds", Integer),
    pointer(2, "preconditions", Message(PRECONDITIONS)),
    pointer(3, "orphanDependents", Flag),
    pointer(4, "propagationPolicy", Text),
    many(5, "dryRun", Text),
];

static PRECONDITIONS: &[Field] = &[pointer(1, "uid", Text), pointer(2, "resourceVersion", Text)];

static NAMESPACE_STATUS: &[Field] = &[
    one(1, "phase", Text),
    many(2, "conditions", Message(NAMESPACE_CONDITION)),
];

static NAMESPACE_CONDITION: &[Field] = &[
    one(1, "type", Text),
    one(2, "status", Text),
    one(4, "lastTransitionTime", Time),
    one(5, "reason", Text),
    one(6, "message", Text),
];

static OBJECT_META: &[Field] = &[
    one(1, "name", Text),
    one(2, "generateName", Text),
    one(3, "namespace", Text),
    one(4, "selfLink", Text),
    one(5, "uid", Text),
    one(6, "resourceVersion", Text),
    one(7, "generation", Integer),
    one(8, "creationTimestamp", Time),
    one(9, "deletionTimestamp", Time),
    pointer(10, "deletionGracePeriodSeconds", Integer),
    one(11, "labels", Map),
    one(12, "annotations", Map),
    many(13, "ownerReferences", Message(OWNER_REFERENCE)),
    many(14, "finalizers", Text),
    many(17, "managedFields", Message(MANAGED_FIELDS)),
];

static OWNER_REFERENCE: &[Field] = &[
    one(1, "kind", Text),
    one(3, "name", Text),
    one(4, "uid", Text),
    one(5, "apiVersion", Text),
    pointer(6, "controller", Flag),
    pointer(7, "blockOwnerDeletion", Flag),
];

static MANAGED_FIELDS: &[Field] = &[
    one(1, "manager", Text),
    one(2, "operation", Text),
    one(3, "apiVersion", Text),
    one(4, "time", Time),
    one(6, "fieldsType", Text),
    one(7, "fieldsV1", Json),
    one(8, "subresource", Text),
];

const fn one(number: u64, name: &'static str, shape: Shape) -> Field {
    Field {
        number,
        name,
        shape,
        repeated: false,
        pointer: false,
    }
}

const fn many(number: u64, name: &'static str, shape: Shape) -> Field {
    Field {
        repeated: true,
        ..one(number, name, shape)
    }
}

const fn pointer(number: u64, name: &'static str, shape: Shape) -> Field {
    Field {
        pointer: true,
        ..one(number, name, shape)
    }
}
