//! Programs that know logins: `docker-credential-NAME get`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::docker_config::Found;
use super::{DockerConfig, ImageRepository, RegistryLogin};
use crate::{SECRET_VARIABLES, Secret};

/// The time-out of a program.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most that a program may say.
const MAX_OUTPUT_BYTES: u64 = 64 << 10;
/// The user that stands for a refresh token.
const TOKEN_USER: &str = "<token>";
/// The words by which a program says that it knows of no login.
const UNKNOWN: &str = "credentials not found";

/// A way to run the programs; they are found where other programs are, unless a directory is given.
#[derive(Clone, Debug)]
pub struct CredentialHelpers {
    directory: Option<PathBuf>,
    timeout: Duration,
}

/// A program that gave no login. Its output is not told.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// The name cannot be that of a program.
    #[error("`{name}` cannot be the name of a credential helper")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The program cannot be run.
    #[error(
        "`docker-credential-{name}` cannot be run; install it, or take it out of Docker's configuration"
    )]
    NotRun {
        /// The name.
        name: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The program does not end in time.
    #[error("`docker-credential-{name}` does not answer within {seconds} s")]
    TimedOut {
        /// The name.
        name: String,
        /// The time-out.
        seconds: u64,
    },
    /// The program fails, or says what cannot be read.
    #[error("`docker-credential-{name} get` fails; run it by hand to see why")]
    Failed {
        /// The name.
        name: String,
    },
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Username", default)]
    username: String,
    #[serde(rename = "Secret")]
    secret: Secret,
}

impl Default for CredentialHelpers {
    fn default() -> Self {
        Self {
            directory: None,
            timeout: TIMEOUT,
        }
    }
}

impl CredentialHelpers {
    /// Looks for programs in one directory only.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Gives every program this long.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Returns the login for a repository, from the file or from the program that it names.
    ///
    /// # Errors
    ///
    /// Fails when the program does. One that knows of no login is no failure.
    pub async fn login(
        &self,
        config: &DockerConfig,
        image: &ImageRepository,
    ) -> Result<Option<RegistryLogin>, HelperError> {
        match config.find(image) {
            Found::Login(login) => Ok(Some(login.clone())),
            Found::Helper(name, key) => self.get(name, &key).await,
            Found::Nothing => Ok(None),
        }
    }

    async fn get(&self, name: &str, key: &str) -> Result<Option<RegistryLogin>, HelperError> {
        let is_allowed = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'-');
        if name.is_empty() || !name.bytes().all(is_allowed) {
            return Err(HelperError::InvalidName {
                name: name.to_owned(),
            });
        }
        let run = self.run(name, key);
        match tokio::time::timeout(self.timeout, run).await {
            Ok(result) => result,
            Err(_) => Err(HelperError::TimedOut {
                name: name.to_owned(),
                seconds: self.timeout.as_secs(),
            }),
        }
    }

    /// Runs a program, without a shell; it is killed when nobody waits any more.
    async fn run(&self, name: &str, key: &str) -> Result<Option<RegistryLogin>, HelperError> {
        let program = OsString::from(format!("docker-credential-{name}"));
        let program = match &self.directory {
            Some(directory) => directory.join(program).into_os_string(),
            None => program,
        };
        let not_run = |source| HelperError::NotRun {
            name: name.to_owned(),
            source,
        };
        let failed = || HelperError::Failed {
            name: name.to_owned(),
        };
        let mut command = Command::new(program);
        for name in SECRET_VARIABLES {
            command.env_remove(name);
        }
        let mut child = command
            .arg("get")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(not_run)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (mut stdin, stdout) = stdin.zip(stdout).ok_or_else(failed)?;
        // One that does not listen answers nevertheless.
        let _ = stdin.write_all(key.as_bytes()).await;
        drop(stdin);
        let mut output = zeroize::Zeroizing::new(Vec::new());
        let mut stdout = stdout.take(MAX_OUTPUT_BYTES + 1);
        let read = stdout.read_to_end(&mut output).await.map_err(not_run)?;
        if read as u64 > MAX_OUTPUT_BYTES {
            return Err(failed());
        }
        let status = child.wait().await.map_err(not_run)?;
        if !status.success() {
            let said = String::from_utf8_lossy(&output);
            return match said.contains(UNKNOWN) {
                true => Ok(None),
                false => Err(failed()),
            };
        }
        let answer: Answer = serde_json::from_slice(&output).map_err(|_| failed())?;
        Ok(Some(match answer.username.as_str() {
            TOKEN_USER => RegistryLogin::Identity(answer.secret),
            _ => RegistryLogin::Basic {
                username: answer.username,
                password: answer.secret,
            },
        }))
    }
}
