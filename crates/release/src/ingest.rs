//! Ingestion: what the messages of forges and registries are about.
//!
//! A message is a hint that something may have changed, never the change itself: it brings polls forward, and what they
//! find is what counts. So a message that says too much costs a request, and one that is lost costs an interval.

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
    /// Distribution, the registry: its notifications.
    Distribution,
    /// Anybody: `{"repo": "https://…", "ref": "refs/heads/main", "image": "registry.example/shop/web"}`.
    Generic,
}

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
            Self::GitHub => github(event, message),
            Self::Distribution => distribution(message),
            Self::Generic => generic(message),
        };
        hints.truncate(MAX_HINTS);
        hints
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

fn github(event: &str, message: &Value) -> Vec<Hint> {
    match event {
        "push" => {
            let url = text(message, "/repository/html_url")
                .or_else(|| text(message, "/repository/clone_url"));
            let location = url.and_then(location_in);
            let hint = location.map(|location| Hint::Repository {
                location,
                reference: text(message, "/ref").map(str::to_owned),
            });
            hint.into_iter().collect()
        }
        "package" | "registry_package" => {
            let at = |field: &str| text(message, &format!("/{event}/{field}"));
            let is_container =
                at("package_type").is_some_and(|it| it.eq_ignore_ascii_case("container"));
            match (at("namespace"), at("name")) {
                (Some(owner), Some(name)) if is_container => vec![Hint::Image {
                    registry: Some("ghcr.io".to_owned()),
                    repository: format!("{owner}/{name}").to_ascii_lowercase(),
                }],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn distribution(message: &Value) -> Vec<Hint> {
    let events = message.get("events").and_then(Value::as_array);
    let events = events.into_iter().flatten().take(MAX_HINTS);
    let hint = |event: &Value| {
        // Pulls are told too.
        let is_change = matches!(text(event, "/action"), Some("push" | "delete"));
        let repository = text(event, "/target/repository").filter(|_| is_change)?;
        // Behind a proxy the registry does not know by which name it is asked for.
        Some(Hint::Image {
            registry: None,
            repository: repository.to_owned(),
        })
    };
    let mut hints: Vec<Hint> = events.filter_map(hint).collect();
    // A push of an image is told once for every layer of it.
    hints.dedup();
    hints
}

fn generic(message: &Value) -> Vec<Hint> {
    let repository = text(message, "/repo").and_then(location_in);
    let repository = repository.map(|location| Hint::Repository {
        location,
        reference: text(message, "/ref").map(str::to_owned),
    });
    let image = text(message, "/image").and_then(|image| {
        let image = image.split('@').next()?;
        let (registry, rest) = image.split_once('/')?;
        // A colon before the last slash is the port of the registry.
        let repository = rest
            .rsplit_once(':')
            .map_or(rest, |(repository, _)| repository);
        Some(Hint::Image {
            registry: Some(registry.to_ascii_lowercase()),
            repository: repository.to_owned(),
        })
    });
    repository.into_iter().chain(image).collect()
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
