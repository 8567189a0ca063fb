//! Workload and Deliverable as one thing: the object on whose behalf others are stamped.

mod typed;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pathline_jsonpath::FieldPath;
use serde_json::Value;

use pathline_kinds::carto::{API_VERSION, OwnerParam};

/// The two kinds of owners. Each has its own kind of blueprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnerKind {
    /// An application that a developer wants built; supply chains are for these.
    Workload,
    /// Something that is to be deployed; deliveries are for these.
    Deliverable,
}

impl OwnerKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Workload, Self::Deliverable];

    /// Returns the kind as the API spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workload => "Workload",
            Self::Deliverable => "Deliverable",
        }
    }

    /// Returns the kind as messages and labels spell it.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Workload => "workload",
            Self::Deliverable => "deliverable",
        }
    }

    /// Returns the kind of its blueprints as the API spells it.
    pub fn blueprint_kind(self) -> &'static str {
        match self {
            Self::Workload => "ClusterSupplyChain",
            Self::Deliverable => "ClusterDelivery",
        }
    }

    /// Returns the kind of its blueprints as messages spell it.
    pub fn blueprint_noun(self) -> &'static str {
        match self {
            Self::Workload => "supply chain",
            Self::Deliverable => "delivery",
        }
    }

    /// Returns the kind of its blueprints as conditions and reasons spell it.
    pub(crate) fn blueprint_word(self) -> &'static str {
        match self {
            Self::Workload => "SupplyChain",
            Self::Deliverable => "Delivery",
        }
    }
}

/// One owner, as it stands in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    /// The kind, one of the two.
    pub kind: OwnerKind,
    /// Its name.
    pub name: String,
    /// Its namespace, in which everything is stamped.
    pub namespace: String,
    /// Its uid, which owner references carry.
    pub uid: String,
    /// Its generation.
    pub generation: Option<i64>,
    /// Its labels, by which blueprints and options are selected.
    pub labels: BTreeMap<String, String>,
    /// The parameters it sets.
    pub params: Vec<OwnerParam>,
    /// The whole object, as selectors and templates read it.
    pub object: Value,
}

/// Says why an object is no owner.
#[derive(Debug, thiserror::Error)]
#[error("the {kind} cannot be read")]
pub struct ReadError {
    kind: &'static str,
    #[source]
    source: serde_json::Error,
}

impl Owner {
    /// Reads an owner from its JSON. Who manages which field is left out: no rule may depend on it.
    ///
    /// # Errors
    ///
    /// Fails if metadata or parameters do not have the types of their kind.
    pub fn read(kind: OwnerKind, mut object: Value) -> Result<Self, ReadError> {
        let failed = |source| ReadError {
            kind: kind.noun(),
            source,
        };
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        let metadata = metadata(&object).map_err(failed)?;
        let params = object
            .pointer("/spec/params")
            .cloned()
            .filter(|params| !params.is_null());
        let params = params
            .map_or(Ok(Vec::new()), serde_json::from_value)
            .map_err(failed)?;
        Ok(Self {
            kind,
            name: metadata.name.unwrap_or_default(),
            namespace: metadata.namespace.unwrap_or_default(),
            uid: metadata.uid.unwrap_or_default(),
            generation: metadata.generation,
            labels: metadata.labels.unwrap_or_default(),
            params,
            object,
        })
    }

    /// Returns the values at these fields as they were written, each below the last name on its way.
    ///
    /// A field that has others below it stands for all of those; a list is one value, and what is not
    /// there is null. So a value has one name, however much around it is asked for.
    pub fn values_at<'p>(
        &self,
        fields: impl IntoIterator<Item = &'p FieldPath>,
    ) -> BTreeMap<FieldPath, Value> {
        let mut values = BTreeMap::new();
        for field in fields {
            let value = field.find(&self.object).unwrap_or(&Value::Null);
            add_leaves(field, value, &mut values);
        }
        values
    }

    /// Returns what the owner says itself, by the names that inputs have: its params (`param:debug`),
    /// and the fields of its spec, its labels and its annotations (`field:spec.source.git.url`).
    pub fn said(&self) -> BTreeMap<String, Value> {
        let spec = FieldPath::default().field("spec");
        let metadata = FieldPath::default().field("metadata");
        let roots = ["labels", "annotations"].map(|name| metadata.field(name));
        let roots = [&roots[..], std::slice::from_ref(&spec)].concat();
        let left_out = ["params", "serviceAccountName"].map(|name| spec.field(name));
        let fields = self.values_at(&roots).into_iter();
        let fields =
            fields.filter(|(field, _)| !roots.contains(field) && !left_out.contains(field));
        let fields = fields.map(|(field, value)| (format!("field:{field}"), value));
        let params = self.params.iter();
        let params = params.map(|it| (format!("param:{}", it.name), it.value.clone()));
        fields.chain(params).collect()
    }

    /// Returns the reference that stamped objects carry, so that they go when the owner goes.
    pub(crate) fn reference(&self) -> Value {
        serde_json::json!({
            "apiVersion": API_VERSION,
            "kind": self.kind.name(),
            "name": self.name,
            "uid": self.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }
}

/// The annotation in which kubectl keeps the whole owner, as it was applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn add_leaves(field: &FieldPath, value: &Value, values: &mut BTreeMap<FieldPath, Value>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members.iter().filter(|(name, _)| *name != LAST_APPLIED) {
                add_leaves(&field.field(name), value, values);
            }
        }
        leaf => drop(values.insert(field.clone(), leaf.clone())),
    }
}

/// Reads the metadata of an owner; one that is given offline may have none. A null label is no label.
fn metadata(object: &Value) -> Result<ObjectMeta, serde_json::Error> {
    let mut metadata = object.get("metadata").cloned().unwrap_or_default();
    if metadata.is_null() {
        return Ok(ObjectMeta::default());
    }
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        labels.retain(|_, label| !label.is_null());
    }
    serde_json::from_value(metadata)
}
