//! A second application on a port that is taken.

use std::fs;

use anyhow::{Context, Result};
use kube::api::DeleteParams;
use pathline_testkit::free_port;
use serde_json::Value;

use crate::hello::{copy_objects, make_repositories};
use crate::program::{Ended, Running, StoppedOnDrop};
use crate::story::objects::{await_object, objects, text};
use crate::up::{client, start};

const PROCESS: (&str, &str) = ("pathline.dev/v1alpha1", "Process");

fn is_ready(process: &Value) -> bool {
    let conditions = process["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
}

#[tokio::test]
async fn point_2_apply_does_not_say_that_an_application_runs_whose_port_is_taken() -> Result<()> {
    let (up, ready) = start();
    let directory = up.directory().canonicalize()?;
    let _up = StoppedOnDrop::new(up);
    let home = directory.join("hello");
    fs::create_dir(&home)?;
    let port = free_port();
    copy_objects(&home, port)?;
    make_repositories(&home)?;
    let data_dir = directory.join(".pathline");
    let pathline = |arguments: &[&str]| {
        Running::start(&[arguments, &["--data-dir", &text(&data_dir)]].concat()).wait()
    };
    let applied = pathline(&["apply", "-f", &text(&home)]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    let client = client(&ready).await;
    let first = await_object(&client, PROCESS, "hello", is_ready).await;

    let second = fs::read_to_string(home.join("deliverable.yaml"))?;
    let second = second.replace("  name: hello\n", "  name: second\n");
    let file = directory.join("second.yaml");
    fs::write(&file, second)?;
    let Ended { code, stderr, .. } =
        pathline(&["apply", "-f", &text(&file), "--wait", "--timeout", "20s"]);
    assert_eq!(code, Some(124), "it comes once the port is free:\n{stderr}");
    let pid = first["status"]["pid"].as_i64().context("a pid")?;
    for part in [
        format!("port {port} is taken by process `default/hello`"),
        format!("pid {pid})"),
    ] {
        assert!(stderr.contains(&part), "no {part:?} in\n{stderr}");
    }

    let deliverables = objects(&client, ("carto.run/v1alpha1", "Deliverable"));
    deliverables
        .delete("hello", &DeleteParams::default())
        .await?;
    let second = await_object(&client, PROCESS, "second", is_ready).await;
    assert_ne!(second["status"]["pid"], first["status"]["pid"]);
    let waited = pathline(&["wait", "deliverable/second", "--for", "current", "--live"]);
    assert_eq!(waited.code, Some(0), "{}", waited.stderr);
    Ok(())
}
