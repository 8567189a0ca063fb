//! Runs the `git` program, undisturbed by the user's settings.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::terminal::report::Hint;

/// Making a small local repository takes milliseconds; something that takes this long is stuck.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Variables that would make `git` work on another repository than the one we name, as they do
/// when we are started from a git hook.
const MISLEADING: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
];

/// An error of git.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("cannot run `git`")]
    Missing(#[source] io::Error),
    #[error("`git {command}` in {} failed: {stderr}", .directory.display())]
    Failed {
        command: String,
        directory: PathBuf,
        stderr: String,
    },
    #[error("`git {command}` in {} did not end within {} seconds", .directory.display(), TIMEOUT.as_secs())]
    TimedOut { command: String, directory: PathBuf },
}

impl Hint for GitError {
    fn hint(&self) -> Option<String> {
        matches!(self, Self::Missing(_))
            .then(|| "the demo needs git; install it and try again".to_owned())
    }
}

/// Runs `git` with `args` in `directory` and returns what it printed, trimmed.
pub(super) async fn git(directory: &Path, args: &[&str]) -> Result<String, GitError> {
    let mut command = Command::new("git");
    for variable in MISLEADING {
        command.env_remove(variable);
    }
    command
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let named = || (args.join(" "), directory.to_owned());
    let Ok(ended) = tokio::time::timeout(TIMEOUT, command.output()).await else {
        let (command, directory) = named();
        return Err(GitError::TimedOut { command, directory });
    };
    let output = ended.map_err(GitError::Missing)?;
    if !output.status.success() {
        let (command, directory) = named();
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(GitError::Failed {
            command,
            directory,
            stderr,
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
