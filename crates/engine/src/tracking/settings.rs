//! Settings of tracking: which hosts may be asked, how, and how often.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::SignedDuration;
use pathline_clock::Clock;
use pathline_release::poll::{Budget, INTERVAL};
use pathline_release::request::{Host, Hosts, Scheme};
use pathline_remote::http;
use pathline_remote::registry::{ImageRepository, RegistryLogin};
use url::Url;

/// The name of GitHub, and the address of its REST API.
const GITHUB: &str = "github.com";
const GITHUB_API: &str = "https://api.github.com";

/// The name of Docker Hub.
const HUB: &str = "docker.io";

/// The requests that GitHub is sent: it asks for one at a time.
const GITHUB_BUDGET: Budget = Budget {
    per_second: 10,
    in_flight: 1,
};

/// The settings of tracking.
#[derive(Clone, Debug)]
pub struct TrackingSettings {
    /// The time between two polls.
    pub interval: SignedDuration,
    /// The time for which a change has to settle before it is released.
    pub settle: SignedDuration,
    /// The hosts of repositories.
    pub hosts: Vec<GitHost>,
    /// The registries that are not spoken to as every other one is.
    pub registries: Vec<RegistryHost>,
    /// The file in which Docker keeps logins of registries.
    pub docker_config: Option<PathBuf>,
}

/// A host of repositories.
#[derive(Clone, Debug)]
pub struct GitHost {
    /// The host, as requests name it.
    pub host: Host,
    /// The REST API of GitHub, if the host has it.
    pub github_api: Option<Url>,
    /// The requests that it is sent at most.
    pub budget: Budget,
}

/// A registry.
#[derive(Clone, Debug)]
pub struct RegistryHost {
    /// The host, with its port if it has one.
    pub name: String,
    /// Whether it is spoken to without encryption.
    pub allows_http: bool,
    /// The requests that it is sent at most.
    pub budget: Budget,
    /// The login, unless an application brings one of its own.
    pub login: Option<RegistryLogin>,
}

impl Default for TrackingSettings {
    /// Returns what holds where nothing is said: GitHub, and every registry over https.
    fn default() -> Self {
        Self {
            interval: INTERVAL,
            settle: SignedDuration::ZERO,
            hosts: vec![GitHost::github()],
            registries: Vec::new(),
            docker_config: None,
        }
    }
}

impl GitHost {
    /// Returns github.com.
    pub fn github() -> Self {
        Self {
            host: Host {
                name: GITHUB.to_owned(),
                schemes: vec![Scheme::Https],
                has_nested_groups: false,
            },
            github_api: Some(Url::parse(GITHUB_API).expect("it is a URL")),
            budget: GITHUB_BUDGET,
        }
    }
}

impl TrackingSettings {
    /// Returns the hosts that a tracker may name.
    pub fn known_hosts(&self) -> Hosts {
        Hosts(self.hosts.iter().map(|it| it.host.clone()).collect())
    }

    /// Returns how hosts are asked.
    pub(super) fn http_options(&self, clock: &Clock) -> http::Options {
        http::Options {
            http_hosts: self.http_hosts(),
            clock: clock.clone(),
            ..http::Options::default()
        }
    }

    /// Returns the hosts that may be asked without TLS, as URLs name them.
    fn http_hosts(&self) -> BTreeSet<String> {
        let of_git = self.hosts.iter().map(|it| &it.host);
        let of_git = of_git.filter(|it| it.schemes.contains(&Scheme::Http));
        let of_git = of_git.map(|it| &it.name);
        let registries = self.registries.iter().filter(|it| it.allows_http);
        let names = of_git.chain(registries.map(|it| &it.name));
        names
            .map(|it| it.strip_suffix(":80").unwrap_or(it).to_owned())
            .collect()
    }

    pub(super) fn git_host(&self, name: &str) -> Option<&GitHost> {
        self.hosts.iter().find(|it| it.host.name == name)
    }

    /// Returns the name by which a host has its budget: an API of GitHub is part of that GitHub, and Docker Hub has many
    /// names.
    pub(super) fn budgeted(&self, host: &str) -> String {
        let is_api = |it: &&GitHost| {
            let api = it.github_api.as_ref();
            api.is_some_and(|it| authority(it) == host)
        };
        if let Some(github) = self.hosts.iter().find(is_api) {
            return github.host.name.clone();
        }
        if !is_hub(host) {
            return host.to_owned();
        }
        let configured = self.registries.iter().find(|it| is_hub(&it.name));
        configured.map_or(HUB, |it| &it.name).to_owned()
    }

    /// Returns the budget of a host, of repositories or of images.
    pub(super) fn budget(&self, name: &str) -> Budget {
        let of_git = self.git_host(name).map(|it| it.budget);
        let of_registry = || self.registry(name).map(|it| it.budget);
        of_git.or_else(of_registry).unwrap_or_default()
    }

    pub(super) fn registry(&self, name: &str) -> Option<&RegistryHost> {
        self.registries.iter().find(|it| it.name == name)
    }
}

/// Returns the host of a URL, with its port unless that is the usual one.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_hub(registry: &str) -> bool {
    let repository = ImageRepository {
        registry: registry.to_owned(),
        repository: String::new(),
    };
    repository.is_on_hub()
}
