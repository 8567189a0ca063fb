//! One ledger, one cluster: who may share it, and who takes it over.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use pathline_testkit::postgres::Server;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Running, pathline, stderr};
use crate::story::objects::text;
use crate::up::UP;

/// Starts `up` on a data directory with a ledger.
fn up(data_dir: &Path, ledger: &str, more: &[&str]) -> Running {
    let data_dir = text(data_dir);
    let arguments = ["--data-dir", &data_dir, "--ledger", ledger];
    let mut up = Running::start(&[&UP, more, &arguments].concat());
    assert_eq!(up.json()["ready"], true);
    up
}

fn stop(up: Running) {
    up.signal(Signal::TERM);
    let ended = up.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// Starts `up`, which must be refused, and returns what it says.
fn refusal(data_dir: &Path, ledger: &str) -> String {
    let mut command = pathline();
    command.args(UP).arg("--data-dir").arg(data_dir);
    let refused = command.args(["--ledger", ledger]).output();
    let refused = refused.expect("the binary runs");
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    said
}

/// Fails unless somebody was told whose ledger it is, and what to do.
fn assert_names_the_owner(said: &str, owner: &Path) {
    let owner = owner.canonicalize().expect("it is there");
    let whose = format!("belongs to another cluster, {}", owner.display());
    for part in [&whose, "`--ledger`", "`--adopt`"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(!said.contains("OfAnother"), "{said}");
}

#[test]
fn second_cluster_on_a_ledger_is_refused_and_a_copy_takes_it_over_only_if_told() -> Result<()> {
    let Some(server) = Server::shared("a ledger of one cluster") else {
        return Ok(());
    };
    let (home, url) = (TempDir::new()?, server.database());
    let [original, stranger, copy] =
        ["original", "stranger", "copy"].map(|it| home.path().join(it));
    let running = up(&original, &url, &[]);
    assert_names_the_owner(&refusal(&stranger, &url), &original);
    let copied = Command::new("cp")
        .arg("-a")
        .args([&original, &copy])
        .status();
    assert!(copied?.success());
    assert_names_the_owner(&refusal(&copy, &url), &original);

    // Whoever is told to takes it over, and the one that had it ends rather than mix its owners in.
    let mut adopted = up(&copy, &url, &["--adopt"]);
    adopted.wait_for_stderr("took the ledger");
    let ended = running.wait();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("the ledger was taken over"),
        "{}",
        ended.stderr
    );
    assert_names_the_owner(&refusal(&original, &url), &copy);
    stop(adopted);

    // It stays with the copy, also if that is moved.
    let moved = home.path().join("moved");
    std::fs::rename(&copy, &moved)?;
    stop(up(&moved, &url, &[]));
    assert_names_the_owner(&refusal(&stranger, &url), &moved);
    Ok(())
}

#[test]
fn file_is_of_one_cluster_too_and_that_of_a_data_directory_goes_with_it() -> Result<()> {
    let home = TempDir::new()?;
    let [original, stranger, copy] =
        ["original", "stranger", "copy"].map(|it| home.path().join(it));
    let ledger = text(&original.join("ledger.db"));
    // The one that it has without `--ledger`.
    stop(up(&original, &ledger, &[]));
    assert_names_the_owner(&refusal(&stranger, &ledger), &original);
    let copied = Command::new("cp")
        .arg("-a")
        .args([&original, &copy])
        .status();
    assert!(copied?.success());
    stop(up(&copy, &text(&copy.join("ledger.db")), &[]));
    stop(up(&original, &ledger, &[]));
    Ok(())
}

/// Arguments of a controller of the cluster that `up` is.
pub(crate) fn controller<'a>(ready: &'a Value, ledger: &'a str) -> Result<[&'a str; 8]> {
    let kubeconfig = ready["kubeconfig"].as_str().context("a kubeconfig")?;
    Ok([
        "controller",
        "--kubeconfig",
        kubeconfig,
        "--listen",
        "127.0.0.1:0",
        "--ledger",
        ledger,
        "--output=json",
    ])
}

#[test]
fn replicas_of_a_cluster_share_a_ledger_and_another_cluster_is_refused() -> Result<()> {
    let Some(server) = Server::shared("a ledger of one cluster") else {
        return Ok(());
    };
    let url = server.database();
    let ((_one, one), (_other, other)) = (crate::up::start(), crate::up::start());
    let mut replicas =
        [(); 2].map(|()| Running::start(&controller(&one, &url).expect("arguments")));
    for replica in &mut replicas {
        assert_eq!(replica.json()["ready"], true);
    }
    let stranger = Running::start(&controller(&other, &url)?).wait();
    assert_eq!(stranger.code, Some(1), "{}", stranger.stderr);
    let address = one["kubernetes"].as_str().context("an address")?;
    let whose = format!("belongs to another cluster, {address}");
    assert!(stranger.stderr.contains(&whose), "{}", stranger.stderr);
    for replica in replicas {
        stop(replica);
    }
    Ok(())
}
