//! The environments of a cluster.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

use super::{DeployEnvironment, Problem, listed, read, spec};
use crate::queue::{Environment, Flow, Freeze};

/// An Environment as a cluster has it.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvironmentObject {
    /// The name.
    pub name: String,
    /// The time at which it was created, if it is known.
    pub created: Option<Timestamp>,
    /// The spec, as somebody wrote it.
    pub spec: Value,
    /// Whether somebody has deleted it, and something still keeps it.
    pub is_terminating: bool,
}

/// The environments of a cluster in order, and those that cannot be used.
///
/// One that cannot be used takes nothing. It keeps its place in the flow as long as its position can be read, so that a
/// mistake in `ha` brings nothing to `prod` that `ha` has not had.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environments {
    flow: Flow,
    valid: BTreeMap<String, DeployEnvironment>,
    refused: BTreeMap<String, Refused>,
    created: BTreeMap<String, Timestamp>,
}

/// The reason why an Environment cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Its spec is wrong.
    Invalid(Vec<Problem>),
    /// An older one has its namespace.
    NamespaceTaken {
        /// The namespace.
        namespace: String,
        /// The name of the other one.
        by: String,
    },
    /// Somebody has deleted it, and something keeps it. It has left the flow.
    Terminating,
    /// Somebody has deleted it just now, perhaps to make it anew.
    Deleted,
}

impl Environments {
    /// Puts the Environments of a cluster in order. Of two that want one namespace the older one keeps it; of two that are
    /// equally old the first by name.
    pub fn of(objects: &[EnvironmentObject]) -> Self {
        let mut by_age: Vec<_> = objects.iter().collect();
        by_age.sort_by_key(|it| (it.created.is_none(), it.created, &it.name));
        let created = objects.iter();
        let created = created.filter_map(|it| Some((it.name.clone(), it.created?)));
        let mut environments = Self {
            created: created.collect(),
            ..Self::default()
        };
        let mut namespaces: BTreeMap<String, &str> = BTreeMap::new();
        let mut flow = Vec::new();
        for object in by_age {
            let name = &object.name;
            if environments.valid.contains_key(name) || environments.refused.contains_key(name) {
                continue;
            }
            let refused = match environments.judge(object, &namespaces) {
                Ok(environment) => {
                    namespaces.insert(environment.namespace.clone(), name);
                    flow.push(environment.environment.clone());
                    environments.valid.insert(name.clone(), environment);
                    continue;
                }
                Err(refused) => refused,
            };
            flow.extend(closed(object, &refused));
            environments.refused.insert(name.clone(), refused);
        }
        environments.flow = Flow::new(flow).expect("each name was taken once");
        environments
    }

    /// Puts Environments in order, and keeps the places of some that were deleted: whoever deletes one to make it anew
    /// does not open the way past it.
    pub fn with_departed(objects: &[EnvironmentObject], departed: &[EnvironmentObject]) -> Self {
        let mut environments = Self::of(objects);
        let mut flow = environments.flow.environments().to_vec();
        for object in departed {
            let is_there = objects.iter().any(|it| it.name == object.name);
            if !is_there && !object.is_terminating {
                flow.extend(closed(object, &Refused::Deleted));
                let name = object.name.clone();
                environments.refused.insert(name, Refused::Deleted);
            }
        }
        environments.flow = Flow::new(flow).expect("each name was taken once");
        environments
    }

    /// Returns one environment of each type, each of which takes releases every minute.
    pub fn usual() -> Self {
        let objects = super::TYPES.map(|(of_type, _)| EnvironmentObject {
            name: of_type.to_owned(),
            created: None,
            spec: serde_json::json!({"type": of_type}),
            is_terminating: false,
        });
        Self::of(&objects)
    }

    /// Returns the environments in the order in which releases go through them.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Returns an environment that can be used.
    pub fn get(&self, name: &str) -> Option<&DeployEnvironment> {
        self.valid.get(name)
    }

    /// Returns the time at which an Environment was created, if it is known.
    pub fn created(&self, name: &str) -> Option<Timestamp> {
        self.created.get(name).copied()
    }

    /// Returns the environments that can be used, by name.
    pub fn iter(&self) -> impl Iterator<Item = &DeployEnvironment> {
        self.valid.values()
    }

    /// Returns the Environments that cannot be used, by name, and why.
    pub fn refused(&self) -> impl Iterator<Item = (&str, &Refused)> {
        let refused = self.refused.iter();
        refused.map(|(name, refused)| (name.as_str(), refused))
    }

    /// Returns why an Environment cannot be used.
    pub fn refusal(&self, name: &str) -> Option<&Refused> {
        self.refused.get(name)
    }

    fn judge(
        &self,
        object: &EnvironmentObject,
        namespaces: &BTreeMap<String, &str>,
    ) -> Result<DeployEnvironment, Refused> {
        if object.is_terminating {
            return Err(Refused::Terminating);
        }
        let environment = read(&object.name, &object.spec).map_err(Refused::Invalid)?;
        match namespaces.get(&environment.namespace) {
            Some(by) => Err(Refused::NamespaceTaken {
                by: (*by).to_owned(),
                namespace: environment.namespace,
            }),
            None => Ok(environment),
        }
    }
}

impl Refused {
    /// Returns the word for it, as conditions have it.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "Invalid",
            Self::NamespaceTaken { .. } => "NamespaceTaken",
            Self::Terminating => "Terminating",
            Self::Deleted => "Deleted",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problems) => f.write_str(&listed(problems)),
            Self::NamespaceTaken { namespace, by } => write!(
                f,
                "the namespace `{namespace}` belongs to the Environment `{by}`; give this one another `spec.namespace`"
            ),
            Self::Terminating => f.write_str("it is being deleted"),
            Self::Deleted => {
                f.write_str("it was deleted a moment ago, and keeps its place for some seconds")
            }
        }
    }
}

/// Returns an environment that takes nothing, at the place of one that cannot be used.
fn closed(object: &EnvironmentObject, refused: &Refused) -> Option<Environment> {
    if *refused == Refused::Terminating {
        return None;
    }
    let position = spec::position(&object.spec)?;
    let freeze = Freeze {
        from: Timestamp::MIN,
        until: Timestamp::MAX,
        reason: format!("the Environment cannot be used: {refused}"),
    };
    Some(Environment {
        freezes: vec![freeze],
        ..Environment::new(&object.name, position)
    })
}
