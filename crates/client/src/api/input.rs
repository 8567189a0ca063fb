//! The inputs that an owner gives, and how far each has come.

use pathline_lineage as lineage;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::Artifact;

/// An input of the owner, and how far its present value has come.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct OwnerInput {
    /// `param:NAME`, `field:PATH` or `source`.
    pub name: String,
    /// The value it has now.
    pub artifact: Artifact,
    /// Whether everything it flows into is made from this value, by proven edges only.
    pub arrived: bool,
    /// Whether something is made from two values of it at once.
    pub mixed: bool,
    /// Whether nothing on the path reads it.
    pub unused: bool,
    /// Whether it runs: `True`, `False` or `Unknown`; absent if it is unused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<String>,
    /// The reasons why it has not arrived; empty if it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// One reason why a value has not arrived.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Missing {
    /// One word: `unused`, `notOnPath`, `superseded`, `nothing`, `notRead`, `assumed`, `other`,
    /// `pending`, `forgotten` or `mixed`.
    pub reason: String,
    /// The resource at which it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The input of that resource: `owner NAME` or `resource NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The other value that is there instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The same for people.
    pub message: String,
}

impl From<&lineage::Missing> for Missing {
    fn from(missing: &lineage::Missing) -> Self {
        use lineage::Missing as It;
        let alone = |reason: &str, message: &str| Self {
            reason: reason.to_owned(),
            message: message.to_owned(),
            ..Self::default()
        };
        let at = |reason: &str, resource: &String, input: Option<&lineage::Origin>, message| Self {
            reason: reason.to_owned(),
            resource: Some(resource.clone()),
            input: input.map(ToString::to_string),
            value: None,
            message,
        };
        match missing {
            It::Unused => alone("unused", "nothing on the path reads it"),
            It::NotOnPath => alone("notOnPath", "the resource is not on the path"),
            It::Superseded => alone("superseded", "nothing carries the value any more"),
            It::Nothing { resource } => {
                let message = format!("{resource} has made nothing yet");
                at("nothing", resource, None, message)
            }
            It::NotRead { resource, input } => {
                let message = format!("what {resource} makes was made without {input}");
                at("notRead", resource, Some(input), message)
            }
            It::Assumed { resource, input } => {
                let message = format!("nothing proves that {resource} has taken {input} in");
                at("assumed", resource, Some(input), message)
            }
            It::Other {
                resource,
                input,
                shown,
            } => Self {
                value: Some(shown.clone()),
                ..at(
                    "other",
                    resource,
                    Some(input),
                    format!("{resource} is made from another value of {input}: {shown}"),
                )
            },
            It::Pending { resource, input } => {
                let message = format!("{resource} was given another value of {input} since");
                at("pending", resource, Some(input), message)
            }
            It::Forgotten { resource } => {
                let message = format!("how {resource} made it is no longer remembered");
                at("forgotten", resource, None, message)
            }
            It::Mixed { resource, upstream } => {
                let message = format!("{resource} is made from two values of {upstream}");
                at("mixed", resource, Some(upstream), message)
            }
        }
    }
}
