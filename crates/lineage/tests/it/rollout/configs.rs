//! ConfigMaps and Secrets that pods read only when they start.

#![expect(
    clippy::unwrap_used,
    reason = "what the tests write can be read by them"
)]

use jiff::Timestamp;
use pathline_lineage::Stage;
use pathline_lineage::rollout::{
    Below, ConfigKind, ConfigObservation, ConfigRecord, Fed, FedBy, Object, PodsBelow, judge,
    judge_fed,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{complete, deployment, pod, progresses, ready, replica_set};

pub(super) fn time(second: i64) -> Value {
    json!(Timestamp::from_second(second).unwrap().to_string())
}

/// A ConfigMap whose content was written in a second.
pub(super) fn config(version: u64, value: &str, second: i64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": "settings", "namespace": "dev", "uid": "config", "resourceVersion": version.to_string(),
            "creationTimestamp": time(0),
            "managedFields": [{
                "manager": "pathline", "operation": "Apply", "time": time(second),
                "fieldsV1": {"f:data": {"f:debug": {}}},
            }],
        },
        "data": {"debug": value},
    })
}

/// A ready pod that reads it so, made and started in these seconds.
pub(super) fn reader(name: &str, made: i64, started: i64, container: Value) -> Value {
    let mut pod = pod(name, "new", ready(""));
    pod["metadata"]["creationTimestamp"] = time(made);
    let status = &mut pod["status"]["containerStatuses"][0];
    status["state"] = json!({"running": {"startedAt": time(started)}});
    let asked = &mut pod["spec"]["containers"][0];
    for (field, value) in container.as_object().unwrap() {
        asked[field] = value.clone();
    }
    pod["spec"]["volumes"] = json!([{"name": "files", "configMap": {"name": "settings"}}]);
    pod
}

pub(super) fn env() -> Value {
    json!({"env": [{"name": "DEBUG", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "debug"}}}]})
}

fn mounted(sub_path: Option<&str>) -> Value {
    json!({"volumeMounts": [{"name": "files", "mountPath": "/etc/app", "subPath": sub_path}]})
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().map(|it| format!("{it:02x}")).collect()
}

pub(super) fn observe(object: &Value, before: Option<&Value>) -> ConfigObservation {
    ConfigObservation::read(ConfigKind::ConfigMap, object, before, false, "pathline")
}

pub(super) fn fed(
    object: &Value,
    below: &Below,
    record: &ConfigRecord,
    observed: Option<&ConfigObservation>,
) -> Fed {
    let object = Object::read(object);
    assert_eq!(judge(&object, below, &[]).stage, Stage::Done);
    judge_fed(
        [PodsBelow::of(&object, below)],
        &[FedBy::new(record, observed)],
    )
}

/// Judges one pod of a Deployment by a ConfigMap that was changed in second 100.
fn of_one(pod: &Value, change: impl FnOnce(&mut Value, &mut Value)) -> Stage {
    let mut set = replica_set("new", "2");
    let mut config = config(50, "on", 100);
    change(&mut set, &mut config);
    let mut below = Below::default();
    below.seen(&set);
    below.seen(pod);
    let observed = observe(&config, None);
    let record = ConfigRecord::after(None, &observed, 1_000);
    fed(
        &deployment(1, complete(1)),
        &below,
        &record,
        Some(&observed),
    )
    .stage
}

#[test]
fn point_17_a_pod_that_started_before_its_config_changed_is_not_live_and_says_what_to_do() {
    let stage = of_one(&reader("a", 10, 12, env()), |_, _| ());
    progresses(
        &stage,
        "1 of 1 pods started before ConfigMap `settings` changed",
    );
    progresses(
        &stage,
        "`kubectl rollout restart -n dev deployment/app`, or let the template put the hash",
    );
    assert_eq!(
        of_one(&reader("a", 101, 103, env()), |_, _| ()),
        Stage::Done
    );
    assert_eq!(of_one(&reader("a", 10, 103, env()), |_, _| ()), Stage::Done);
}

#[test]
fn point_17_files_that_the_node_keeps_up_to_date_do_not_count() {
    let directory = reader("a", 10, 12, mounted(None));
    assert_eq!(of_one(&directory, |_, _| ()), Stage::Done);
    let stage = of_one(&directory, |_, config| config["immutable"] = json!(true));
    progresses(&stage, "started before");
    for started in [12, 103] {
        let file = reader("a", 10, started, mounted(Some("debug")));
        progresses(&of_one(&file, |_, _| ()), "started before");
    }
    let file = reader("a", 101, 103, mounted(Some("debug")));
    assert_eq!(of_one(&file, |_, _| ()), Stage::Done);
}

#[test]
fn point_17_a_pod_that_carries_the_hash_has_read_it() {
    let old = reader("a", 10, 12, env());
    let carried = |text: String| {
        of_one(&old, |set, _| {
            set["spec"]["template"] = json!({"metadata": {"annotations": {"config": text}}});
        })
    };
    assert_eq!(carried(hash(r#"{"debug":"on"}"#)), Stage::Done);
    assert_eq!(carried(hash("on")), Stage::Done);
    for other in [hash("off"), "on".to_owned(), "0".repeat(64)] {
        progresses(&carried(other), "started before");
    }
}

#[test]
fn point_17_the_hash_of_one_value_says_nothing_of_the_others() {
    let whole = json!({"envFrom": [{"configMapRef": {"name": "settings"}}]});
    let digest = hash("on");
    let judged = |container: Value| {
        of_one(&reader("a", 10, 12, container), |set, config| {
            config["data"]["more"] = json!("x");
            set["spec"]["template"] = json!({"metadata": {"labels": {"config": digest}}});
        })
    };
    assert_eq!(judged(env()), Stage::Done);
    progresses(&judged(whole), "started before");
}

#[test]
fn point_17_other_objects_and_kinds_do_not_matter() {
    let old = reader("a", 10, 12, env());
    let elsewhere = of_one(&old, |_, config| {
        config["metadata"]["name"] = json!("other")
    });
    assert_eq!(elsewhere, Stage::Done);
    let observed = ConfigObservation::read(
        ConfigKind::Secret,
        &config(50, "on", 100),
        None,
        false,
        "pathline",
    );
    let record = ConfigRecord::after(None, &observed, 1_000);
    let mut below = Below::default();
    below.seen(&replica_set("new", "2"));
    below.seen(&old);
    let judged = fed(
        &deployment(1, complete(1)),
        &below,
        &record,
        Some(&observed),
    );
    assert_eq!(judged.stage, Stage::Done);
}

#[test]
fn point_17_a_config_that_cannot_be_read_is_judged_by_what_is_remembered() {
    let observed = observe(&config(50, "on", 100), None);
    let record = ConfigRecord::after(None, &observed, 1_000);
    for (made, is_done) in [(10, false), (101, true)] {
        let mut below = Below::default();
        below.seen(&replica_set("new", "2"));
        below.seen(&reader("a", made, made, env()));
        let judged = fed(&deployment(1, complete(1)), &below, &record, None);
        assert_eq!(judged.stage == Stage::Done, is_done);
    }
}

#[test]
fn point_17_what_happened_within_one_second_is_told_by_its_order_also_after_a_restart() {
    let observed = observe(&config(50, "on", 100), None);
    let mut record = ConfigRecord::after(None, &observed, 1_000);
    let at = |version: u64| {
        let mut pod = reader("a", 100, 100, env());
        pod["metadata"]["resourceVersion"] = json!(version.to_string());
        pod
    };
    let object = deployment(1, complete(1));
    let mut watched = Below::default();
    watched.seen(&replica_set("new", "2"));
    watched.changed(&at(49));
    watched.changed(&at(60));
    let judged = fed(&object, &watched, &record, Some(&observed));
    progresses(&judged.stage, "started before");
    assert!(judged.settled.is_empty());

    watched.gone("a");
    watched.changed(&at(51));
    watched.changed(&at(60));
    let judged = fed(&object, &watched, &record, Some(&observed));
    assert_eq!(judged.stage, Stage::Done);
    // A new listing does not say any more when a pod was made, but it was seen.
    let mut listed = Below::default();
    listed.seen(&at(60));
    watched.replace("", "Pod", listed.clone());
    assert_eq!(
        fed(&object, &watched, &record, Some(&observed)).stage,
        Stage::Done
    );

    listed.seen(&replica_set("new", "2"));
    progresses(
        &fed(&object, &listed, &record, Some(&observed)).stage,
        "started before",
    );
    record.settle(judged.settled.values().next().unwrap());
    let text = serde_json::to_string(&record).unwrap();
    let record: ConfigRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(
        fed(&object, &listed, &record, Some(&observed)).stage,
        Stage::Done
    );
}

#[test]
fn point_17_jobs_have_done_what_they_had_to() {
    let mut job = deployment(1, complete(1));
    job["kind"] = json!("Job");
    job["metadata"]["uid"] = json!("new");
    let mut below = Below::default();
    below.seen(&reader("a", 10, 12, env()));
    let observed = observe(&config(50, "on", 100), None);
    let record = ConfigRecord::after(None, &observed, 1_000);
    let object = Object::read(&job);
    let judged = judge_fed(
        [PodsBelow::of(&object, &below)],
        &[FedBy::new(&record, None)],
    );
    assert_eq!(judged.stage, Stage::Done);
}
