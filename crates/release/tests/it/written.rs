//! Digests of what was written to an owner, and what they tell.

use std::collections::BTreeMap;

use pathline_release::objects::{Part, WRITTEN, changed, parts, written};
use serde_json::{Value, json};

fn mk_spec() -> Value {
    json!({
        "image": "r.example/a@sha256:1",
        "env": [{"name": "A", "value": "1"}],
        "params": [{"name": "config", "value": {"a": 1}}, {"name": "release", "value": {"number": 1}}],
        "source": {"git": {"url": "https://git.example/a"}},
    })
}

fn mk_labels(value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("apps.example/type".to_owned(), value.to_owned())])
}

#[test]
fn each_field_that_is_not_as_it_was_written_is_named() {
    let digests = written(&mk_spec(), &mk_labels("web"));
    let annotations = BTreeMap::from([(WRITTEN.to_owned(), digests)]);
    let told = |spec: &Value, label: &str| changed(&annotations, &mk_labels(label), spec);
    assert_eq!(told(&mk_spec(), "web"), Some(Vec::new()));
    for (pointer, value, said) in [
        (
            "/image",
            json!("r.example/b@sha256:1"),
            "`spec.image` was changed",
        ),
        ("/env", json!([]), "`spec.env` was changed"),
        ("/env/0/value", json!("2"), "`spec.env` was changed"),
        (
            "/params/0/value/a",
            json!(2),
            "`spec.params[config]` was changed",
        ),
        (
            "/params/0/value",
            json!({}),
            "`spec.params[config]` was changed",
        ),
    ] {
        let mut spec = mk_spec();
        *spec.pointer_mut(pointer).expect("it is there") = value;
        assert_eq!(told(&spec, "web"), Some(vec![said.to_owned()]), "{pointer}");
    }
    let mut spec = mk_spec();
    spec["resources"] = json!({"limits": {"cpu": "1"}});
    spec["source"] = json!({});
    spec["params"][0]["name"] = json!("other");
    spec.as_object_mut().expect("a map").remove("env");
    let said = [
        "`metadata.labels[apps.example/type]` was changed",
        "`spec.env` was removed",
        "`spec.params[config]` was removed",
        "`spec.params[other]` was added",
        "`spec.resources` was added",
    ];
    assert_eq!(told(&spec, "job"), Some(said.map(str::to_owned).to_vec()));
}

#[test]
fn label_that_somebody_adds_is_no_change() {
    let digests = written(&mk_spec(), &mk_labels("web"));
    let annotations = BTreeMap::from([(WRITTEN.to_owned(), digests)]);
    let mut labels = mk_labels("web");
    labels.insert("team".to_owned(), "shop".to_owned());
    assert_eq!(changed(&annotations, &labels, &mk_spec()), Some(Vec::new()));
}

#[test]
fn nothing_is_told_of_an_owner_without_digests() {
    for annotations in [
        BTreeMap::new(),
        BTreeMap::from([(WRITTEN.to_owned(), "no digests".to_owned())]),
    ] {
        assert_eq!(changed(&annotations, &BTreeMap::new(), &mk_spec()), None);
    }
}

#[test]
fn parts_are_what_files_and_variables_are_in() {
    let part = |is_secret, name: &str| Part {
        is_secret,
        name: name.to_owned(),
    };
    let files = json!([{"name": "a-1", "secret": false}, {"name": "a-2", "secret": true}]);
    let secret = json!({"name": "B", "valueFrom": {"secretKeyRef": {"name": "a-3", "key": "B"}}});
    let env = json!([{"name": "A", "value": "1"}, secret, secret]);
    let of_files = json!({"name": "configMaps", "value": files});
    let all = [part(false, "a-1"), part(true, "a-2"), part(true, "a-3")];
    let workload = json!({"env": env, "params": [of_files]});
    assert_eq!(parts(&workload), all);
    let deliverable = json!({"params": [of_files, {"name": "env", "value": env}]});
    assert_eq!(parts(&deliverable), all);
    assert_eq!(parts(&mk_spec()), []);
}
