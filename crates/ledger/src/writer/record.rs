//! Recording changes, inside a transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::Work;
use super::artifacts::Numbers;
use super::edges::Edges;
use super::owners::{Owner, Owners};
use super::prepared::{Departure, Prepared};
use crate::change::{Arrived, ArrivedNow, MadeNow, What};
use crate::database::{Session, sql};
use crate::error::Error;

/// How many changes are kept for those who come back; older ones are told by the other tables only.
const CHANGES_KEPT: i64 = 100_000;
/// The most that a change tells of what was made, and of what arrived.
const TOLD: usize = 64;

/// A transaction under way.
pub(super) struct Writing<'a> {
    pub(super) session: &'a mut Session,
    place: &'a Arc<str>,
    pub(super) numbers: Numbers,
    edges: Edges,
    pub(super) owners: Owners,
}

impl<'a> Writing<'a> {
    /// Reads what is known of all that the works are about, and writes their artifacts.
    pub(super) async fn begin(
        session: &'a mut Session,
        place: &'a Arc<str>,
        works: &[&Work],
    ) -> Result<Self, Error> {
        let changes: Vec<&Prepared> = works.iter().filter_map(|work| work.change()).collect();
        let mut artifacts = BTreeMap::new();
        for seen in works.iter().flat_map(|work| work.artifacts()) {
            artifacts.entry(seen.0.id()).or_insert(seen);
        }
        let mut numbers = Numbers::default();
        numbers.learn(session, &artifacts).await?;
        let uids = works.iter().map(|work| work.uid());
        let changing = changes.iter().map(|change| &change.owner);
        let owners = Owners::load(session, uids, changing).await?;
        Ok(Self {
            session,
            place,
            numbers,
            edges: Edges::default(),
            owners,
        })
    }

    /// Records a change. Whatever of it is recorded already is left as it is.
    pub(super) async fn record(&mut self, change: &Prepared) -> Result<(), Error> {
        let owner = self.owners.of_change(self.place, &change.owner.uid)?;
        let mut what = What::default();
        let mut derived = Deriving {
            session: self.session,
            numbers: &mut self.numbers,
            edges: &mut self.edges,
        };
        let ended = derived.record(owner, change, &mut what).await?;
        for arrived in &change.arrivals {
            let artifact = self.numbers.of(arrived.artifact.id());
            let new = arrive(self.session, (owner.row.id, artifact), arrived, change.time).await?;
            if new && what.arrived.len() < TOLD {
                what.arrived.push(ArrivedNow {
                    input: arrived.input.clone(),
                    artifact: arrived.artifact.id(),
                    live: arrived.live,
                });
            }
        }
        let back = owner.row.gone.is_some();
        if ended || back || owner.row.track != change.track || what != What::default() {
            let times = change.made.iter().map(|made| made.time);
            owner.row.track.clone_from(&change.track);
            owner.row.known = times.fold(owner.row.known, i64::max);
            owner.row.gone = None;
            tell(self.session, owner, change.time, &what).await?;
        }
        Ok(())
    }

    /// Records that an owner is no longer there: nothing of it is current any more.
    pub(super) async fn gone(&mut self, departure: &Departure) -> Result<(), Error> {
        let owner = self.owners.get(&departure.owner.uid);
        let Some(owner) = owner.filter(|owner| owner.row.gone.is_none()) else {
            return Ok(());
        };
        let time = departure.time.as_microsecond();
        owner
            .derivations
            .keep_only(self.session, |_| false, time)
            .await?;
        owner.row.gone = Some(time);
        let what = What {
            gone: true,
            ..What::default()
        };
        tell(self.session, owner, departure.time, &what).await
    }

    /// Ends the transaction's work: writes what waits, forgets the oldest changes and tells the
    /// other processes.
    pub(super) async fn finish(mut self) -> Result<(), Error> {
        self.edges.write(self.session).await?;
        let Some(newest) = self.owners.newest() else {
            return Ok(());
        };
        self.owners.write(self.session).await?;
        let forget = sql("delete from change where sequence <= $1");
        self.session.run(forget.bind(newest - CHANGES_KEPT)).await?;
        self.session.announce().await
    }
}

/// What recording derivations needs.
struct Deriving<'a> {
    session: &'a mut Session,
    numbers: &'a mut Numbers,
    edges: &'a mut Edges,
}

impl Deriving<'_> {
    /// Tells whether something that was current has ended without anything new in its place.
    async fn record(
        &mut self,
        owner: &mut Owner,
        change: &Prepared,
        what: &mut What,
    ) -> Result<bool, Error> {
        let (id, known) = (owner.row.id, owner.row.known);
        for made in &change.made {
            let new = owner
                .derivations
                .record(self.session, self.numbers, self.edges, (id, known), made)
                .await?;
            if new && what.made.len() < TOLD {
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

/// Writes the change for those who follow.
pub(super) async fn tell(
    session: &mut Session,
    owner: &mut Owner,
    time: Timestamp,
    what: &What,
) -> Result<(), Error> {
    let what = serde_json::to_string(what).expect("it has nothing that JSON has not");
    let insert =
        sql("insert into change (owner, time, what) values ($1, $2, $3) returning sequence")
            .bind(owner.row.id)
            .bind(time)
            .bind(&what);
    let (sequence,) = session.only::<(i64,)>(insert).await?;
    owner.changed = Some(sequence);
    Ok(())
}
