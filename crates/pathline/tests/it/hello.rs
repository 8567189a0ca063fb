use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use pathline_testkit::kube::{Binaries, Kubectl};
use pathline_testkit::{free_port, repository_root, skip};
use rustix::process::Signal;

use crate::program::Running;
use crate::site::get;
use crate::story::objects::text;
use crate::up::start;

/// Copies the objects of the example, pointed at `home` and at `port` instead of the fixed ones.
pub(crate) fn copy_objects(home: &Path, port: u16) -> Result<()> {
    let example = repository_root().join("examples/hello");
    for name in [
        "templates",
        "supply-chain",
        "delivery",
        "workload",
        "deliverable",
    ] {
        let name = format!("{name}.yaml");
        let text = fs::read_to_string(example.join(&name))?;
        let text = text.replace(
            "/tmp/pathline-hello",
            home.to_str().context("a readable path")?,
        );
        fs::write(
            home.join(name),
            text.replace("value: 7780", &format!("value: {port}")),
        )?;
    }
    Ok(())
}

/// Makes the two repositories as the README of the example does, and returns the commit.
pub(crate) fn make_repositories(home: &Path) -> Result<String> {
    let script = r#"
        set -e
        cp -R "$1/app" app
        cd app
        git init --quiet --initial-branch=main
        git add .
        git -c user.name=It -c user.email=it@localhost commit --quiet -m 'Say hello'
        git init --quiet --bare --initial-branch=main ../manifests.git
        git rev-parse HEAD
    "#;
    let example = repository_root().join("examples/hello");
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(example)
        .current_dir(home)
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[tokio::test]
async fn example_runs_when_it_is_applied_by_kubectl_and_goes_when_it_is_deleted() -> Result<()> {
    let Ok(binaries) = Binaries::find() else {
        skip("examples/hello by kubectl", "kubectl is not there");
        return Ok(());
    };
    let (up, ready) = start();
    let home = up.directory().canonicalize()?.join("hello");
    fs::create_dir(&home)?;
    let port = free_port();
    copy_objects(&home, port)?;
    let commit = make_repositories(&home)?;
    let kubeconfig = ready["kubeconfig"].as_str().context("a kubeconfig")?.into();
    let kubectl = Kubectl::new(binaries.program("kubectl"), kubeconfig, home.join("cache"));
    let objects = home.to_str().context("a readable path")?;

    kubectl.run_ok(&["apply", "-f", objects]).await?;
    for owner in ["workload/hello", "deliverable/hello"] {
        kubectl
            .run_ok(&["wait", "--for=condition=Ready", owner, "--timeout=80s"])
            .await?;
    }

    let page = get(&format!("127.0.0.1:{port}"), "/");
    assert!(page.contains(&commit), "{page}");
    let unchanged = kubectl.run_ok(&["apply", "-f", objects]).await?;
    assert!(
        unchanged.lines().all(|line| line.ends_with(" unchanged")),
        "{unchanged}"
    );

    kubectl.run_ok(&["delete", "-f", objects]).await?;
    kubectl
        .run_ok(&["wait", "--for=delete", "process/hello", "--timeout=80s"])
        .await?;
    Ok(())
}

/// Applies the example with `--wait`, while somebody waits since before that.
fn apply_and_wait() -> Result<()> {
    let (up, _) = start();
    let home = up.directory().canonicalize()?.join("hello");
    fs::create_dir(&home)?;
    let port = free_port();
    copy_objects(&home, port)?;
    let commit = make_repositories(&home)?;
    let data_dir = text(&up.directory().join(".pathline"));
    let ask = |arguments: &[&str]| {
        Running::start(&[arguments, &["--data-dir", &data_dir, "--timeout", "3m"]].concat())
    };
    let wait_for = format!("source={commit}");
    let mut waiting = ask(&["wait", "workload/hello", "--for", &wait_for, "--live"]);
    waiting.wait_for_stderr("there is no workload `hello` in namespace `default` yet");

    let applied = ask(&["apply", "-f", &text(&home), "--wait"]).wait();
    let page = get(&format!("127.0.0.1:{port}"), "/");
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert!(page.contains(&commit), "{page}");
    let waited = waiting.wait();
    assert_eq!(waited.code, Some(0), "{}", waited.stderr);
    // The commit is a source of the workload only; the deliverable beside it is not asked for it.
    let named = ask(&["apply", "-f", &text(&home), "--wait", "--for", &wait_for]).wait();
    assert_eq!(named.code, Some(0), "{}", named.stderr);
    up.signal(Signal::TERM);
    ensure!(up.wait().code == Some(0), "it stops in order");
    Ok(())
}

/// Three times every day, fifty times at night.
#[test]
fn point_1_apply_of_the_example_ends_when_the_site_shows_the_commit_fifty_of_fifty() -> Result<()> {
    let rounds = if pathline_testkit::is_nightly() {
        50
    } else {
        3
    };
    for round in 1..=rounds {
        apply_and_wait().with_context(|| format!("round {round}"))?;
    }
    Ok(())
}
