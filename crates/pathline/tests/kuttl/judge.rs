//! The real kubectl-kuttl, on the same directories.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use pathline_testkit::go_tool;

/// Runs kubectl-kuttl on every suite of a directory and checks that it passed as many tests as there are.
pub(crate) fn run(directory: &Path, kubeconfig: &Path, cases: usize) -> Result<()> {
    let Some(program) = go_tool("kubectl-kuttl", "kubectl-kuttl") else {
        return Ok(());
    };
    // It leaves a file behind where it runs.
    let scratch = tempfile::tempdir()?;
    let output = Command::new(program)
        .args(["test", "--timeout", "30", "--parallel", "8"])
        .args(suites(directory)?)
        .env("KUBECONFIG", kubeconfig)
        .current_dir(scratch.path())
        .output()
        .context("kubectl-kuttl cannot be started")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = said.matches("--- PASS: kuttl/harness/").count();
    ensure!(
        output.status.success() && passed == cases,
        "kubectl-kuttl ended with {} and passed {passed} of {cases} tests:\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr),
    );
    Ok(())
}

/// Lists the directories of test directories; those with an underscore hold something else.
fn suites(directory: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut suites = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let is_suite = !entry.file_name().to_string_lossy().starts_with('_');
        if is_suite && entry.path().is_dir() {
            suites.push(entry.path());
        }
    }
    Ok(suites)
}
