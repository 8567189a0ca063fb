//! Short ways to make what tests need.

use pathline_kinds::carto::ClusterSupplyChain;
use serde_json::{Value, json};

use crate::blueprint::Blueprint;
use crate::owner::{Owner, OwnerKind};
use crate::template::Template;

/// Makes an owner from its JSON; namespace and uid are given if it has none.
pub(crate) fn owner(kind: OwnerKind, mut object: Value) -> Owner {
    let metadata = object["metadata"]
        .as_object_mut()
        .expect("an owner has metadata");
    metadata.entry("namespace").or_insert(json!("dev"));
    metadata.entry("uid").or_insert(json!("uid-1"));
    Owner::read(kind, object).expect("the test wrote a valid owner")
}

/// Makes a supply chain from its JSON, without apiVersion and kind.
pub(crate) fn supply_chain(object: Value) -> Blueprint {
    typed::<ClusterSupplyChain>("ClusterSupplyChain", object).into()
}

/// Makes a template of a kind from its JSON, without apiVersion and kind.
pub(crate) fn template<K>(kind: &str, object: Value) -> Template
where
    K: serde::de::DeserializeOwned + Into<Template>,
{
    typed::<K>(kind, object).into()
}

fn typed<K: serde::de::DeserializeOwned>(kind: &str, mut object: Value) -> K {
    object["apiVersion"] = json!("carto.run/v1alpha1");
    object["kind"] = json!(kind);
    serde_json::from_value(object).expect("the test wrote a valid object")
}
