//! Clients for the tests of polls.

use std::collections::BTreeSet;
use std::time::Duration;

use pathline_clock::Clock;
use pathline_remote::Secret;
use pathline_remote::git::Git;
use pathline_remote::http::{HttpClient, Options, Timeouts};
use pathline_remote::registry::{ImageRepository, RegistryClient, RegistryLogin};
use pathline_remote::source::{SourceClient, SourceReference, SourceRequest};
use tempfile::TempDir;

/// A token that is nowhere else.
pub(crate) const TOKEN: &str = "ghp_sentinel0123456789abcdefABCDEF";

/// A client whose time-outs a test can wait for.
pub(crate) fn http() -> HttpClient {
    http_at(Clock::system())
}

pub(crate) fn http_at(clock: Clock) -> HttpClient {
    let options = Options {
        clock,
        ..Options::default()
    };
    HttpClient::new(options).expect("there is nothing to read")
}

/// A client that may be redirected to these hosts without TLS.
pub(crate) fn http_among(hosts: &[&str]) -> HttpClient {
    let options = Options {
        http_hosts: hosts.iter().map(|it| (*it).to_owned()).collect(),
        ..Options::default()
    };
    HttpClient::new(options).expect("there is nothing to read")
}

/// A client that waits for a moment only.
pub(crate) fn impatient() -> HttpClient {
    let timeouts = Timeouts {
        connect: Duration::from_secs(5),
        header: Duration::from_millis(300),
        total: Duration::from_millis(900),
    };
    let options = Options {
        timeouts,
        ..Options::default()
    };
    HttpClient::new(options).expect("there is nothing to read")
}

/// A client for sources, with its cache.
pub(crate) fn sources(http: HttpClient) -> (SourceClient, TempDir) {
    let cache = TempDir::new().expect("a scratch directory");
    let git = Git::new(cache.path().join("git"));
    (SourceClient::new(http, git), cache)
}

/// A client for registries, all of which are asked without TLS.
pub(crate) fn registries(http: HttpClient, hosts: &[&str]) -> RegistryClient {
    let insecure: BTreeSet<_> = hosts.iter().map(|it| (*it).to_owned()).collect();
    RegistryClient::new(http, insecure)
}

/// Asks for `fathomable.yaml` at the top of `main`.
pub(crate) fn request(url: &str) -> SourceRequest {
    SourceRequest {
        url: url.to_owned(),
        reference: SourceReference::Branch("main".to_owned()),
        path: "fathomable.yaml".to_owned(),
        secret: None,
        github_api: None,
        allow_http: true,
    }
}

pub(crate) fn image(registry: &str, repository: &str) -> ImageRepository {
    ImageRepository {
        registry: registry.to_owned(),
        repository: repository.to_owned(),
    }
}

pub(crate) fn login(username: &str, password: &str) -> RegistryLogin {
    RegistryLogin::Basic {
        username: username.to_owned(),
        password: Secret::new(password),
    }
}
