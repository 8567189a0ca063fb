//! A cluster that was restored from a backup, beside a ledger that knows what came later.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::instance::{Instance, end};

/// A process with a value of the workload in its spec.
fn process(debug: &str) -> String {
    let value = format!("{{params: [{{name: debug, value: '{debug}'}}]}}");
    crate::restarts::PROCESS.replace("{params: [{name: debug, value: 'on'}]}", &value)
}

/// Asks whether the process runs with a value; returns the exit code and what was said.
fn wait(instance: &Instance, debug: &str, timeout: &str) -> (Option<i32>, String) {
    let awaited = format!("param:debug={debug}");
    let asked = ["wait", "workload/app", "--for", &awaited, "--live"];
    let (code, _, stderr) = end(instance.ask(&[&asked[..], &["--timeout", timeout]].concat()));
    (code, stderr)
}

fn assert_live(instance: &Instance, debug: &str) {
    let (code, stderr) = wait(instance, debug, "60s");
    assert_eq!(code, Some(0), "{debug}: {stderr}");
}

/// Puts one database in the place of another; neither is open.
fn restore(from: &Path, to: &Path) -> Result<()> {
    for log in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{log}", to.display()));
    }
    fs::copy(from, to)?;
    Ok(())
}

#[test]
fn wait_is_about_a_restored_cluster_and_not_about_what_the_ledger_knows_of_its_future() -> Result<()>
{
    let mut instance = Instance::start()?;
    let cluster = Path::new(&instance.data_dir).join("cluster.db");
    let backup = Path::new(&instance.data_dir).with_file_name("backup.db");
    instance.apply(&process("on"))?;
    assert_live(&instance, "on");
    let leash = instance.stop()?;
    restore(&cluster, &backup)?;
    instance.start_again(leash);
    for debug in ["one", "two", "three"] {
        instance.apply(&process(debug))?;
        assert_live(&instance, debug);
    }

    let leash = instance.stop()?;
    restore(&backup, &cluster)?;
    instance.start_again(leash);
    assert_live(&instance, "on");
    let (code, stderr) = wait(&instance, "three", "0s");
    assert_eq!(code, Some(124), "nobody has set it: {stderr}");
    // It goes on from there, over generations that the ledger has seen with other values.
    for debug in ["four", "one"] {
        instance.apply(&process(debug))?;
        assert_live(&instance, debug);
    }
    // History stays.
    let (code, found, stderr) = end(instance.ask(&["lineage", "workload/app", "-o", "json"]));
    assert_eq!(code, Some(0), "{found} {stderr}");

    // Once more, and nothing is forgotten by a start as such.
    let leash = instance.stop()?;
    instance.start_again(leash);
    assert_live(&instance, "one");
    Ok(())
}
