//! Images, and what is known of them.

use crate::Secret;

/// The names by which Docker Hub is called.
const HUB: [&str; 5] = [
    "docker.io",
    "index.docker.io",
    "registry-1.docker.io",
    "hub.docker.io",
    "registry.hub.docker.com",
];
/// The host that answers for Docker Hub.
const HUB_HOST: &str = "registry-1.docker.io";

/// A repository of images.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageRepository {
    /// The registry: `host[:port]`, `docker.io` for Docker Hub.
    pub registry: String,
    /// The name of the repository in it.
    pub repository: String,
}

/// The credentials for a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryLogin {
    /// A user and a password or token.
    Basic {
        /// The user.
        username: String,
        /// The password or token.
        password: Secret,
    },
    /// A refresh token, by which the registry's token service gives others.
    Identity(Secret),
}

/// The answer about a tag or digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// The digest is the known one.
    Unchanged,
    /// The digest of the manifest or index.
    Digest(String),
    /// There is no such manifest.
    Missing,
}

/// The origin of an image, as it says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The commit, from `org.opencontainers.image.revision`.
    pub revision: Option<String>,
    /// The repository, from `org.opencontainers.image.source`.
    pub source: Option<String>,
}

impl ImageRepository {
    /// Tells whether it is on Docker Hub.
    pub fn is_on_hub(&self) -> bool {
        is_hub(&self.registry)
    }

    /// Returns the host that is asked.
    pub(super) fn host(&self) -> &str {
        match self.is_on_hub() {
            true => HUB_HOST,
            false => &self.registry,
        }
    }

    /// Returns the name of the repository as the registry has it: images of Docker itself are in `library`.
    pub(super) fn name(&self) -> String {
        match self.is_on_hub() && !self.repository.contains('/') {
            true => format!("library/{}", self.repository),
            false => self.repository.clone(),
        }
    }

    /// Tells whether the name is one that the distribution specification allows.
    pub(super) fn is_valid(&self) -> bool {
        let is_name = |part: &str| {
            let is_allowed = |it: u8| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
            let is_end = |it: Option<u8>| it.is_some_and(|it| it.is_ascii_alphanumeric());
            part.bytes().all(is_allowed)
                && is_end(part.bytes().next())
                && is_end(part.bytes().next_back())
        };
        self.repository.len() <= 255 && self.repository.split('/').all(is_name)
    }
}

/// Tells whether a registry is Docker Hub.
pub(super) fn is_hub(registry: &str) -> bool {
    HUB.contains(&registry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(registry: &str, repository: &str) -> ImageRepository {
        ImageRepository {
            registry: registry.to_owned(),
            repository: repository.to_owned(),
        }
    }

    #[test]
    fn docker_hub_has_a_host_and_a_library() {
        for registry in HUB {
            let official = image(registry, "nginx");
            assert_eq!(
                (official.host(), &*official.name()),
                (HUB_HOST, "library/nginx")
            );
            assert_eq!(image(registry, "team/app").name(), "team/app");
        }
        let other = image("ghcr.io", "nginx");
        assert_eq!((other.host(), &*other.name()), ("ghcr.io", "nginx"));
    }

    #[test]
    fn names_that_would_lead_elsewhere_are_not_valid() {
        for name in ["app", "a/b/c", "a.b/c-d__e", "0"] {
            assert!(image("x", name).is_valid(), "{name}");
        }
        for name in [
            "", "/", "a//b", "../x", "a/..", "A", "a?b", "a#b", "a%2fb", "-a", "a_",
        ] {
            assert!(!image("x", name).is_valid(), "{name}");
        }
    }
}
