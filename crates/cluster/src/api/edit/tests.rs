//! Tests of what an edit makes of an object.

use serde_json::json;

use super::super::built_in;
use super::*;

/// An edit of a built-in kind, now.
struct Fixture {
    resource: Resource,
    options: WriteOptions,
}

impl Fixture {
    fn of(plural: &str) -> Self {
        let resources = built_in::resources().into_iter();
        let resource = resources
            .into_iter()
            .find(|it| it.plural == plural)
            .unwrap();
        let options = WriteOptions {
            dry_run: false,
            manager: "test".to_owned(),
            validation: Validation::Strict,
        };
        Self { resource, options }
    }

    fn edit(&self, second: i64) -> Edit<'_> {
        Edit {
            resource: &self.resource,
            namespace: "shop",
            name: "a",
            subresource: None,
            options: &self.options,
            now: Timestamp::from_second(second).unwrap(),
        }
    }

    fn create(&self, object: Value) -> Value {
        self.edit(1).create(document(object)).unwrap().object
    }

    fn patch(&self, old: &Value, change: impl FnOnce(&mut Value)) -> Result<Value, Status> {
        let mut object = old.clone();
        change(&mut object);
        let prepared = self.edit(2).replace(old, Replacement::Patched(object))?;
        Ok(prepared.object)
    }
}

fn document(value: Value) -> Document {
    Document {
        value,
        duplicates: Vec::new(),
    }
}

fn mk_deployment() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

#[test]
fn a_new_object_gets_what_the_server_alone_writes() {
    let mut sent = mk_deployment();
    sent["metadata"]["uid"] = "mine".into();
    sent["metadata"]["generation"] = 7.into();
    sent["metadata"]["deletionTimestamp"] = "2020-01-01T00:00:00Z".into();
    sent["metadata"]["labels"] = json!({});
    sent["status"] = json!({"replicas": 3});
    let made = Fixture::of("deployments").create(sent);
    let metadata = &made["metadata"];
    assert_ne!(metadata["uid"], "mine");
    assert_eq!(metadata["generation"], 1);
    assert_eq!(metadata["namespace"], "shop");
    assert_eq!(metadata["creationTimestamp"], "1970-01-01T00:00:01Z");
    assert_eq!(metadata.get("deletionTimestamp"), None);
    assert_eq!(metadata.get("labels"), None, "metadata has no empty maps");
    assert_eq!(
        made.get("status"),
        None,
        "status is a subresource of its own"
    );
}

#[test]
fn an_update_that_changes_nothing_is_the_old_object_whenever_it_comes() {
    let fixture = Fixture::of("deployments");
    let old = fixture.create(mk_deployment());
    assert_eq!(fixture.patch(&old, |_| {}).unwrap(), old);
}

#[test]
fn only_what_is_wanted_counts_as_a_new_generation() {
    let fixture = Fixture::of("deployments");
    let old = fixture.create(mk_deployment());
    let labelled = fixture
        .patch(&old, |it| it["metadata"]["labels"] = json!({"a": "b"}))
        .unwrap();
    assert_eq!(labelled["metadata"]["generation"], 1);
    let scaled = fixture
        .patch(&labelled, |it| it["spec"]["replicas"] = 3.into())
        .unwrap();
    assert_eq!(scaled["metadata"]["generation"], 2);
    let reported = fixture
        .patch(&scaled, |it| it["status"] = json!({"replicas": 3}))
        .unwrap();
    assert_eq!(
        reported, scaled,
        "the status is not written through this endpoint"
    );
}

#[test]
fn the_status_door_changes_the_status_alone() {
    let fixture = Fixture::of("deployments");
    let old = fixture.create(mk_deployment());
    let mut object = old.clone();
    object["spec"]["replicas"] = 9.into();
    object["metadata"]["labels"] = json!({"a": "b"});
    object["status"] = json!({"replicas": 1});
    let edit = Edit {
        subresource: Some("status"),
        ..fixture.edit(2)
    };
    let new = edit
        .replace(&old, Replacement::Patched(object))
        .unwrap()
        .object;
    assert_eq!(new["status"], json!({"replicas": 1}));
    assert_eq!(new["spec"], old["spec"]);
    assert_eq!(new["metadata"]["generation"], 1);
    assert_eq!(new["metadata"].get("labels"), None);
}

#[test]
fn the_texts_of_a_secret_are_folded_into_its_data() {
    let fixture = Fixture::of("secrets");
    let made = fixture.create(json!({
        "metadata": {"name": "a"},
        "stringData": {"user": "admin"},
        "data": {"user": "eA==", "other": "eQ=="},
    }));
    assert_eq!(made["data"], json!({"user": "YWRtaW4=", "other": "eQ=="}));
    assert_eq!(made["type"], "Opaque");
    assert_eq!(made.get("stringData"), None);
}

#[test]
fn an_immutable_config_map_keeps_its_data() {
    let fixture = Fixture::of("configmaps");
    let old = fixture.create(json!({
        "metadata": {"name": "a"}, "data": {"k": "v"}, "immutable": true,
    }));
    let refused = fixture
        .patch(&old, |it| it["data"]["k"] = "w".into())
        .unwrap_err();
    assert_eq!(refused.code(), 422);
    assert!(
        fixture
            .patch(&old, |it| it["metadata"]["labels"] = json!({"a": "b"}))
            .is_ok()
    );
}

#[test]
fn a_replaced_object_must_say_what_it_replaces() {
    let fixture = Fixture::of("leases");
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"},
    });
    let mut old = fixture.create(lease.clone());
    old["metadata"]["resourceVersion"] = "5".into();
    let replace = |version: Option<&str>, uid: Option<&str>| {
        let mut new = lease.clone();
        for (key, value) in [("resourceVersion", version), ("uid", uid)] {
            if let Some(value) = value {
                new["metadata"][key] = value.into();
            }
        }
        fixture
            .edit(2)
            .replace(&old, Replacement::Body(document(new)))
            .map_err(|it| it.code())
    };
    assert!(replace(Some("5"), None).is_ok());
    assert_eq!(replace(None, None).unwrap_err(), 422, "no version");
    assert_eq!(replace(Some("4"), None).unwrap_err(), 409, "an old version");
    assert_eq!(
        replace(Some("5"), Some("other")).unwrap_err(),
        409,
        "another object"
    );
}

#[test]
fn a_patch_is_blamed_for_an_object_that_is_none() {
    let fixture = Fixture::of("configmaps");
    let old = fixture.create(json!({"metadata": {"name": "a"}}));
    for change in [
        json!({"data": {"k": 1}}),
        json!({"nope": 1}),
        json!({"kind": "Secret"}),
    ] {
        let refused = fixture.patch(&old, |it| {
            for (key, value) in change.as_object().unwrap() {
                it[key] = value.clone();
            }
        });
        let body = refused.unwrap_err().to_json();
        assert_eq!(body["code"], 422, "{change}: {body}");
        assert_eq!(body["details"]["causes"][0]["field"], "patch", "{change}");
    }
}
