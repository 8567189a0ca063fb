//! Recording a change of an owner, inside a transaction.

use jiff::Timestamp;
use pathline_lineage::Arrived;

use super::super::change::{ArrivedNow, MadeNow, What};
use super::LineageGroup;
use super::artifacts::Numbers;
use super::edges::Edges;
use super::owners::Owner;
use super::prepared::PreparedChange;
use crate::database::{Session, sql};
use crate::error::Error;
use crate::writer::{Transaction, Write};

/// The most outputs, and the most arrivals, that a change lists.
const MAX_LISTED: usize = 64;

impl Write for PreparedChange {
    type Group = LineageGroup;
    type Answer = ();

    fn bytes(&self) -> usize {
        self.lineage.len()
    }

    fn join(&self, group: &mut LineageGroup) {
        group.begin_owner(&self.owner);
        for artifact in self.artifacts.values() {
            group.name_artifact(artifact, self.time);
        }
    }

    /// Whatever of it is recorded already is left as it is.
    async fn execute(
        &self,
        group: &mut LineageGroup,
        transaction: &mut Transaction<'_>,
    ) -> Result<(), Error> {
        let LineageGroup {
            numbers,
            edges,
            owners,
            ..
        } = group;
        let owner = owners.of_change(transaction.location(), &self.owner.uid)?;
        let mut what = What::default();
        let ended = Deriving {
            session: transaction.session(),
            numbers,
            edges,
        }
        .record(owner, self, &mut what)
        .await?;
        self.record_arrivals(transaction.session(), numbers, owner, &mut what)
            .await?;
        let is_back = owner.row.gone.is_some();
        if ended || is_back || owner.row.lineage != self.lineage || what != What::default() {
            let times = self.made.iter().map(|made| made.time);
            owner.row.lineage.clone_from(&self.lineage);
            owner.row.known = times.fold(owner.row.known, i64::max);
            owner.row.gone = None;
            owner.record_change(transaction, self.time, &what).await?;
        }
        Ok(())
    }
}

impl PreparedChange {
    async fn record_arrivals(
        &self,
        session: &mut Session,
        numbers: &Numbers,
        owner: &Owner,
        what: &mut What,
    ) -> Result<(), Error> {
        for arrived in &self.arrivals {
            let artifact = numbers.of(arrived.artifact.id());
            let new = arrive(session, (owner.row.id, artifact), arrived, self.time).await?;
            if new && what.arrived.len() < MAX_LISTED {
                what.arrived.push(ArrivedNow {
                    input: arrived.input.clone(),
                    artifact: arrived.artifact.id(),
                    live: arrived.live,
                });
            }
        }
        Ok(())
    }
}

/// Records derivations.
struct Deriving<'a> {
    session: &'a mut Session,
    numbers: &'a mut Numbers,
    edges: &'a mut Edges,
}

impl Deriving<'_> {
    /// Tells whether something that was current has ended without anything new instead of it.
    async fn record(
        &mut self,
        owner: &mut Owner,
        change: &PreparedChange,
        what: &mut What,
    ) -> Result<bool, Error> {
        let (id, known) = (owner.row.id, owner.row.known);
        for made in &change.made {
            let new = owner
                .derivations
                .record(self.session, self.numbers, self.edges, (id, known), made)
                .await?;
            if new && what.made.len() < MAX_LISTED {
                what.made.push(MadeNow {
                    resource: made.resource.clone(),
                    artifact: made.result(),
                });
            }
        }
        let is_current = |resource: &str| change.current.contains(resource);
        let time = change.time.as_microsecond();
        owner
            .derivations
            .keep_only(self.session, is_current, time)
            .await
    }
}

/// Records an arrival; tells whether it was not recorded before.
async fn arrive(
    session: &mut Session,
    (owner, artifact): (i64, i64),
    arrived: &Arrived,
    time: Timestamp,
) -> Result<bool, Error> {
    let insert = sql(
        "insert into arrival (owner, input, artifact, live, generation, time) \
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
    )
    .bind(owner)
    .bind(&arrived.input)
    .bind(artifact)
    .bind(arrived.live)
    .bind(arrived.generation)
    .bind(time);
    Ok(session.run(insert).await? > 0)
}
