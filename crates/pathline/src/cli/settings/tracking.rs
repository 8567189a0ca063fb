//! The keys of the configuration file that are about trackers: hosts, registries, messages and polls.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use pathline_engine::{GitHost, RegistryHost, TrackingSettings};
use pathline_release::ingest::Sender;
use pathline_release::poll::{Budget, MIN_INTERVAL};
use pathline_release::request::{Host, Scheme};
use pathline_remote::Secret;
use pathline_remote::registry::{DockerConfig, RegistryLogin};
use pathline_server::{IngestAuth, IngestHook};
use serde::Deserialize;
use url::Url;

use crate::terminal::report::{Exit, Hint};

/// The largest file that holds one secret, in bytes.
const MAX_SECRET_FILE: u64 = 64 << 10;

/// The largest configuration of Docker, in bytes.
const MAX_DOCKER_CONFIG: u64 = 1 << 20;

/// The keys about trackers.
#[derive(Debug, Default)]
pub(super) struct TrackingKeys {
    /// The hosts of repositories, beside github.com.
    pub(super) hosts: Vec<HostKeys>,
    /// The registries that need a login, or are spoken to in another way.
    pub(super) registries: Vec<RegistryKeys>,
    /// The file in which Docker keeps logins.
    pub(super) docker_config: Option<PathBuf>,
    /// The senders of messages, below `/ingest/`.
    pub(super) ingest: Vec<IngestKeys>,
    pub(super) polling: PollingKeys,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HostKeys {
    name: String,
    #[serde(default = "only_https")]
    schemes: Vec<Scheme>,
    #[serde(default)]
    nested_groups: bool,
    github_api: Option<String>,
    per_second: Option<u32>,
    in_flight: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RegistryKeys {
    name: String,
    #[serde(default)]
    http: bool,
    username: Option<String>,
    password_file: Option<PathBuf>,
    per_second: Option<u32>,
    in_flight: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct IngestKeys {
    name: String,
    #[serde(rename = "type")]
    of_type: SenderKey,
    auth: Option<AuthKey>,
    secret_file: PathBuf,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SenderKey {
    Github,
    Gitlab,
    Gitea,
    Distribution,
    Dockerhub,
    Harbor,
    Quay,
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AuthKey {
    Hmac,
    Header,
    Key,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct PollingKeys {
    interval: Option<SignedDuration>,
    settle: Option<SignedDuration>,
}

/// The settings of trackers.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrackingConfig {
    pub(crate) tracking: TrackingSettings,
    pub(crate) ingest: Vec<IngestHook>,
}

/// An error in what a configuration file says about trackers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrackingError {
    /// A file with a secret cannot be read.
    #[error("cannot read {}, which {key} of `{name}` names", .path.display())]
    Secret {
        key: &'static str,
        name: String,
        path: PathBuf,
        source: io::Error,
    },
    /// The file in which Docker keeps logins cannot be read.
    #[error("cannot read {}, which dockerConfig names", .path.display())]
    Docker { path: PathBuf, source: io::Error },
    /// A key has a value that it cannot have.
    #[error("{key} of `{name}`: {problem}")]
    Wrong {
        key: &'static str,
        name: String,
        problem: String,
    },
}

impl Hint for TrackingError {
    fn hint(&self) -> Option<String> {
        Some("docs/trackers.md shows every key, with an example".to_owned())
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Secret { .. } | Self::Docker { .. } => Exit::Unknown,
            Self::Wrong { .. } => Exit::Usage,
        }
    }
}

impl TrackingKeys {
    /// Decides what holds; files are named relative to `beside`.
    pub(super) fn resolve(self, beside: &Path) -> Result<TrackingConfig, TrackingError> {
        let mut tracking = TrackingSettings::default();
        let mut hosts: Vec<GitHost> = Vec::new();
        for keys in self.hosts {
            let host = keys.resolve()?;
            if hosts.iter().any(|it| it.host.name == host.host.name) {
                return Err(wrong("name", &host.host.name, "the host is there twice"));
            }
            hosts.push(host);
        }
        // What is said of github.com replaces what holds without it.
        let is_said = |usual: &GitHost| hosts.iter().any(|it| it.host.name == usual.host.name);
        tracking.hosts.retain(|it| !is_said(it));
        tracking.hosts.extend(hosts);
        for keys in self.registries {
            let registry = keys.resolve(beside)?;
            if tracking
                .registries
                .iter()
                .any(|it| it.name == registry.name)
            {
                return Err(wrong("name", &registry.name, "the registry is there twice"));
            }
            tracking.registries.push(registry);
        }
        let docker_config = self.docker_config.map(|path| beside.join(path));
        docker_config.as_deref().map(check_docker).transpose()?;
        tracking.docker_config = docker_config;
        tracking.interval = self.polling.interval.unwrap_or(tracking.interval);
        if tracking.interval < MIN_INTERVAL {
            let problem = format!("at least {MIN_INTERVAL:#} are between two polls");
            return Err(wrong("interval", "polling", &problem));
        }
        tracking.settle = self.polling.settle.unwrap_or(tracking.settle);
        if tracking.settle.is_negative() {
            return Err(wrong("settle", "polling", "a time cannot be below 0"));
        }
        let mut ingest: Vec<IngestHook> = Vec::new();
        for keys in self.ingest {
            let hook = keys.resolve(beside)?;
            if ingest.iter().any(|it| it.name == hook.name) {
                return Err(wrong("name", &hook.name, "the sender is there twice"));
            }
            ingest.push(hook);
        }
        Ok(TrackingConfig { tracking, ingest })
    }
}

impl HostKeys {
    fn resolve(self) -> Result<GitHost, TrackingError> {
        let name = self.name.to_ascii_lowercase();
        if self.schemes.is_empty() {
            return Err(wrong(
                "schemes",
                &name,
                "there is none; https is the usual one",
            ));
        }
        let is_directory = self.schemes.contains(&Scheme::File);
        if name.is_empty() != is_directory || name.contains(['/', '@']) {
            let problem = "a host such as git.example:8443 is expected; for directories of this \
                           machine the name is empty, and the scheme `file`";
            return Err(wrong("name", &name, problem));
        }
        let github_api = self.github_api.map(|it| Url::parse(&it)).transpose();
        let github_api = github_api
            .map_err(|error| wrong("githubApi", &name, &format!("it is no URL: {error}")))?;
        let usual = match &github_api {
            Some(_) => GitHost::github().budget,
            None => Budget::default(),
        };
        Ok(GitHost {
            budget: budget(usual, self.per_second, self.in_flight, &name)?,
            github_api,
            host: Host {
                name,
                schemes: self.schemes,
                has_nested_groups: self.nested_groups,
            },
        })
    }
}

impl RegistryKeys {
    fn resolve(self, beside: &Path) -> Result<RegistryHost, TrackingError> {
        let name = self.name.to_ascii_lowercase();
        if name.is_empty() || name.contains(['/', '@']) || name.contains(char::is_whitespace) {
            let problem = "a host such as registry.example:5000 is expected, without a scheme";
            return Err(wrong("name", &name, problem));
        }
        let login = match (self.username, self.password_file) {
            (Some(username), Some(file)) => Some(RegistryLogin::Basic {
                username,
                password: read_secret("passwordFile", &name, &beside.join(file))?,
            }),
            (None, None) => None,
            _ => {
                let problem = "`username` and `passwordFile` belong together";
                return Err(wrong("username", &name, problem));
            }
        };
        Ok(RegistryHost {
            budget: budget(Budget::default(), self.per_second, self.in_flight, &name)?,
            name,
            allows_http: self.http,
            login,
        })
    }
}

impl IngestKeys {
    fn resolve(self, beside: &Path) -> Result<IngestHook, TrackingError> {
        let is_inner = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        if self.name.is_empty() || self.name.len() > 63 || !self.name.chars().all(is_inner) {
            let problem = "letters, digits, `-` and `_` are expected";
            return Err(wrong("name", &self.name, problem));
        }
        let secret = read_secret("secretFile", &self.name, &beside.join(&self.secret_file))?;
        let (sender, usual) = self.of_type.resolve();
        let auth = self.auth.unwrap_or(usual);
        if !self.of_type.can(auth) {
            let usual = usual.word();
            let problem = format!("the sender cannot show its secret so; `{usual}` is what it can");
            return Err(wrong("auth", &self.name, &problem));
        }
        let auth = match auth {
            AuthKey::Hmac => IngestAuth::Hmac,
            AuthKey::Header => IngestAuth::Header,
            AuthKey::Key => IngestAuth::Key,
        };
        Ok(IngestHook {
            name: self.name,
            sender,
            auth,
            secret,
        })
    }
}

impl SenderKey {
    /// Returns the sender, and the way in which it usually shows the secret.
    fn resolve(self) -> (Sender, AuthKey) {
        match self {
            Self::Github => (Sender::GitHub, AuthKey::Hmac),
            Self::Gitlab => (Sender::GitLab, AuthKey::Header),
            Self::Gitea => (Sender::Gitea, AuthKey::Hmac),
            Self::Distribution => (Sender::Distribution, AuthKey::Header),
            Self::Dockerhub => (Sender::DockerHub, AuthKey::Key),
            Self::Harbor => (Sender::Harbor, AuthKey::Header),
            Self::Quay => (Sender::Quay, AuthKey::Key),
            Self::Generic => (Sender::Generic, AuthKey::Header),
        }
    }

    /// Tells whether the sender can show the secret in a way; a key in the URL is possible for all of them.
    fn can(self, auth: AuthKey) -> bool {
        match self {
            Self::Dockerhub | Self::Quay => auth == AuthKey::Key,
            Self::Gitlab | Self::Harbor | Self::Distribution => auth != AuthKey::Hmac,
            Self::Github | Self::Gitea | Self::Generic => true,
        }
    }
}

impl AuthKey {
    fn word(self) -> &'static str {
        match self {
            Self::Hmac => "hmac",
            Self::Header => "header",
            Self::Key => "key",
        }
    }
}

fn budget(
    usual: Budget,
    per_second: Option<u32>,
    in_flight: Option<u32>,
    name: &str,
) -> Result<Budget, TrackingError> {
    let budget = Budget {
        per_second: per_second.unwrap_or(usual.per_second),
        in_flight: in_flight.unwrap_or(usual.in_flight),
    };
    if budget.per_second == 0 || budget.in_flight == 0 {
        return Err(wrong("perSecond, inFlight", name, "at least 1 is expected"));
    }
    Ok(budget)
}

/// Reads a secret of one line.
fn read_secret(key: &'static str, name: &str, path: &Path) -> Result<Secret, TrackingError> {
    let read = || {
        let mut text = String::new();
        let file = fs::File::open(path)?;
        file.take(MAX_SECRET_FILE).read_to_string(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|source| TrackingError::Secret {
        key,
        name: name.to_owned(),
        path: path.to_owned(),
        source,
    })?;
    let secret = text.trim_end_matches(['\n', '\r']);
    if secret.is_empty() {
        return Err(wrong(key, name, "the file is empty"));
    }
    Ok(Secret::new(secret))
}

/// Fails if the file with Docker's logins cannot be read. It is read again whenever a login is needed.
fn check_docker(path: &Path) -> Result<(), TrackingError> {
    let read = || {
        let mut content = Vec::new();
        let file = fs::File::open(path)?;
        file.take(MAX_DOCKER_CONFIG + 1).read_to_end(&mut content)?;
        Ok(content)
    };
    let content = read().map_err(|source| TrackingError::Docker {
        path: path.to_owned(),
        source,
    })?;
    let parsed = DockerConfig::parse(&content);
    parsed.map(drop).map_err(|error| {
        let name = path.display().to_string();
        wrong("dockerConfig", &name, &error.to_string())
    })
}

fn wrong(key: &'static str, name: &str, problem: &str) -> TrackingError {
    TrackingError::Wrong {
        key,
        name: name.to_owned(),
        problem: problem.to_owned(),
    }
}

fn only_https() -> Vec<Scheme> {
    vec![Scheme::Https]
}
