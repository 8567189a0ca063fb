use std::collections::BTreeSet;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::PostParams;
use kube::runtime::{WatchStreamExt, watcher};
use pathline_kinds::workers::Process;
use pathline_testkit::free_port;
use pathline_testkit::http_child::SERVE_HELD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{House, condition, content_of, is_ready, is_running, message, server, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_process_says_what_it_runs_with_and_is_stopped_with_its_object() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let source = house.source(&[("run.sh", "echo up; exec sleep 600")], "main@sha1:abc");
    let spec = json!({ "source": source, "command": ["sh", "run.sh"] });
    house.create::<Process>("web", spec).await;
    let process = house.until::<Process>("web", is_ready).await;
    let status = &process["status"];
    assert_eq!(
        status["running"],
        json!({ "generation": 1, "source": source })
    );
    assert_eq!(status["restarts"], 0);
    assert_eq!(status["logTail"], "up\n");
    let pid = status["pid"].to_string();
    assert!(is_running(&pid));
    house.delete::<Process>("web").await;
    assert!(!is_running(&pid), "{pid} outlived its object");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_stops_the_old_one_first_and_is_not_ready_in_between() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let sources = ["one", "two"].map(|revision| house.source(&[("revision", revision)], revision));
    let spec = |at: usize| json!({ "source": sources[at], "command": ["sleep", "600"] });
    house.create::<Process>("web", spec(0)).await;
    let before = house.until::<Process>("web", is_ready).await;
    let history = watcher(house.api::<Process>(), watcher::Config::default())
        .applied_objects()
        .map_ok(|process| serde_json::to_value(process).unwrap())
        .take_while(|process| {
            let arrived = process
                .as_ref()
                .is_ok_and(|it| it["status"]["running"]["generation"] == 2 && is_ready(it));
            async move { !arrived }
        });
    let history = tokio::spawn(history.try_collect::<Vec<Value>>());
    house
        .patch::<Process>("web", json!({ "spec": spec(1) }))
        .await;
    let after = house
        .until::<Process>("web", |it| {
            it["status"]["running"]["generation"] == 2 && is_ready(it)
        })
        .await;
    assert_eq!(after["status"]["running"]["source"]["revision"], "two");
    assert!(!is_running(&before["status"]["pid"].to_string()));
    let history = history.await.unwrap().unwrap();
    let statuses: BTreeSet<_> = history.iter().map(|it| condition(it, "Ready").0).collect();
    assert_eq!(statuses, ["True", "Unknown"].into(), "{history:#?}");
    for seen in &history {
        let status = &seen["status"];
        let claims_new = status["observedGeneration"] == 2 && condition(seen, "Ready").0 == "True";
        assert!(
            !claims_new || status["running"]["generation"] == 2,
            "{seen:#}"
        );
    }
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_keeps_failing_is_started_again_with_pauses() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let spec = json!({ "command": ["sh", "-c", "echo cannot; exit 3"] });
    house.create::<Process>("broken", spec).await;
    let process = house
        .until::<Process>("broken", |it| {
            it["status"]["restarts"].as_u64() >= Some(4) && condition(it, "Ready").1 == "Exited"
        })
        .await;
    assert_eq!(condition(&process, "Ready").0, "False");
    assert_eq!(
        message(&process, "Ready"),
        "exit code 3; starting again after 40ms"
    );
    assert_eq!(process["status"]["logTail"], "cannot\n");
    let ends = process["status"]["restarts"].as_u64().unwrap() + 1;
    assert_eq!(process["status"]["crashes"], ends);
    assert!(process["status"].get("running").is_none(), "{process:#}");
    house.close().await;
    let log = std::path::Path::new(text(&process["status"]["logPath"]));
    let logs = std::fs::read_dir(log.parent().unwrap()).unwrap().count();
    assert!(
        (2..=6).contains(&logs),
        "a few former logs are kept, not {logs}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_comes_back() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    house
        .create::<Process>("web", json!({ "command": ["sleep", "600"] }))
        .await;
    let process = house.until::<Process>("web", is_ready).await;
    let pid = process["status"]["pid"].to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status()
        .unwrap();
    assert!(killed.success());
    let process = house
        .until::<Process>("web", |it| it["status"]["restarts"] == 1 && is_ready(it))
        .await;
    assert_ne!(process["status"]["pid"].to_string(), pid);
    assert_eq!(process["status"]["crashes"], 1);
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_follows_the_probe() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let held = dir.path().join("held");
    std::fs::write(&held, "").unwrap();
    let mut spec = server(free_port(), &[(SERVE_HELD, held.to_str().unwrap())]);
    spec["readiness"]["httpGet"]["path"] = "/healthz".into();
    house.create::<Process>("web", spec).await;
    let process = house
        .until::<Process>("web", |it| {
            message(it, "Ready").contains("/healthz with 503")
        })
        .await;
    assert_eq!(condition(&process, "Ready"), ("Unknown", "Starting"));
    std::fs::remove_file(&held).unwrap();
    house.until::<Process>("web", is_ready).await;
    std::fs::write(&held, "").unwrap();
    let process = house
        .until::<Process>("web", |it| condition(it, "Ready").1 == "NotAnswering")
        .await;
    assert_eq!(condition(&process, "Ready").0, "False");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_the_workers_leaves_no_child() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let note = dir.path().join("stubborn");
    let script = format!(
        "trap '' TERM; echo $$ > {}; while :; do sleep 1; done",
        note.display()
    );
    let spec = json!({ "command": ["sh", "-c", script], "stopTimeout": "100ms" });
    house.create::<Process>("stubborn", spec).await;
    let pid = content_of(&note).await;
    house.close().await;
    assert!(!is_running(&pid), "{pid} is still there");
    assert_eq!(
        std::fs::read_dir(dir.path().join("runs")).unwrap().count(),
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_given_files_and_variables_of_config_maps_and_secrets_once_they_are_there() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let script = "cat etc/web/main.yaml run/login/password; echo $TOKEN; exec sleep 600";
    let spec = json!({
        "command": ["sh", "-c", script],
        "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "login", "key": "token"}}}],
        "volumes": [
            {"name": "config", "configMap": {"name": "web", "items": [{"key": "k1", "path": "main.yaml"}]}},
            {"name": "login", "projected": {"sources": [{"secret": {"name": "login"}}]}},
        ],
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/web", "readOnly": true},
            {"name": "login", "mountPath": "/run/login"},
        ],
    });
    house.create::<Process>("web", spec).await;
    let is_told =
        |it: &Value| message(it, "Ready").contains("there is no Secret `login` in this namespace");
    house.until::<Process>("web", is_told).await;

    let metadata = |name: &str| ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    let config = ConfigMap {
        metadata: metadata("web"),
        data: Some([("k1".to_owned(), "main\n".to_owned())].into()),
        ..ConfigMap::default()
    };
    let texts = [("password", "s3cret\n"), ("token", "t0ken")];
    let secret = Secret {
        metadata: metadata("login"),
        data: Some(
            texts
                .map(|(key, text)| (key.to_owned(), ByteString(text.into())))
                .into(),
        ),
        ..Secret::default()
    };
    let params = PostParams::default();
    let configs: Api<ConfigMap> = house.api();
    configs.create(&params, &config).await.unwrap();
    let secrets: Api<Secret> = house.api();
    secrets.create(&params, &secret).await.unwrap();
    let process = house.until::<Process>("web", is_ready).await;
    assert_eq!(process["status"]["logTail"], "main\ns3cret\nt0ken\n");
    house.close().await;
}
