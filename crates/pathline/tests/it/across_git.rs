//! `examples/hello` is asked across its manifest repository: what runs is made of the application's commit.

use std::net::TcpListener;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::asking::{Example, git, made_of};
use crate::program::{stderr, stdout};

#[tokio::test]
async fn point_16_lineage_crosses_git_both_ways() -> Result<()> {
    let mut example = Example::start().await?;
    let first = example.commit.clone();
    wait_live(&example, &first);
    assert_delivered(&example, &first, true)?;
    assert_explained(&example, &first)?;

    let app = example.up.directory().join("hello/app");
    git(
        &app,
        &["commit", "--quiet", "--allow-empty", "-m", "Say it again"],
    );
    example.commit = git(&app, &["rev-parse", "HEAD"]);
    wait_live(&example, &example.commit);
    assert_delivered(&example, &first, false)?;
    assert_delivered(&example, &example.commit, true)?;
    assert_explained(&example, &example.commit)?;

    let example = example.restart();
    wait_live(&example, &example.commit);
    assert_delivered(&example, &first, false)?;
    assert_delivered(&example, &example.commit, true)?;
    assert_explained(&example, &example.commit)?;
    example.stop();
    Ok(())
}

/// The delivery is looked at again after a start, and only then the workload whose commit it has.
#[tokio::test]
async fn point_2_what_runs_behind_git_is_not_live_after_a_restart_until_it_answers() -> Result<()> {
    let mut example = Example::start().await?;
    let source = format!("source={}", example.commit);
    let wait = ["wait", "workload/hello", "--for", &source, "--live"];
    let waited = example.ask_json(&wait)?;
    let address = waited["running"][0]["address"].as_str();
    let address = address.context("where it answers")?.to_owned();
    for _ in 0..3 {
        let mut stranger = None;
        example = example.restart_after(|| stranger = TcpListener::bind(&address).ok());
        ensure!(
            stranger.is_some(),
            "the port of a site that has ended is free"
        );
        let taken = example.ask(&[&wait[..], &["--timeout", "4s"]].concat());
        assert_eq!(taken.status.code(), Some(124), "{}", stdout(&taken));
        drop(stranger);
        wait_live(&example, &example.commit);
    }
    example.stop();
    Ok(())
}

fn wait_live(example: &Example, commit: &str) {
    let source = format!("source={commit}");
    let live = example.ask(&["wait", "workload/hello", "--for", &source, "--live"]);
    assert_eq!(live.status.code(), Some(0), "{}", stderr(&live));
}

/// Asserts that the process which runs is told for a commit, or that another one is told of.
fn assert_delivered(example: &Example, commit: &str, is_current: bool) -> Result<()> {
    let source = format!("source={commit}");
    let found = example.ask_json(&["lineage", "--contains", &source])?;
    assert_runs(&found, is_current)?;
    let text = stdout(&example.ask(&["lineage", "--contains", &source]));
    assert!(text.contains("deliverable default/hello"), "{text}");
    assert_eq!(text.contains("Process/hello"), is_current, "{text}");
    let carriers = found["carriers"].as_array().context("carriers")?;
    let images = carriers.iter().map(|it| &it["artifact"]);
    let mut images = images.filter(|it| it["type"] == "image");
    let image = images.next().context("an image")?["value"].as_str();
    let image = format!("image={}", image.context("a reference")?);
    assert_runs(
        &example.ask_json(&["lineage", "--contains", &image])?,
        is_current,
    )
}

fn assert_runs(found: &Value, is_current: bool) -> Result<()> {
    let carriers = found["carriers"].as_array().context("carriers")?;
    assert!(carriers.iter().all(|it| it["proven"] == true), "{found:#}");
    for (kind, resource) in [
        ("Workload", "build"),
        ("Workload", "manifest"),
        ("Deliverable", "manifests"),
        ("Deliverable", "run"),
    ] {
        let of = |it: &&Value| it["owner"]["kind"] == kind && it["resource"] == resource;
        let mut states = carriers.iter().filter(of).map(|it| it["current"] == true);
        let is_there = match is_current {
            true => states.any(|current| current),
            false => states.all(|current| !current),
        };
        assert!(is_there, "{kind} {resource}: {found:#}");
        assert!(
            carriers.iter().any(|it| of(&it)),
            "{kind} {resource}: {found:#}"
        );
    }
    Ok(())
}

/// Asks what the process is made of until it is known: right after a start it runs before Pathline
/// has looked at it again, and is not explained until then.
fn await_explained(example: &Example) -> Result<Value> {
    const TRIES: u32 = 600;
    for _ in 0..TRIES {
        let output = example.ask(&["lineage", "process/hello", "-o", "json"]);
        match output.status.code() {
            Some(0) => return serde_json::from_slice(&output.stdout).context("nothing but JSON"),
            Some(3) => std::thread::sleep(std::time::Duration::from_millis(100)),
            _ => anyhow::bail!("{output:?}"),
        }
    }
    anyhow::bail!("nobody knows what process/hello is made of")
}

/// Asserts that what runs is explained down to a commit, with the manifest's commit in between.
fn assert_explained(example: &Example, commit: &str) -> Result<()> {
    let revision = format!("main@sha1:{commit}");
    let manifests = example.up.directory().join("hello/manifests.git");
    let manifest = git(&manifests, &["rev-parse", "main"]);
    let process = await_explained(example)?;
    assert_leads(&process["made"], &manifest, &revision);
    let delivery = example.ask_json(&["lineage", "deliverable/hello"])?;
    assert_leads(&delivery["outputs"][0], &manifest, &revision);
    for subject in ["process/hello", "deliverable/hello"] {
        let text = stdout(&example.ask(&["lineage", subject]));
        assert!(text.contains(&format!("source {revision}")), "{text}");
        assert!(
            text.contains("made by manifest of workload default/hello"),
            "{text}"
        );
        assert!(!text.contains("assumed"), "all of it is proven:\n{text}");
    }

    let text = stdout(&example.ask(&["lineage", "workload/hello"]));
    assert!(
        text.contains(&format!("wrote main@sha1:{manifest}")),
        "{text}"
    );
    let text = stdout(&example.ask(&["lineage", &format!("source={manifest}")]));
    for part in [
        "workload default/hello manifest",
        "deliverable default/hello manifests",
        revision.as_str(),
        "proven by git",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let written = written(&process["made"]);
    let id = written["id"].as_str().context("an id")?;
    let entry = example.ask_json(&["lineage", id])?;
    let entry = &entry["artifacts"][0];
    assert_eq!(entry["made"][0]["owner"]["kind"], "Workload", "{entry:#}");
    assert_eq!(
        entry["used"][0]["owner"]["kind"], "Deliverable",
        "{entry:#}"
    );
    assert_eq!(entry["used"][0]["evidence"], "git", "{entry:#}");
    Ok(())
}

/// Returns the commit that the workload wrote, below what a delivery runs.
fn written(made: &Value) -> &Value {
    made_of(made_of(made, "source"), "source")
}

fn assert_leads(made: &Value, manifest: &str, revision: &str) {
    let written = written(made);
    assert_eq!(
        written["value"],
        format!("main@sha1:{manifest}"),
        "{made:#}"
    );
    assert_eq!(written["evidence"], "git", "{made:#}");
    assert_eq!(written["owner"]["kind"], "Workload", "{made:#}");
    let source = made_of(made_of(written, "image"), "source");
    assert_eq!(source["value"], revision, "{made:#}");
    assert_eq!(source["passed"], json!(["source", "test"]), "{made:#}");
    let field = made_of(source, "field");
    assert_eq!(field["passed"], json!(["workload"]), "{made:#}");
}
