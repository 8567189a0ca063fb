//! Tokens and the stream, with the real binary at both ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::program::{Running, pathline, stderr, stdout};
use crate::{shared_ledger, up};

const LIMIT: Duration = Duration::from_secs(60);

fn data_dir(ready: &Value) -> &Path {
    Path::new(ready["dataDir"].as_str().expect("`ready` names it"))
}

/// Runs `pathline token` as somebody on the same machine does.
fn token(ready: &Value, arguments: &[&str]) -> Output {
    pathline()
        .arg("token")
        .args(arguments)
        .arg("--data-dir")
        .arg(data_dir(ready))
        .output()
        .expect("the binary runs")
}

fn json_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).expect("nothing but JSON")
}

#[test]
fn first_start_leaves_an_admin_token_for_its_user_alone() {
    let (up, ready) = up::start();
    let secret = data_dir(&ready).join("rest.token");
    let server = data_dir(&ready).join("server.json");

    let mode = fs::metadata(&secret).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(
        fs::read_to_string(&secret)
            .unwrap()
            .starts_with("pathline_")
    );
    let address: Value = serde_json::from_str(&fs::read_to_string(&server).unwrap()).unwrap();
    assert_eq!(address, json!({"url": ready["url"]}));

    up.signal(Signal::TERM);
    assert_eq!(up.wait().code, Some(0));
    assert!(!server.exists(), "nobody answers there any more");
    assert!(secret.exists());
}

#[tokio::test]
async fn token_is_made_listed_used_and_revoked() {
    let (_up, ready) = up::start();
    let made = token(
        &ready,
        &[
            "create",
            "ci",
            "--scope",
            "read",
            "--expires",
            "90d",
            "-o",
            "json",
        ],
    );
    let made = json_of(&made);
    assert_eq!(made["token"]["scope"], "read");
    let secret = made["secret"].as_str().unwrap().to_owned();
    let plain = token(&ready, &["create", "plain"]);
    let line = stdout(&plain);
    assert!(
        line.starts_with("pathline_") && line.lines().count() == 1,
        "{line}"
    );

    let listed = json_of(&token(&ready, &["list", "-o", "json"]));
    let names: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["admin", "ci", "plain"]);
    assert!(!listed.to_string().contains("pathline_"));
    let ask = || {
        let url = format!("{}/workloads", ready["url"].as_str().unwrap());
        reqwest::Client::new().get(url).bearer_auth(&secret).send()
    };
    assert_eq!(ask().await.unwrap().status(), StatusCode::OK);

    let again = token(&ready, &["create", "ci"]);
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    assert!(stderr(&again).contains("`ci`"), "{}", stderr(&again));
    assert_eq!(
        json_of(&token(&ready, &["revoke", "ci", "-o", "json"]))["name"],
        "ci"
    );

    assert_eq!(ask().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let unknown = token(&ready, &["revoke", "nobody"]);
    assert_eq!(unknown.status.code(), Some(1));
    let list = "`pathline token list`";
    assert!(stderr(&unknown).contains(list), "{}", stderr(&unknown));

    // The one that all commands here send: none of them makes another one.
    json_of(&token(&ready, &["revoke", "admin", "-o", "json"]));
    let locked_out = token(&ready, &["list"]);
    assert_eq!(locked_out.status.code(), Some(3));
    let told = stderr(&locked_out);
    assert!(told.contains("start Pathline again"), "{told}");
    assert!(!told.contains("token create"), "{told}");
}

#[tokio::test]
async fn stream_tells_of_changes_until_its_token_is_revoked() {
    let (_up, ready) = up::start();
    let made = json_of(&token(&ready, &["create", "watcher", "-o", "json"]));
    let secret = made["secret"].as_str().unwrap();
    let url = format!("{}/stream", ready["url"].as_str().unwrap());
    let client = reqwest::Client::new();
    let mut stream = client.get(url).bearer_auth(secret).send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let first = timeout(LIMIT, stream.chunk())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(first.starts_with(b"event: begin"), "{first:?}");

    json_of(&token(&ready, &["revoke", "watcher", "-o", "json"]));

    let end = async {
        loop {
            match stream.chunk().await {
                Ok(None) | Err(_) => return,
                Ok(Some(_)) => {}
            }
        }
    };
    timeout(LIMIT, end).await.expect("the stream ends");
}

#[tokio::test]
async fn open_stream_does_not_hold_up_the_end() {
    let (up, ready) = up::start();
    let secret = fs::read_to_string(data_dir(&ready).join("rest.token")).unwrap();
    let url = format!("{}/stream", ready["url"].as_str().unwrap());
    let client = reqwest::Client::new();
    let request = client.get(url).bearer_auth(secret.trim());
    let mut stream = request.send().await.unwrap();
    timeout(LIMIT, stream.chunk()).await.unwrap().unwrap();

    up.signal(Signal::TERM);

    let ended = tokio::task::spawn_blocking(|| up.wait()).await.unwrap();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn ledger_may_be_another_file_and_a_wrong_one_is_refused_without_its_password() {
    let directory = tempfile::tempdir().unwrap();
    let start = |ledger: &str| {
        let mut command = pathline();
        command
            .current_dir(directory.path())
            .args(["up", "--listen", "127.0.0.1:0"]);
        command.args(["--kube-listen", "127.0.0.1:0", "--ledger", ledger]);
        command.output().expect("the binary runs")
    };

    let refused = start("postgres://me:s3cret@nowhere:x/db");
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(!stderr(&refused).contains("s3cret"), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("--ledger"),
        "{}",
        stderr(&refused)
    );

    fs::write(directory.path().join("broken.db"), "this is no database").unwrap();
    let broken = start("broken.db");
    assert_eq!(broken.status.code(), Some(1), "{}", stderr(&broken));
    assert!(stderr(&broken).contains("broken.db"), "{}", stderr(&broken));
    let kept = fs::read_to_string(directory.path().join("broken.db")).unwrap();
    assert_eq!(kept, "this is no database", "it is left alone");
}

#[test]
fn two_that_share_a_ledger_share_the_tokens_in_it() {
    let Some(server) = pathline_testkit::postgres::Server::shared("tokens in PostgreSQL") else {
        return;
    };
    let (_up, cluster) = up::start();
    let url = server.database();
    // Two replicas, for a ledger is of one cluster.
    let start = || {
        let arguments = shared_ledger::controller(&cluster, &url).expect("a cluster");
        let mut running = Running::start(&arguments);
        assert_eq!(running.json()["ready"], true);
        let ready = json!({ "dataDir": running.directory().join(".pathline") });
        (running, ready)
    };
    let (_one, first) = start();
    let secret = data_dir(&first).join("rest.token");

    let (_other, second) = start();

    let none = data_dir(&second).join("rest.token");
    assert!(!none.exists(), "the first one has an admin token already");
    let listed = token(&second, &["list", "-o", "json"]);
    assert_eq!(listed.status.code(), Some(3), "{}", stderr(&listed));
    let secret = secret.to_str().expect("a path in text");
    let listed = token(&second, &["list", "-o", "json", "--token-file", secret]);
    assert_eq!(json_of(&listed)["items"][0]["name"], "admin");
    json_of(&token(&first, &["create", "ci", "-o", "json"]));
    json_of(&token(
        &second,
        &["revoke", "ci", "-o", "json", "--token-file", secret],
    ));
}
