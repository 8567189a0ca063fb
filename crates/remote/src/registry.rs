//! Registries of images: the digest behind a tag, the list of tags, and what an image says it was made from.
//!
//! Manifests are asked for by HEAD, with the digest that is known; layers are never downloaded. Tokens are kept in memory,
//! for the registry, repository and login they were given for, and only as long as they are valid.

mod challenge;
mod client;
mod conversation;
mod describe;
mod digest;
mod docker_config;
mod error;
mod helper;
mod image;
mod link;
mod manifest;
mod tags;
mod token;
mod tokens;

pub use self::client::RegistryClient;
pub use self::docker_config::{DockerConfig, DockerConfigError};
pub use self::error::{RegistryError, RegistryErrorKind};
pub use self::helper::{CredentialHelpers, HelperError};
pub use self::image::{Description, Head, ImageRepository, RegistryLogin};
