//! Ingestion: what the messages of forges and registries are about.
//!
//! A message is a hint that something may have changed, never the change itself: it brings polls forward, and what they
//! find is what counts. So a message that says too much costs a request, and one that is lost costs an interval.

mod forges;
mod registries;

use serde_json::Value;

use crate::request::{Reference, Repository, SourceLocation};

/// The largest message, in bytes.
pub const MAX_MESSAGE: usize = 2 << 20;

/// The most hints that are taken from one message.
const MAX_HINTS: usize = 1000;

/// The sender of messages, by whose habits they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// GitHub: `push`, `package` and `registry_package`.
    GitHub,
    /// GitLab: `push` and `tag_push`.
    GitLab,
    /// Gitea and Forgejo: `push` and `package`.
    Gitea,
    /// Distribution, the registry: its notifications.
    Distribution,
    /// Docker Hub, which tells pushes alone.
    DockerHub,
    /// Harbor: artifacts that are pushed or deleted, in its own format or as CloudEvents.
    Harbor,
    /// Quay: pushes to a repository.
    Quay,
    /// Anybody: `{"repo": "https://…", "ref": "refs/heads/main", "image": "registry.example/shop/web"}`.
    Generic,
}

/// The headers by which a sender says what it has to say beside a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderHeaders {
    /// Its word for what happened.
    pub event: &'static str,
    /// Its names for the message, the best one first.
    pub delivery: &'static [&'static str],
    /// The signature of the message, in hexadecimal digits.
    pub signature: &'static str,
    /// The word before the digits.
    pub signature_prefix: &'static str,
    /// The secret itself.
    pub token: &'static str,
}

/// The headers of GitHub, which others took over from it.
const GITHUB_HEADERS: SenderHeaders = SenderHeaders {
    event: "x-github-event",
    delivery: &["x-github-delivery"],
    signature: "x-hub-signature-256",
    signature_prefix: "sha256=",
    token: "authorization",
};

/// Something that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A repository.
    Repository {
        /// The host and the path, in lower case.
        location: String,
        /// The reference, such as `refs/heads/main`; nothing for any of them.
        reference: Option<String>,
    },
    /// An image.
    Image {
        /// The registry; nothing if the sender does not know how it is called from outside.
        registry: Option<String>,
        /// The repository in it.
        repository: String,
    },
}

impl Sender {
    /// Reads the hints of a message; `event` is the word by which the sender calls it. A message that says nothing
    /// known has none.
    pub fn hints(self, event: &str, message: &Value) -> Vec<Hint> {
        let mut hints = match self {
            Self::GitHub => forges::github(event, message),
            Self::GitLab => forges::gitlab(message),
            Self::Gitea => forges::gitea(event, message),
            Self::Distribution => registries::distribution(message),
            Self::DockerHub => registries::docker_hub(message),
            Self::Harbor => registries::harbor(message),
            Self::Quay => registries::quay(message),
            Self::Generic => generic(message),
        };
        hints.truncate(MAX_HINTS);
        hints
    }

    /// Returns the headers that it sends.
    pub fn headers(self) -> SenderHeaders {
        match self {
            Self::GitLab => SenderHeaders {
                event: "x-gitlab-event",
                // The first is the same when a message is sent again; older versions have the other one alone.
                delivery: &["idempotency-key", "x-gitlab-event-uuid"],
                token: "x-gitlab-token",
                ..GITHUB_HEADERS
            },
            Self::Gitea => SenderHeaders {
                event: "x-gitea-event",
                delivery: &["x-gitea-delivery"],
                signature: "x-gitea-signature",
                signature_prefix: "",
                ..GITHUB_HEADERS
            },
            Self::GitHub
            | Self::Distribution
            | Self::DockerHub
            | Self::Harbor
            | Self::Quay
            | Self::Generic => GITHUB_HEADERS,
        }
    }

    /// Returns the name that a message has for itself, where the sender writes it there.
    pub fn delivery(self, message: &Value) -> Option<&str> {
        let is_cloud_event = || message.get("specversion").is_some();
        match self {
            Self::Harbor if is_cloud_event() => text(message, "/id"),
            _ => None,
        }
    }
}

impl Hint {
    /// Tells whether a tracker should look: it reads the file at a location, and wants images of repositories.
    pub fn concerns<'i>(
        &self,
        source: &SourceLocation,
        images: impl IntoIterator<Item = &'i str>,
    ) -> bool {
        match self {
            Self::Repository {
                location,
                reference,
            } => {
                let is_read = |reference: &String| reads(&source.reference, reference);
                location_of(&source.repository) == *location
                    && reference.as_ref().is_none_or(is_read)
            }
            Self::Image {
                registry,
                repository,
            } => images.into_iter().any(|image| {
                let (host, path) = image.split_once('/').unwrap_or(("", image));
                path == repository && registry.as_ref().is_none_or(|registry| registry == host)
            }),
        }
    }
}

/// Tells whether somebody who follows `followed` reads what is pushed to a reference.
fn reads(followed: &Reference, pushed: &str) -> bool {
    match followed {
        // Which branch that is, the host knows.
        Reference::Head => pushed.starts_with("refs/heads/"),
        Reference::Branch(name) => pushed.strip_prefix("refs/heads/") == Some(name),
        Reference::Tag(name) => pushed.strip_prefix("refs/tags/") == Some(name),
        Reference::Commit(_) => false,
    }
}

fn location_of(repository: &Repository) -> String {
    let path = repository.path.strip_suffix(".git");
    let path = path.unwrap_or(&repository.path);
    format!("{}/{path}", repository.host).to_ascii_lowercase()
}

fn generic(message: &Value) -> Vec<Hint> {
    let repository = pushed(message, &["/repo"]);
    let image = text(message, "/image").and_then(image_in);
    repository.into_iter().chain(image).collect()
}

/// Reads a push: the first URL of the repository that is there, and the reference.
fn pushed(message: &Value, urls: &[&str]) -> Option<Hint> {
    let url = urls.iter().find_map(|url| text(message, url))?;
    Some(Hint::Repository {
        location: location_in(url)?,
        reference: text(message, "/ref").map(str::to_owned),
    })
}

/// Reads the name of an image, with its registry; a tag or a digest behind it does not count.
fn image_in(name: &str) -> Option<Hint> {
    let name = name.split('@').next()?;
    let (registry, rest) = name.split_once('/')?;
    // A colon before the last slash is the port of the registry.
    let repository = rest
        .rsplit_once(':')
        .map_or(rest, |(repository, _)| repository);
    Some(Hint::Image {
        registry: Some(registry.to_ascii_lowercase()),
        repository: repository.to_owned(),
    })
}

/// Returns the host and the path of a URL, in lower case; without a scheme it is on GitHub.
fn location_in(url: &str) -> Option<String> {
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest.to_owned(),
        None => format!("github.com/{url}"),
    };
    let (authority, path) = rest.split_once('/')?;
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let path = path.strip_suffix('/').unwrap_or(path);
    let path = path.strip_suffix(".git").unwrap_or(path);
    let location = format!("{host}/{path}").to_ascii_lowercase();
    (!path.is_empty()).then_some(location)
}

fn text<'m>(message: &'m Value, pointer: &str) -> Option<&'m str> {
    message.pointer(pointer).and_then(Value::as_str)
}
