//! Files that are made with ytt before anything is read from them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;
use tokio::process::Command;

use super::suite::text;

/// No file needs this long unless it does not end.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the YAML documents of a file; with values, of what the program `ytt` makes of it with them.
pub(super) async fn documents(
    ytt: &Path,
    path: &Path,
    values: &[PathBuf],
) -> anyhow::Result<Vec<Value>> {
    let text = if values.is_empty() {
        text(path)?
    } else {
        made(ytt, path, values).await?
    };
    serde_saphyr::from_multiple(&text).with_context(|| format!("cannot use {}", path.display()))
}

async fn made(ytt: &Path, path: &Path, values: &[PathBuf]) -> anyhow::Result<String> {
    let mut command = Command::new(ytt);
    for file in std::iter::once(path).chain(values.iter().map(PathBuf::as_path)) {
        command.arg("--file").arg(file);
    }
    let running = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(TIMEOUT, running)
        .await
        .with_context(|| format!("ytt does not end with {}", path.display()))?
        .context("cannot run ytt; install it, or say where it is with --ytt")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "ytt cannot make {}: {}",
        path.display(),
        complaint.trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
