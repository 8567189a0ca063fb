//! A disk that gets full under a Pathline.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use pathline_testkit::is_on_small_disk;
use rustix::process::Signal;

use crate::program::{Running, pathline, stderr};
use crate::up::UP;

/// A process that ends at once and is started again, so that its status changes all the time.
const RESTLESS: &str = r#"{
  "apiVersion": "pathline.dev/v1alpha1", "kind": "Process",
  "metadata": {"name": "restless", "namespace": "default"},
  "spec": {"command": ["false"]}
}"#;

/// Takes all the room that is left.
fn fill(directory: &Path) -> Result<()> {
    let mut ballast = File::create(directory.join("ballast"))?;
    for size in [64 << 10, 1 << 10, 1] {
        while ballast.write_all(&vec![0; size]).is_ok() {}
    }
    Ok(())
}

/// Fails if something is in a message that Rust shows to its programmers.
fn assert_in_words(said: &str) {
    for debug in [
        "Status {",
        "Some(",
        "Error {",
        "ApiError",
        "metadata: ListMeta",
    ] {
        assert!(!said.contains(debug), "{debug} in {said}");
    }
}

#[test]
fn full_disk_is_told_in_words() -> Result<()> {
    let test = "full_disk::full_disk_is_told_in_words";
    if !is_on_small_disk(test, &[("data", "24m")]) {
        return Ok(());
    }
    let here = std::env::current_dir()?;
    let data_dir = here.join("data/pathline");
    let data = data_dir.to_str().expect("a path in text");
    let arguments = [&UP[..], &["--data-dir", data]].concat();
    let mut up = Running::start(&arguments);
    assert_eq!(up.json()["ready"], true);
    let file = here.join("restless.json");
    std::fs::write(&file, RESTLESS)?;
    let apply = || {
        let mut command = pathline();
        command.arg("apply").arg("-f").arg(&file);
        command.args(["--data-dir", data]).output()
    };
    let applied = apply()?;
    assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
    fill(&here.join("data"))?;
    // The log says that the status is not written, and why.
    up.wait_for_stderr("cannot write status");
    std::fs::write(&file, RESTLESS.replace("restless", "another"))?;
    let refused = apply()?;
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    assert_in_words(&stderr(&refused));
    up.signal(Signal::TERM);
    let ended = up.wait();
    assert_in_words(&ended.stderr);

    let again = pathline().args(&arguments).output()?;
    let said = stderr(&again);
    assert_ne!(again.status.code(), Some(0), "{said}");
    assert_in_words(&said);
    Ok(())
}
