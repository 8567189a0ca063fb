//! Processes and the ports they are asked on.

use std::net::TcpListener;

use futures::StreamExt;
use futures::future::ready;
use pathline_kinds::workers::Process;
use pathline_testkit::free_port;
use pathline_testkit::http_child::{SERVE_PORT, SERVE_TIMES};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::fixture::{House, condition, is_ready, is_running, message, server, server_command};

/// Watches a `Process` until it is deleted, and returns all that it has said of its readiness.
async fn history(house: &House, name: &str) -> JoinHandle<Vec<[String; 3]>> {
    let objects = house.watch::<Process>(name).await;
    let until_deleted = objects.take_while(|it| {
        let is_there = it["metadata"]["deletionTimestamp"].is_null();
        ready(is_there)
    });
    let said = until_deleted.map(|it| {
        let (status, reason) = condition(&it, "Ready");
        [status, reason, message(&it, "Ready")].map(ToOwned::to_owned)
    });
    tokio::spawn(said.collect())
}

fn is_taken(process: &Value) -> bool {
    condition(process, "Ready") == ("False", "PortTaken")
}

#[tokio::test(flavor = "multi_thread")]
async fn point_2_a_process_whose_port_is_taken_is_ready_only_after_it_is_free() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let port = free_port();
    house.create::<Process>("first", server(port, &[])).await;
    let first = house.until::<Process>("first", is_ready).await;
    let second = history(&house, "second").await;
    house.create::<Process>("second", server(port, &[])).await;
    let taken = house.until::<Process>("second", is_taken).await;
    let pid = &first["status"]["pid"];
    let said = message(&taken, "Ready");
    for part in [
        format!("port {port} is taken by process `default/first` (`"),
        format!("`, pid {pid}); stop that"),
    ] {
        assert!(said.contains(&part), "no {part:?} in {said:?}");
    }
    let exited = house
        .until::<Process>("second", |it| {
            let said = message(it, "Ready");
            it["status"]["restarts"].as_u64() >= Some(3) && said.starts_with("exit code 101; port ")
        })
        .await;
    assert!(is_taken(&exited), "{exited}");
    let said = message(&exited, "Ready");
    assert!(said.contains(&format!("pid {pid}")), "{said}");

    house.delete::<Process>("first").await;
    let ready = house.until::<Process>("second", is_ready).await;
    assert!(is_running(&ready["status"]["pid"].to_string()));
    house.delete::<Process>("second").await;
    let history = second.await.unwrap();
    let first_ready = history.iter().position(|[status, ..]| status == "True");
    let last_taken = history
        .iter()
        .rposition(|[_, reason, _]| reason == "PortTaken");
    assert!(first_ready > last_taken, "{history:#?}");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn point_2_an_answer_of_somebody_else_makes_nobody_ready() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in stranger.incoming().flatten() {
            let _ = std::io::Read::read(&mut stream, &mut [0; 1024]);
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n");
        }
    });
    let said = history(&house, "web").await;
    // It does not even try to listen, so that it never ends.
    let spec = json!({
        "command": ["sleep", "600"],
        "readiness": { "httpGet": { "port": port } },
    });
    house.create::<Process>("web", spec).await;
    let taken = house
        .until::<Process>("web", |it| is_taken(it) && it["status"]["pid"].is_i64())
        .await;
    let own = format!("(pid {})", std::process::id());
    assert!(message(&taken, "Ready").contains(&own), "{taken:#}");

    // Without a probe there is nothing to be told by a stranger; the change also lets the one
    // with the probe come to an end.
    house
        .patch::<Process>("web", json!({ "spec": { "readiness": null } }))
        .await;
    house.until::<Process>("web", is_ready).await;
    house.delete::<Process>("web").await;
    let said = said.await.unwrap();
    assert!(
        said.iter().all(|[_, reason, _]| reason != "Answering"),
        "{said:#?}"
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn point_2_a_descendant_that_listens_makes_its_process_ready() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let server_words = server_command().join("' '");
    let scripts = [
        ("child", format!("'{server_words}' & wait")),
        // It leaves the group and the session, and nobody waits for it.
        ("daemon", format!("(setsid '{server_words}' &); sleep 600")),
        // It leaves its environment, too.
        (
            "stranger",
            format!("(env -i {SERVE_PORT}=${SERVE_PORT} setsid '{server_words}' &); sleep 600"),
        ),
    ];
    for (name, script) in scripts {
        let mut spec = server(free_port(), &[]);
        spec["command"] = json!(["sh", "-c", script]);
        house.create::<Process>(name, spec).await;
        let process = house.until::<Process>(name, is_ready).await;
        assert_eq!(condition(&process, "Ready").1, "Answering", "{name}");
    }
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn point_2_a_process_that_ends_right_after_its_answer_is_not_ready() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let said = history(&house, "brief").await;
    let spec = server(free_port(), &[(SERVE_TIMES, "1")]);
    house.create::<Process>("brief", spec).await;
    house
        .until::<Process>("brief", |it| it["status"]["restarts"].as_u64() >= Some(3))
        .await;
    house.delete::<Process>("brief").await;
    let said = said.await.unwrap();
    assert!(
        said.iter().all(|[status, ..]| status != "True"),
        "{said:#?}"
    );
    assert!(
        said.iter()
            .any(|[status, reason, message]| status == "False"
                && reason == "Exited"
                && message.starts_with("exit code 0")),
        "{said:#?}"
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn point_2_a_change_does_not_find_the_port_taken_by_what_it_replaces() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let port = free_port();
    let said = history(&house, "web").await;
    house.create::<Process>("web", server(port, &[])).await;
    house.until::<Process>("web", is_ready).await;
    for round in ["one", "two", "three"] {
        let spec = server(port, &[("ROUND", round)]);
        let changed = house
            .patch::<Process>("web", json!({ "spec": spec }))
            .await
            .metadata
            .generation;
        let ready = house.until::<Process>("web", is_ready).await;
        assert_eq!(ready["metadata"]["generation"], json!(changed));
    }
    house.delete::<Process>("web").await;
    let said = said.await.unwrap();
    assert!(
        said.iter().all(|[status, ..]| status != "False"),
        "{said:#?}"
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn point_1_a_process_that_starts_or_stops_is_not_wrong() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let said = history(&house, "web").await;
    let spec = json!({ "command": ["sleep", "600"] });
    house.create::<Process>("web", spec).await;
    house.until::<Process>("web", is_ready).await;
    house
        .patch::<Process>("web", json!({ "spec": { "command": ["sleep", "601"] } }))
        .await;
    house
        .until::<Process>("web", |it| {
            it["metadata"]["generation"] == 2 && is_ready(it)
        })
        .await;
    house.delete::<Process>("web").await;
    let mut said: Vec<_> = said.await.unwrap();
    said.retain(|[status, ..]| !status.is_empty());
    assert!(
        said.iter().all(|[status, ..]| status != "False"),
        "{said:#?}"
    );
    let [status, reason, message] = &said[0];
    assert_eq!(
        [status.as_str(), reason, message],
        ["Unknown", "Starting", "it is being started"]
    );
    house.close().await;
}
