//! Recording changes, inside a transaction.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::artifacts::Numbers;
use super::derivations::Derivations;
use super::edges::Edges;
use super::prepared::{Departure, Prepared};
use crate::change::{Arrived, ArrivedNow, MadeNow, OwnerRef, What};
use crate::database::{Session, sql};
use crate::error::Error;

/// How many changes are kept for those who come back; older ones are told by the other tables only.
const CHANGES_KEPT: i64 = 100_000;
/// The most that a change tells of what was made, and of what arrived.
const TOLD: usize = 64;

/// A transaction under way.
pub(super) struct Writing<'a> {
    session: &'a mut Session,
    numbers: Numbers,
    edges: Edges,
    /// The newest change of this transaction.
    newest: Option<i64>,
}

/// An owner in the tables; its track is empty before its first change.
#[derive(sqlx::FromRow)]
struct Owner {
    id: i64,
    track: String,
    known: i64,
    gone: Option<i64>,
}

impl<'a> Writing<'a> {
    pub(super) fn new(session: &'a mut Session) -> Self {
        Self {
            session,
            numbers: Numbers::default(),
            edges: Edges::default(),
            newest: None,
        }
    }

    /// Writes the artifacts of all changes that are to be recorded.
    pub(super) async fn learn(&mut self, changes: &[&Prepared]) -> Result<(), Error> {
        let mut artifacts = BTreeMap::new();
        for change in changes {
            for artifact in change.artifacts.values() {
                let seen = (artifact, change.time);
                artifacts.entry(artifact.id()).or_insert(seen);
            }
        }
        self.numbers.learn(self.session, &artifacts).await
    }

    /// Records a change whose artifacts were learnt. Whatever of it is recorded already is left as
    /// it is.
    pub(super) async fn record(&mut self, change: &Prepared) -> Result<(), Error> {
        let owner = match self.owner(&change.owner.uid).await? {
            Some(owner) => owner,
            None => self.insert_owner(&change.owner).await?,
        };
        let mut what = What::default();
        let ended = self.record_derivations(&owner, change, &mut what).await?;
        for arrived in &change.arrivals {
            self.record_arrival(owner.id, arrived, change.time, &mut what)
                .await?;
        }
        let back = owner.gone.is_some();
        if ended || back || owner.track != change.track || what != What::default() {
            let newest_made = change.made.last().map_or(i64::MIN, |made| made.time);
            let sequence = self.tell(owner.id, change.time, what).await?;
            let update = sql(
                "update owner set track = $2, known = $3, changed = $4, gone = null where id = $1",
            )
            .bind(owner.id)
            .bind(&change.track)
            .bind(owner.known.max(newest_made))
            .bind(sequence);
            self.session.run(update).await?;
        }
        Ok(())
    }

    /// Records that an owner is no longer there: nothing of it is current any more.
    pub(super) async fn gone(&mut self, departure: &Departure) -> Result<(), Error> {
        let Some(owner) = self.owner(&departure.owner.uid).await? else {
            return Ok(());
        };
        if owner.gone.is_some() {
            return Ok(());
        }
        let time = departure.time;
        let mut derivations = Derivations::load(self.session, owner.id, owner.known).await?;
        derivations
            .keep_only(self.session, |_| false, time.as_microsecond())
            .await?;
        let what = What {
            gone: true,
            ..What::default()
        };
        let sequence = self.tell(owner.id, time, what).await?;
        let update = sql("update owner set gone = $2, changed = $3 where id = $1")
            .bind(owner.id)
            .bind(time)
            .bind(sequence);
        self.session.run(update).await.map(drop)
    }

    /// Ends the transaction's work: forgets the oldest changes and tells the other processes.
    pub(super) async fn finish(mut self) -> Result<(), Error> {
        self.edges.write(self.session).await?;
        let Some(newest) = self.newest else {
            return Ok(());
        };
        let forget = sql("delete from change where sequence <= $1");
        self.session.run(forget.bind(newest - CHANGES_KEPT)).await?;
        self.session.announce().await
    }

    async fn owner(&mut self, uid: &str) -> Result<Option<Owner>, Error> {
        let asked = sql("select id, track, known, gone from owner where uid = $1").bind(uid);
        self.session.first(asked).await
    }

    async fn insert_owner(&mut self, owner: &OwnerRef) -> Result<Owner, Error> {
        let insert = sql(
            "insert into owner (uid, kind, namespace, name, track, known, changed) \
             values ($1, $2, $3, $4, '', $5, 0) returning id, track, known, gone",
        )
        .bind(&owner.uid)
        .bind(&owner.kind)
        .bind(&owner.namespace)
        .bind(&owner.name)
        .bind(i64::MIN);
        self.session.only(insert).await
    }

    /// Tells whether something that was current has ended without anything new in its place.
    async fn record_derivations(
        &mut self,
        owner: &Owner,
        change: &Prepared,
        what: &mut What,
    ) -> Result<bool, Error> {
        let mut derivations = match owner.track.is_empty() {
            true => Derivations::none(owner.id),
            false => Derivations::load(self.session, owner.id, owner.known).await?,
        };
        for made in &change.made {
            let new = derivations
                .record(self.session, &mut self.numbers, &mut self.edges, made)
                .await?;
            if new && what.made.len() < TOLD {
                what.made.push(MadeNow {
                    resource: made.resource.clone(),
                    artifact: made.output,
                });
            }
        }
        let is_current = |resource: &str| change.current.contains(resource);
        let time = change.time.as_microsecond();
        derivations.keep_only(self.session, is_current, time).await
    }

    async fn record_arrival(
        &mut self,
        owner: i64,
        arrived: &Arrived,
        time: Timestamp,
        what: &mut What,
    ) -> Result<(), Error> {
        let insert = sql(
            "insert into arrival (owner, input, artifact, live, generation, time) \
             values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
        )
        .bind(owner)
        .bind(&arrived.input)
        .bind(self.numbers.of(arrived.artifact.id()))
        .bind(arrived.live)
        .bind(arrived.generation)
        .bind(time);
        let new = self.session.run(insert).await? > 0;
        if new && what.arrived.len() < TOLD {
            what.arrived.push(ArrivedNow {
                input: arrived.input.clone(),
                artifact: arrived.artifact.id(),
                live: arrived.live,
            });
        }
        Ok(())
    }

    /// Writes the change for those who follow; returns its sequence.
    async fn tell(&mut self, owner: i64, time: Timestamp, what: What) -> Result<i64, Error> {
        let what = serde_json::to_string(&what).expect("it has nothing that JSON has not");
        let insert =
            sql("insert into change (owner, time, what) values ($1, $2, $3) returning sequence")
                .bind(owner)
                .bind(time)
                .bind(&what);
        let (sequence,) = self.session.only::<(i64,)>(insert).await?;
        self.newest = Some(sequence);
        Ok(sequence)
    }
}
