//! The REST API, tried by schemathesis with whatever its own description allows and forbids.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kube::api::PostParams;
use kube::{Api, Client};
use pathline_kinds::carto::Workload;
use pathline_testkit::{repository_root, skip};
use serde_json::{Value, json};

use crate::program::{stderr, stdout};
use crate::up;

const SUITE: &str = "the REST API by schemathesis";

/// The configuration of schemathesis; see the comments in it.
const CONFIGURATION: &str = r#"
# A cursor that nobody gave out is refused, although it is a text as the schema says.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "410", "412", "413", "415", "422", "503"]
"#;

#[tokio::test]
async fn schemathesis_finds_no_failure_and_no_answer_that_is_not_described() {
    let Some(program) = program() else {
        return skip(SUITE, "no schemathesis; run scripts/schemathesis");
    };
    let (up, ready) = up::start();
    make_workload(&up::client(&ready).await).await;
    let data_dir = Path::new(ready["dataDir"].as_str().unwrap());
    let secret = fs::read_to_string(data_dir.join("rest.token")).unwrap();
    fs::write(up.directory().join("schemathesis.toml"), CONFIGURATION).unwrap();

    let output = Command::new(program)
        .current_dir(up.directory())
        .arg("run")
        .arg(url(&ready, "/openapi.json"))
        .args([
            "--header",
            &format!("Authorization: Bearer {}", secret.trim()),
        ])
        // A stream does not end, and who waits for an owner waits long, be it there or not; and it
        // finds out the names of tokens, and revokes the one it uses.
        .args([
            "--exclude-path",
            "/stream",
            "--exclude-path",
            "/workloads/{namespace}/{name}/wait",
            "--exclude-path",
            "/deliverables/{namespace}/{name}/wait",
            "--exclude-path",
            "/trackers/{id}/wait",
            "--exclude-path",
            "/tokens/{name}",
        ])
        .args(["--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", "30", "--seed", "1", "--workers", "1"])
        .args(["--request-timeout", "60", "--no-color"])
        .output()
        .unwrap();

    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("Fuzzing") && !said.contains(" 0 generated"),
        "{said}"
    );
}

/// Makes the workload that the examples of the document speak of, in the namespace of an environment.
async fn make_workload(client: &Client) {
    let workload: Workload = serde_json::from_value(json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {"name": "web", "namespace": "dev"}, "spec": {},
    }))
    .expect("a workload");
    let post = PostParams::default();
    let workloads = Api::namespaced(client.clone(), "dev");
    let made = workloads.create(&post, &workload).await;
    made.expect("the workload is created");
}

fn url(ready: &Value, path: &str) -> String {
    format!("{}{path}", ready["url"].as_str().expect("`ready` has it"))
}

fn program() -> Option<PathBuf> {
    let output = Command::new(repository_root().join("scripts/schemathesis"))
        .arg("--no-build")
        .output()
        .expect("the script runs");
    let found = output.status.success();
    found.then(|| PathBuf::from(stdout(&output).trim()))
}
