//! What the ledger says of an artifact, as the doors say it.

use pathline_ledger as ledger;

use crate::api::{Artifact, ArtifactEntry, Carrier, Edge, Making, OwnerRef, TemplateVersion, Use};

impl From<ledger::Entry> for ArtifactEntry {
    fn from(entry: ledger::Entry) -> Self {
        Self {
            artifact: Artifact::from(&entry.artifact),
            first_seen: entry.first_seen,
            cut: entry.made.next.is_some() || entry.used.next.is_some(),
            made: entry.made.items.into_iter().map(Making::from).collect(),
            used: entry.used.items.into_iter().map(Use::from).collect(),
        }
    }
}

impl From<ledger::Making> for Making {
    fn from(made: ledger::Making) -> Self {
        Self {
            owner: OwnerRef::from(made.owner),
            resource: made.resource,
            template: TemplateVersion::from(&made.template),
            from: made.from.iter().map(Edge::from).collect(),
            current: made.until.is_none(),
            since: made.since,
            until: made.until,
        }
    }
}

impl From<&ledger::Ingredient> for Edge {
    fn from(ingredient: &ledger::Ingredient) -> Self {
        Self {
            origin: ingredient.origin.to_string(),
            artifact: Artifact::from(&ingredient.artifact),
            evidence: ingredient.evidence,
            offered: ingredient.offered,
        }
    }
}

impl From<ledger::Use> for Use {
    fn from(used: ledger::Use) -> Self {
        Self {
            owner: OwnerRef::from(used.owner),
            resource: used.resource,
            origin: used.origin.to_string(),
            output: used.output.as_ref().map(Artifact::from),
            evidence: used.evidence,
            current: used.until.is_none(),
            since: used.since,
            until: used.until,
        }
    }
}

impl From<ledger::Carrier> for Carrier {
    fn from(carrier: ledger::Carrier) -> Self {
        Self {
            owner: OwnerRef::from(carrier.owner),
            resource: carrier.resource,
            artifact: carrier.artifact.as_ref().map(Artifact::from),
            object: None,
            proven: carrier.proven,
            current: carrier.current,
            since: carrier.since,
            until: carrier.until,
        }
    }
}
