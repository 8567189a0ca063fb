//! Where has it got to: everything that something went into, directly or through others.

use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Artifact, Kind};

use crate::change::OwnerRef;
use crate::database::{Dialect, Statement, sql_of_parts};
use crate::error::Error;
use crate::find::find;
use crate::ledger::Ledger;
use crate::page::{Page, Paged};
use crate::rows::{ARTIFACT, ArtifactRow, OWNER, OwnerRow, some_time, time};

/// The most steps of a walk: a param that everything reads leads everywhere.
const STEPS: i64 = 100_000;

/// Something that was made of what was asked for, or is it.
#[derive(Clone, Debug, PartialEq)]
pub struct Carrier {
    /// Whose it is.
    pub owner: OwnerRef,
    /// The resource that made it.
    pub resource: String,
    /// What it made; nothing if its object is the result.
    pub artifact: Option<Artifact>,
    /// Whether every step on some way to it is proven.
    pub proven: bool,
    /// Whether the resource still makes this, and of what was asked for.
    pub current: bool,
    /// Since when.
    pub since: Timestamp,
    /// Until when, unless it is current.
    pub until: Option<Timestamp>,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: i64,
    resource: String,
    proven: bool,
    since: i64,
    until: Option<i64>,
    ended: i64,
    steps: i64,
    #[sqlx(flatten)]
    owner: OwnerRow,
    #[sqlx(flatten)]
    artifact: ArtifactRow,
}

/// A walk from the artifacts asked for along the edges, over derivations.
///
/// Inside one owner, what a resource made is followed to those who took it from that resource while
/// that was how it was made, not to everyone who has equal content. What an owner was given is
/// followed by content alone, for it may come from anywhere. `ended` is when, on the way, an output
/// came to be known to be made in another way.
const WALK: [&str; 5] = [
    "with recursive walk (derivation, proven, ended) as ( \
     select id, true, 9223372036854775807 from derivation where output ",
    " union \
     select derivation, evidence <> 'assumed', 9223372036854775807 from edge where input ",
    " union \
     select taker.id, walk.proven and edge.evidence <> 'assumed', \
       case when maker.superseded < walk.ended then maker.superseded else walk.ended end \
     from walk \
     join derivation maker on maker.id = walk.derivation \
     join edge on edge.input = maker.output and edge.scope in (0, maker.owner) \
     join derivation taker on taker.id = edge.derivation \
     where edge.scope = 0 or ( \
       edge.origin = 'resource ' || maker.resource \
       and (taker.until is null or maker.since <= taker.until) \
       and (maker.superseded is null or taker.since < maker.superseded))) \
     select derivation.id, derivation.resource, best.proven, derivation.since, derivation.until, \
       best.ended, best.steps, ",
    ", ",
    " from (select derivation, proven, ended, steps from \
       (select derivation, proven, ended, count(*) over () as steps, row_number() over \
         (partition by derivation order by ended desc, proven desc) as place \
         from (select * from walk limit $4) bounded) ranked \
       where place = 1 and derivation < $2 order by derivation desc limit $3) best \
     join derivation on derivation.id = best.derivation \
     join owner on owner.id = derivation.owner \
     left join artifact on artifact.id = derivation.output \
     order by best.derivation desc",
];

/// Where it has got to
impl Ledger {
    /// Returns everything that was made of what a text names (as [`Ledger::find`] has it), directly
    /// or through others, over all owners, and whatever made the thing itself; the newest first.
    ///
    /// # Errors
    /// [`Error::TooMuch`] if that is almost everything.
    pub async fn contains(
        &self,
        kind: Kind,
        text: &str,
        page: &Page,
    ) -> Result<Paged<Carrier>, Error> {
        let before = page.after(i64::MAX)?;
        let mut session = self.database().reader().await?;
        let found = find(&mut session, kind, text).await?;
        let starts: Vec<i64> = found.iter().map(|it| it.id).collect();
        if starts.is_empty() {
            return Ok(Paged::new(page, Vec::new(), |_| 0));
        }
        let asked = walk(session.dialect(), &starts, before, page.rows());
        let rows: Vec<Row> = session.all(asked).await?;
        if rows.first().is_some_and(|row| row.steps > STEPS) {
            return Err(Error::TooMuch { most: STEPS });
        }
        let place = self.database().place();
        Paged::new(page, rows, |row| row.id).try_map(|row| row.read(place))
    }
}

/// Returns the question for everything that lies on the way from some artifacts.
pub(crate) fn walk(dialect: Dialect, starts: &[i64], before: i64, rows: i64) -> Statement {
    let [begin, or_into, along, comma, end] = WALK;
    let is_start = dialect.is_in_first();
    sql_of_parts(&[
        begin, is_start, or_into, is_start, along, OWNER, comma, ARTIFACT, end,
    ])
    .bind(&dialect.list(starts))
    .bind(before)
    .bind(rows)
    .bind(STEPS + 1)
}

impl Row {
    fn read(self, place: &Arc<str>) -> Result<Carrier, Error> {
        let until = self.until.unwrap_or(i64::MAX).min(self.ended);
        let until = Some(until).filter(|until| *until < i64::MAX);
        Ok(Carrier {
            owner: self.owner.into(),
            resource: self.resource,
            artifact: self.artifact.read(place)?,
            proven: self.proven,
            current: until.is_none(),
            since: time(place, self.since)?,
            until: some_time(place, until)?,
        })
    }
}
