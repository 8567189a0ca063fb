//! Writing lineage: the writes, and what those of one transaction share.

mod artifacts;
mod crossing;
mod derivations;
mod edges;
mod gone;
mod owners;
mod prepared;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId};

pub(super) use self::gone::OwnerGone;
pub(super) use self::prepared::PreparedChange;

use self::artifacts::Numbers;
use self::edges::Edges;
use self::owners::Owners;
use super::change::OwnerRef;
use crate::error::Error;
use crate::writer::{Group, Transaction};

/// The state that writes of lineage share within a transaction.
#[derive(Default)]
pub(crate) struct LineageGroup {
    named: Named,
    numbers: Numbers,
    edges: Edges,
    owners: Owners,
}

/// Artifacts and owners that the writes have named, until they are read.
#[derive(Default)]
struct Named {
    /// Artifacts, and when they were first seen.
    artifacts: BTreeMap<ArtifactId, (Arc<Artifact>, Timestamp)>,
    /// The uids of owners.
    uids: BTreeSet<String>,
    /// Owners that are begun if they are not there.
    owners: BTreeSet<OwnerRef>,
}

impl LineageGroup {
    fn name_artifact(&mut self, artifact: &Arc<Artifact>, time: Timestamp) {
        let named = self.named.artifacts.entry(artifact.id());
        named.or_insert_with(|| (Arc::clone(artifact), time));
    }

    fn name_owner(&mut self, uid: &str) {
        if !self.named.uids.contains(uid) {
            self.named.uids.insert(uid.to_owned());
        }
    }

    fn begin_owner(&mut self, owner: &OwnerRef) {
        self.name_owner(&owner.uid);
        if !self.named.owners.contains(owner) {
            self.named.owners.insert(owner.clone());
        }
    }
}

impl Group for LineageGroup {
    async fn load(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let Named {
            artifacts,
            uids,
            owners,
        } = std::mem::take(&mut self.named);
        let session = transaction.session();
        self.numbers.learn(session, &artifacts).await?;
        self.owners = Owners::load(session, uids, owners).await?;
        Ok(())
    }

    async fn flush(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let session = transaction.session();
        self.edges.write(session).await?;
        std::mem::take(&mut self.owners).write(session).await
    }
}
