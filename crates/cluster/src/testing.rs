//! Helpers that the tests of several modules share.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value;

use crate::schema::Schema;

/// Returns the schema of the custom resource that the recordings of a real server are about.
pub(crate) fn widgets() -> &'static Schema {
    static WIDGETS: LazyLock<Schema> = LazyLock::new(|| {
        let definition: Value = serde_json::from_str(include_str!("../testdata/widgets.json"))
            .expect("the definition is JSON");
        let openapi = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        Schema::compile(openapi, "").expect("the schema is structural")
    });
    &WIDGETS
}

/// Makes small JSON values whose fields often collide.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c/~]{1,2}", inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}
