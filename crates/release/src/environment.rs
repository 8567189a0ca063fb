//! Environments as a cluster has them: the objects by which people say where releases go, and when.
//!
//! [`read`] turns the spec of one into a [`DeployEnvironment`], or tells all that is wrong with it; [`Environments`] are
//! those of a cluster, in the order in which releases go through them.

mod all;
mod duration;
mod file;
mod owner;
mod section;
mod spec;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

pub use self::all::{EnvironmentObject, Environments, Refused};
pub use self::file::{FileEnvironments, NewEnvironment, check_together, read_file, usual};
pub use self::spec::read;
use crate::queue;

/// The types of environments, with their positions.
pub const TYPES: [(&str, u32); 4] = [("dev", 100), ("ha", 200), ("preprod", 300), ("prod", 400)];

/// An environment, and where and as what its applications are deployed.
#[derive(Clone, Debug, PartialEq)]
pub struct DeployEnvironment {
    /// The place in the flow.
    pub environment: queue::Environment,
    /// The namespace that is deployed into.
    pub namespace: String,
    /// The object that is written for each application.
    pub owner: OwnerSettings,
    /// The settings below those of groups and applications.
    pub template: Value,
}

/// The settings of the object that is written for an application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerSettings {
    /// Its kind.
    pub kind: OwnerKind,
    /// Its labels, by which a blueprint selects it.
    pub labels: BTreeMap<String, String>,
    /// The service account under which everything is written.
    pub service_account_name: Option<String>,
}

/// The kind of the object that is written for an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OwnerKind {
    /// For a supply chain.
    #[default]
    Workload,
    /// For a delivery.
    Deliverable,
}

/// Something that is wrong with an Environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path of the field, such as `spec.freezes[0].until`.
    pub field: String,
    /// The complaint, and what to write.
    pub message: String,
}

impl Problem {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl OwnerKind {
    /// Returns the name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Workload => "Workload",
            Self::Deliverable => "Deliverable",
        }
    }
}

/// Returns all problems as one text.
pub fn listed(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    lines.join("; ")
}
