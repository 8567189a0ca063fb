//! Workers on a copy of a data directory.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pathline_kinds::workers::{Process, Task};
use pathline_testkit::free_port;
use pathline_workers::Identity;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{House, condition, is_ready, message, server};

/// Opens the workers on a copy of a directory, which is returned, too.
async fn open_copy(home: &TempDir) -> (House, PathBuf, PathBuf) {
    let home = home.path().canonicalize().expect("a scratch directory");
    let (original, copy) = (home.join("original"), home.join("copy"));
    let identity = |data_dir: &Path| {
        fs::create_dir_all(data_dir).expect("a directory");
        let mut identity = Identity::read(data_dir).expect("a readable directory");
        identity.write_down().expect("a writable directory");
        identity
    };
    identity(&original);
    fs::create_dir_all(&copy).expect("a directory");
    fs::copy(original.join("instance"), copy.join("instance")).expect("a note");
    let copied = identity(&copy);
    assert_eq!(copied.copy_of(), original.to_str());
    let house = House::open_with(&copy, |options| {
        options.identity = Some(copied);
        options.restarts.stable_after = Duration::from_secs(2);
    });
    (house.await, original, copy)
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_3_process_of_a_copy_waits_until_nobody_else_had_its_port_for_a_while() {
    let home = TempDir::new().unwrap();
    let (house, ..) = open_copy(&home).await;
    let port = free_port();
    house.create::<Process>("web", server(port, &[])).await;
    let waits = |it: &Value| condition(it, "Ready") == ("Unknown", "Waiting");
    let waiting = house.until::<Process>("web", waits).await;
    assert!(message(&waiting, "Ready").contains("`pathline up --adopt`"));
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let is_taken = |it: &Value| {
        let waits = condition(it, "Ready") == ("Unknown", "Waiting");
        waits && message(it, "Ready").contains("is taken by")
    };
    let process = house.until::<Process>("web", is_taken).await;
    assert_eq!(process["status"]["pid"], Value::Null, "it was not started");
    drop(taken);
    house.until::<Process>("web", is_ready).await;
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_3_copy_takes_its_own_artifacts_for_those_of_its_original() {
    let home = TempDir::new().unwrap();
    let (house, original, copy) = open_copy(&home).await;
    let mut source = house.source(&[("word", "42")], "main@sha1:abc");
    let (original, copy) = (original.to_str().unwrap(), copy.to_str().unwrap());
    assert!(source.url.contains(copy), "{}", source.url);
    source.url = source.url.replace(copy, original);
    let spec = json!({ "source": source, "command": ["grep", "42", "word"] });
    house.create::<Task>("task", spec).await;
    let succeeded = |it: &Value| condition(it, "Succeeded").0 == "True";
    house.until::<Task>("task", succeeded).await;
    house.close().await;
}
