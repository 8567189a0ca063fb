//! The Go programs that tests use as parts and as oracles.

use std::path::PathBuf;
use std::process::Command;

use crate::{repository_root, skip};

/// Returns the path of a program that `scripts/go-tools` keeps: `ytt`, `kubectl-kuttl`,
/// `go-oracle`, `registry` or `crane`. Skips `suite` and returns nothing where they have not been built.
pub fn go_tool(suite: &str, program: &str) -> Option<PathBuf> {
    match find(program) {
        Ok(path) => Some(path),
        Err(why) => {
            skip(suite, &why);
            None
        }
    }
}

/// Asks the script rather than knowing its cache directory here as well.
fn find(program: &str) -> Result<PathBuf, String> {
    let output = Command::new(repository_root().join("scripts/go-tools"))
        .arg("--no-build")
        .output()
        .map_err(|error| format!("scripts/go-tools cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("no {program}; run scripts/go-tools"));
    }
    let directory = String::from_utf8_lossy(&output.stdout);
    Ok(PathBuf::from(directory.trim()).join(program))
}
