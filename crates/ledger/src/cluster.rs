//! The cluster that a ledger belongs to. Owners are known by their names, which are unique in one
//! cluster only, so a second cluster is kept out.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use tokio::sync::watch;

use crate::database::{Database, Session, Statement, from_row, sql};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::revision;
use crate::writer::{Transaction, Write};

/// A cluster, as a ledger remembers it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClusterRef {
    /// Its identity, which no other cluster has, and no copy of it.
    pub uid: String,
    /// The name by which people know it: a data directory, or the address of an API server.
    pub name: String,
}

/// The treatment of a ledger that belongs to another cluster.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Claim {
    /// It is refused.
    IfFree,
    /// It goes with the cluster, of which the other one is the original: both were copied together.
    Follow,
    /// It is taken over, and the Pathline of the other cluster loses it. What it knows of the owners
    /// there is forgotten; history stays.
    TakeOver,
}

/// The cluster for which a ledger is open, once it was claimed, and who has it instead if it is lost.
#[derive(Clone, Default)]
pub(crate) struct Claimed {
    uid: Arc<OnceLock<String>>,
    lost: watch::Sender<Option<ClusterRef>>,
}

from_row! {
    /// The one row of the table.
    struct Row {
        uid: String,
        name: String,
    }
}

impl Ledger {
    /// Claims the ledger for a cluster. From then on nothing is written unless it still belongs to
    /// that cluster. Returns the cluster from which it was taken over.
    ///
    /// To be called once, before anything is recorded. Replicas of one cluster share it.
    ///
    /// # Errors
    /// [`Error::OfAnother`] if it belongs to another cluster and is not to be taken over.
    pub async fn claim(
        &self,
        cluster: &ClusterRef,
        claim: Claim,
        time: Timestamp,
    ) -> Result<Option<ClusterRef>, Error> {
        let write = ClaimCluster {
            cluster: cluster.clone(),
            claim,
            time,
        };
        let former = self.write(write).await?;
        let former = former.map_err(|found| of_another(self.database().location(), found))?;
        // A second claim of the same process changes nothing: the first one is checked for ever.
        let _ = self.database().claimed().uid.set(cluster.uid.clone());
        Ok(former)
    }

    /// Waits until another cluster has taken the ledger over, and returns that as an error.
    pub async fn lost(&self) -> Error {
        let mut lost = self.database().claimed().lost.subscribe();
        let Ok(by) = lost.wait_for(Option::is_some).await else {
            return Error::Closed;
        };
        match by.clone() {
            Some(by) => of_another(self.database().location(), by),
            None => Error::Closed,
        }
    }
}

impl Database {
    /// Fails if the ledger was claimed here, and belongs to another cluster now.
    pub(crate) async fn check_claim(&self, session: &mut Session) -> Result<(), Error> {
        let Some(uid) = self.claimed().uid.get() else {
            return Ok(());
        };
        match read(session).await? {
            Some(found) if found.uid != *uid => {
                self.claimed().lost.send_replace(Some(found.clone()));
                Err(of_another(self.location(), found))
            }
            // Without a row somebody has emptied the tables; whoever starts next claims them.
            _ => Ok(()),
        }
    }
}

/// Claims the ledger; the answer is the cluster from which it was taken over, or the one that keeps it.
struct ClaimCluster {
    cluster: ClusterRef,
    claim: Claim,
    time: Timestamp,
}

impl Write for ClaimCluster {
    type Group = ();
    type Answer = Result<Option<ClusterRef>, ClusterRef>;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<Self::Answer, Error> {
        let session = transaction.session();
        let Some(found) = read(session).await? else {
            let insert = sql("insert into cluster (uid, name, since) values ($1, $2, $3)");
            session.run(self.bind(insert)).await?;
            return Ok(Ok(None));
        };
        if found == self.cluster {
            return Ok(Ok(None));
        }
        let is_other = found.uid != self.cluster.uid;
        if is_other && self.claim == Claim::IfFree {
            return Ok(Err(found));
        }
        let update = sql("update cluster set uid = $1, name = $2, since = $3");
        session.run(self.bind(update)).await?;
        if is_other && self.claim == Claim::TakeOver {
            session
                .run(sql("update cluster set revision = null"))
                .await?;
            revision::forget(session, self.time).await?;
        }
        // Whoever had it looks, and finds that it is lost.
        session.notify().await?;
        Ok(Ok(is_other.then_some(found)))
    }
}

impl ClaimCluster {
    fn bind(&self, statement: Statement) -> Statement {
        let ClusterRef { uid, name } = &self.cluster;
        statement.bind(uid).bind(name).bind(self.time)
    }
}

async fn read(session: &mut Session) -> Result<Option<ClusterRef>, Error> {
    let row: Option<Row> = session.first(sql("select uid, name from cluster")).await?;
    Ok(row.map(|Row { uid, name }| ClusterRef { uid, name }))
}

fn of_another(location: &Arc<str>, cluster: ClusterRef) -> Error {
    Error::OfAnother {
        location: Arc::clone(location),
        cluster,
    }
}
