//! A change, made ready for the tables by the caller, so that the writer does nothing but write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Arrived, Artifact, ArtifactId, Derivation, Evidence, Origin};
use sha2::{Digest, Sha256};

use super::super::change::{Change, OwnerRef};

/// A change to record.
pub(in crate::lineage) struct PreparedChange {
    pub(super) owner: OwnerRef,
    /// As JSON.
    pub(super) lineage: String,
    /// All artifacts that the rest names.
    pub(super) artifacts: BTreeMap<ArtifactId, Arc<Artifact>>,
    /// In the order in which they came to be known.
    pub(super) made: Vec<Made>,
    /// The resources that have made something which still counts.
    pub(super) current: BTreeSet<String>,
    pub(super) arrivals: Vec<Arrived>,
    pub(super) time: Timestamp,
}

/// One derivation.
pub(super) struct Made {
    pub(super) resource: String,
    pub(super) template: String,
    pub(super) template_generation: Option<i64>,
    pub(super) object_uid: String,
    pub(super) object_generation: Option<i64>,
    pub(super) output: Option<ArtifactId>,
    pub(super) from: Vec<Input>,
    pub(super) identity: i64,
    /// The commit that the object of a sink wrote; it may come to be known later than the rest.
    pub(super) commit: Option<ArtifactId>,
    pub(super) time: i64,
}

/// One input of a derivation.
pub(super) struct Input {
    pub(super) origin: Origin,
    pub(super) input: ArtifactId,
    pub(super) evidence: Evidence,
    pub(super) offered: bool,
}

impl PreparedChange {
    /// Makes a change ready.
    pub(in crate::lineage) fn new(change: &Change<'_>) -> Self {
        let lineage = change.lineage;
        let resources = lineage.state.chain().resources().iter();
        let current: Vec<&Derivation> = resources
            .filter_map(|resource| lineage.state.current(&resource.name))
            .collect();
        let mut made: Vec<Made> = change.derivations.iter().map(Made::new).collect();
        // Usually among those given; if not, as after a failure, the ledger catches up here.
        made.extend(current.iter().map(|derivation| Made::new(derivation)));
        let all = change.derivations.iter().chain(current.iter().copied());
        Self {
            owner: change.owner.clone(),
            lineage: serde_json::to_string(lineage)
                .expect("a lineage has nothing that JSON has not"),
            artifacts: artifacts(all, change.arrivals),
            made,
            current: current.iter().map(|it| it.resource.clone()).collect(),
            arrivals: change.arrivals.to_vec(),
            time: change.time,
        }
    }
}

impl Made {
    /// Returns what came out, as far as anything did beside the object.
    pub(super) fn result(&self) -> Option<ArtifactId> {
        self.output.or(self.commit)
    }

    fn new(derivation: &Derivation) -> Self {
        let from = derivation.from.iter().map(|(origin, edge)| Input {
            origin: origin.clone(),
            input: edge.artifact.id(),
            evidence: edge.evidence,
            offered: edge.offered,
        });
        Self {
            resource: derivation.resource.clone(),
            template: derivation.template.name.clone(),
            template_generation: derivation.template.generation,
            object_uid: derivation.uid.clone(),
            object_generation: derivation.generation,
            output: derivation.output.as_ref().map(Artifact::id),
            from: from.collect(),
            identity: identity(derivation),
            commit: written(derivation).map(Artifact::id),
            time: derivation.time.as_microsecond(),
        }
    }
}

fn artifacts<'a>(
    derivations: impl Iterator<Item = &'a Derivation>,
    arrivals: &'a [Arrived],
) -> BTreeMap<ArtifactId, Arc<Artifact>> {
    derivations
        .flat_map(|made| {
            let inputs = made.from.values().map(|edge| &edge.artifact);
            inputs.chain(&made.output).chain(written(made))
        })
        .chain(arrivals.iter().map(|arrived| &arrived.artifact))
        .map(|artifact| (artifact.id(), Arc::new(artifact.clone())))
        .collect()
}

/// Returns the commit that the object of a sink wrote.
fn written(derivation: &Derivation) -> Option<&Artifact> {
    let commit = derivation.commit.as_ref();
    commit.filter(|_| derivation.output.is_none())
}

/// Hashes what makes a derivation this one and no other: not how well it is proven, nor when, nor
/// the generation of the object, which others may raise, nor its commit, which is written later.
fn identity(derivation: &Derivation) -> i64 {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    };
    add(&derivation.template.name);
    add(&format!("{:?}", derivation.template.generation));
    add(&derivation.uid);
    add(&derivation
        .output
        .as_ref()
        .map_or_else(String::new, |it| it.id().to_string()));
    for (origin, edge) in &derivation.from {
        add(&origin.to_string());
        add(&edge.artifact.id().to_string());
    }
    let digest = hash.finalize();
    let (first, _) = digest.split_first_chunk().expect("SHA-256 has 32 bytes");
    i64::from_le_bytes(*first)
}
