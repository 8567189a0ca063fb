//! The origin of an input of a resource.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The origin of an input: the owner, or the resource that produced it.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Origin {
    /// An input of the owner, such as `param:debug` or `field:spec.source.git.url`.
    Owner(String),
    /// The output of a resource, by the resource's name.
    Resource(String),
}

impl Origin {
    /// Returns the origin that is an input of the owner.
    pub fn owner(name: impl Into<String>) -> Self {
        Self::Owner(name.into())
    }

    /// Returns the origin that is a resource.
    pub fn resource(name: impl Into<String>) -> Self {
        Self::Resource(name.into())
    }

    /// Returns the name of the owner's input or of the resource.
    pub fn name(&self) -> &str {
        match self {
            Self::Owner(name) | Self::Resource(name) => name,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(name) => write!(f, "owner {name}"),
            Self::Resource(name) => write!(f, "resource {name}"),
        }
    }
}

/// A text names no origin.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no origin: `owner NAME` or `resource NAME` is expected")]
pub struct NotAnOrigin(String);

impl TryFrom<String> for Origin {
    type Error = NotAnOrigin;

    fn try_from(text: String) -> Result<Self, NotAnOrigin> {
        match text.split_once(' ') {
            Some(("owner", name)) => Ok(Self::owner(name)),
            Some(("resource", name)) => Ok(Self::resource(name)),
            _ => Err(NotAnOrigin(text)),
        }
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.to_string()
    }
}
