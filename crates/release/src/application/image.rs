//! Names of images: registry, owner and name, with the defaults of the application file.

use std::fmt;

use serde_json::Value;

use super::Dialect;
use crate::name::TrackerName;

/// The name of Docker Hub in references.
const DOCKER_HUB: &str = "docker.io";

/// Other names of Docker Hub, which are no registries.
const DOCKER_HUB_ALIASES: [&str; 6] = [
    "hub.docker.io",
    "hub.docker.com",
    "index.docker.io",
    "registry-1.docker.io",
    "registry.hub.docker.com",
    "www.docker.io",
];

/// The registry of the first dialect.
const QUAY: &str = "quay.io";

/// The name of an image, without a tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageName {
    /// The registry, with its port if it has one.
    pub registry: String,
    /// The repository in it.
    pub repository: String,
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)
    }
}

/// The settings that name an image.
pub(super) struct Naming<'a> {
    pub(super) name: &'a TrackerName,
    pub(super) dialect: Dialect,
    /// Those of the group and the application, merged.
    pub(super) settings: &'a Value,
}

impl Naming<'_> {
    /// Returns the name of the image: `domain/owner/name[-component]`, all of it in lower case as registries want it.
    pub(super) fn image(&self) -> Result<ImageName, &'static str> {
        let default = match self.dialect {
            Dialect::First => QUAY,
            Dialect::Second => DOCKER_HUB,
        };
        let registry = self.text("/repository/image/domain").unwrap_or(default);
        let registry = registry.to_ascii_lowercase();
        let registry = match DOCKER_HUB_ALIASES.contains(&registry.as_str()) {
            true => DOCKER_HUB.to_owned(),
            false => registry,
        };
        if !is_registry(&registry) {
            return Err("the domain of the image is no name of a host");
        }
        let name = self
            .text("/repository/image/name")
            .unwrap_or(self.name.name());
        let name = match self.text("/component").filter(|it| !it.is_empty()) {
            Some(component) => format!("{name}-{component}"),
            None => name.to_owned(),
        };
        let owner = self
            .text("/repository/image/owner")
            .unwrap_or(self.name.group());
        let is_official = self.settings.pointer("/repository/image/officialImage");
        let owner = match is_official == Some(&Value::Bool(true)) {
            true if registry == DOCKER_HUB => "library",
            true => "",
            // Docker Hub has no images without an owner.
            false if owner.is_empty() && registry == DOCKER_HUB => "library",
            false => owner,
        };
        let parts = [owner, &name].into_iter().filter(|it| !it.is_empty());
        let repository = parts.collect::<Vec<_>>().join("/").to_ascii_lowercase();
        if !is_repository(&repository) {
            return Err("owner and name of the image make no name that a registry allows");
        }
        Ok(ImageName {
            registry,
            repository,
        })
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.settings.pointer(path).and_then(Value::as_str)
    }
}

fn is_registry(text: &str) -> bool {
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let is_label = |it: &str| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !it.is_empty() && it.bytes().all(is_inner) && !it.starts_with('-') && !it.ends_with('-')
    };
    host.len() <= 253
        && host.split('.').all(is_label)
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// Tells whether registries allow a name: words of lower-case letters and digits, with single separators in between.
fn is_repository(text: &str) -> bool {
    let is_word = |word: &str| {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !word.is_empty() && word.bytes().all(is_inner)
    };
    let is_component = |component: &str| {
        // `__` and any number of `-` are separators, too.
        let plain = component.replace("__", "_");
        let words = plain.split(['.', '_']);
        words.flat_map(|it| dashed(it)).all(is_word)
    };
    text.len() <= 255 && text.split('/').all(is_component)
}

/// Splits at runs of dashes.
fn dashed(text: &str) -> Vec<&str> {
    let is_edge = text.starts_with('-') || text.ends_with('-') || text.is_empty();
    let words = text.split('-').filter(|word| !word.is_empty());
    match is_edge {
        true => vec![""],
        false => words.collect(),
    }
}
