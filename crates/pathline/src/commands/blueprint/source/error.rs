//! Errors of files, and what to do about them.

use std::io;

use pathline_blueprint::selection::Fault;
use pathline_document::ReadError;

use super::MAX_BYTES;
use crate::terminal::report::{Exit, Hint};

/// An error because of which the answer cannot be known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("cannot read {name}")]
    File {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("{name} is larger than {} MB", MAX_BYTES >> 20)]
    TooLarge { name: String },
    #[error("{name} is not UTF-8")]
    NotText { name: String },
    #[error("{name}:{}:{}: {}", source.position.line, source.position.column, source.kind)]
    Syntax {
        name: String,
        source: Box<ReadError>,
    },
    #[error("{place}: {message}")]
    Object { place: String, message: String },
    #[error("the blueprint `{blueprint}` of {name} leads nowhere")]
    Fault {
        name: String,
        blueprint: String,
        #[source]
        source: Box<Fault>,
    },
}

/// An error in a file, which does not hold what was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Missing {
    #[error("{name} holds no blueprint, but {found}")]
    Blueprint { name: String, found: String },
    #[error("{name} holds no blueprint named `{wanted}`, but {}", quoted(.names))]
    NamedBlueprint {
        name: String,
        wanted: String,
        names: Vec<String>,
    },
    #[error("{name} holds several blueprints: {}", quoted(.names))]
    SeveralBlueprints { name: String, names: Vec<String> },
    #[error("{name} holds no {wanted}, but {found}")]
    Owner {
        name: String,
        wanted: &'static str,
        found: String,
    },
    #[error("{name} holds several owners: {}", quoted(.names))]
    SeveralOwners { name: String, names: Vec<String> },
}

/// The reasons that there is no blueprint or no owner.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error(transparent)]
    Missing(#[from] Missing),
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreadable(Unreadable::Fault { .. }) => {
                "`pathline blueprint lint` shows everything that is wrong with it"
            }
            Self::Unreadable(_) => return None,
            Self::Missing(Missing::Blueprint { .. }) => {
                "a blueprint is a ClusterSupplyChain or a ClusterDelivery of carto.run/v1alpha1"
            }
            Self::Missing(Missing::NamedBlueprint { .. } | Missing::SeveralBlueprints { .. }) => {
                "`--name NAME` says which one"
            }
            Self::Missing(Missing::Owner { .. }) => {
                "supply chains are for Workloads, deliveries for Deliverables"
            }
            Self::Missing(Missing::SeveralOwners { .. }) => "give a file with one of them",
        };
        Some(hint.to_owned())
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Unreadable(_) => Exit::Unknown,
            Self::Missing(_) => Exit::Usage,
        }
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
