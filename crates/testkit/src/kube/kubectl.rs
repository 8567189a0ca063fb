//! The real kubectl, as a test's client.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// No call of a test takes this long; one that does hangs.
const KUBECTL_TIMEOUT: Duration = Duration::from_secs(90);

/// kubectl with a kubeconfig and a discovery cache of its own, away from the user's.
#[derive(Debug, Clone)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    cache: PathBuf,
    namespace: Option<String>,
}

/// The result of a call of kubectl.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The arguments, for messages.
    pub command: String,
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
    /// Its output.
    pub stdout: String,
    /// Its complaints.
    pub stderr: String,
}

impl Kubectl {
    /// Describes kubectl; nothing runs yet.
    pub fn new(program: PathBuf, kubeconfig: PathBuf, cache: PathBuf) -> Self {
        Self {
            program,
            kubeconfig,
            cache,
            namespace: None,
        }
    }

    /// Returns the same with another default namespace.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        Self {
            namespace: Some(namespace.to_owned()),
            ..self.clone()
        }
    }

    /// Returns the command line for these arguments, killed when dropped, for a caller that wants
    /// to set more or to read the output as it comes.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .arg("--cache-dir")
            .arg(&self.cache)
            .args(
                self.namespace
                    .iter()
                    .flat_map(|namespace| ["--namespace", namespace]),
            )
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs kubectl to its end, successful or not.
    pub async fn run(&self, arguments: &[&str]) -> Result<Outcome> {
        self.finish(self.command(arguments), arguments, None).await
    }

    /// Runs kubectl to its end with `input` as its standard input.
    pub async fn run_with(&self, arguments: &[&str], input: &str) -> Result<Outcome> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped());
        self.finish(command, arguments, Some(input)).await
    }

    /// Runs a command made by [`Kubectl::command`] to its end.
    pub async fn run_command(&self, command: Command, arguments: &[&str]) -> Result<Outcome> {
        self.finish(command, arguments, None).await
    }

    /// Runs kubectl and returns what it printed, or fails with what it complained about.
    pub async fn run_ok(&self, arguments: &[&str]) -> Result<String> {
        self.run(arguments).await?.ok()
    }

    /// Runs kubectl and parses what it printed as JSON; add `-o json` to the arguments.
    pub async fn json(&self, arguments: &[&str]) -> Result<Value> {
        let printed = self.run_ok(arguments).await?;
        serde_json::from_str(&printed).with_context(|| format!("not JSON: {printed}"))
    }

    /// Runs `kubectl apply -f -` on a manifest and returns what it printed.
    pub async fn apply(&self, manifest: &str) -> Result<String> {
        self.run_with(&["apply", "-f", "-"], manifest).await?.ok()
    }

    async fn finish(
        &self,
        mut command: Command,
        arguments: &[&str],
        input: Option<&str>,
    ) -> Result<Outcome> {
        let line = format!("kubectl {}", arguments.join(" "));
        let mut child = command
            .spawn()
            .with_context(|| format!("{line} cannot be started"))?;
        if let Some(input) = input {
            let mut stdin = child.stdin.take().context("stdin is a pipe")?;
            stdin.write_all(input.as_bytes()).await?;
        }
        let output = timeout(KUBECTL_TIMEOUT, child.wait_with_output())
            .await
            .with_context(|| format!("`{line}` did not end within {KUBECTL_TIMEOUT:?}"))??;
        Ok(Outcome {
            command: line,
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout)?,
            stderr: String::from_utf8(output.stderr)?,
        })
    }
}

impl Outcome {
    /// Returns the standard output, if the call succeeded.
    pub fn ok(self) -> Result<String> {
        let Self {
            command,
            code,
            stdout,
            stderr,
        } = self;
        ensure!(code == 0, "`{command}` ended with {code}: {stderr}{stdout}");
        Ok(stdout)
    }

    /// Returns the standard error, if the call failed.
    pub fn refused(self) -> Result<String> {
        let Self {
            command,
            code,
            stdout,
            stderr,
        } = self;
        ensure!(
            code != 0,
            "`{command}` succeeded, which it must not: {stdout}"
        );
        Ok(stderr)
    }
}
