//! Counting instructions, which does not depend on what else the machine does.

use std::process::Command;

use anyhow::{Context, Result};

/// Runs this very program under callgrind with one argument, and returns how many instructions it took
/// inside of functions that have `measured` in their names.
///
/// # Errors
/// Fails if valgrind is missing, or did not count; the error holds what it printed.
pub fn instructions(scenario: &str) -> Result<u64> {
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
            "--toggle-collect=*measured*",
        ])
        .arg(std::env::current_exe()?)
        .arg(scenario)
        .output()
        .context("valgrind cannot be run")?;
    let report = String::from_utf8_lossy(&output.stderr);
    let line = report
        .lines()
        .find_map(|line| line.split_once("Collected :"));
    let count = line.and_then(|(_, count)| count.trim().parse().ok());
    count.with_context(|| format!("valgrind did not count:\n{report}"))
}
