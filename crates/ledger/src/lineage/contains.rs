//! Everything that something went into, directly or through others, over all owners.

use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Artifact, Kind};

use super::Lineage;
use super::change::OwnerRef;
use super::find::find;
use super::rows::{ARTIFACT, ArtifactRow, OWNER, OwnerRow};
use crate::database::{Dialect, Statement, from_row, sql_of_parts};
use crate::error::Error;
use crate::page::{Page, Paged};
use crate::rows::{some_time, time};

/// The most steps of a walk: a param that everything reads leads everywhere.
const MAX_STEPS: i64 = 100_000;

/// Something that was made of what was asked for, or is it.
#[derive(Clone, Debug, PartialEq)]
pub struct Carrier {
    /// The owner it belongs to.
    pub owner: OwnerRef,
    /// The resource that made it.
    pub resource: String,
    /// The output; nothing if its object is the result.
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

from_row! {
    struct Row {
        id: i64,
        resource: String,
        proven: bool,
        ever_proven: bool,
        since: i64,
        until: Option<i64>,
        ended: i64,
        steps: i64,
        ..
        owner: OwnerRow,
        artifact: ArtifactRow,
    }
}

/// A walk from the artifacts asked for along the edges, over derivations.
///
/// Inside one owner, what a resource made is followed to those who took it from that resource while
/// that was how it was made, not to everyone who has equal content. What an owner was given is
/// followed by content alone, for it may come from anywhere. `ended` is when, on the way, an output
/// came to be known to be made in another way.
//
// It walks over derivations and not over artifacts, since equal content is one artifact: if two
// workloads build the same image from two commits, a walk over artifacts would lead from either
// commit to both. A derivation belongs to one owner and one time.
//
// The two starts are those that made the thing itself, and those that were given it: a source that
// an owner names has no derivation which put it out.
//
// `union`, not `union all`: a step that is there already ends, so cycles between owners end, too. But
// `proven` and `ended` are part of the step: one derivation is reached once for each way to it that
// differs in them, which is why the rows are ranked at the end. A way that has not ended comes
// before one that has, and only then a proven one before an assumed one; otherwise a proof of long
// ago would hide that the thing is current. Of what has ended, any proof counts: an output that was
// made anew, and never proven again, takes nothing back from those who took the first.
//
// The two times in the last condition keep what was never one thing apart. `maker.since <=
// taker.until`: a taker that had ended before the maker put this out took it from an earlier one
// with the same content. `taker.since < maker.superseded`: one that began after the output was known
// to be made in another way took it from the later maker. Equal times are common, for all that one
// look finds has the same one: a taker that began in the look that superseded the maker took it from
// the new one (`<`), while one that ended in the look in which its maker began may be there for that
// look only, as when a clock was set back, and did take it (`<=`).
//
// The bound is inside (`limit` on the walk, one more than is allowed), so that a question about
// almost everything costs no more than that; SQLite and PostgreSQL both stop a recursion whose outer
// query wants no more rows.
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
     select derivation.id, derivation.resource, best.proven, best.proofs > 0 as ever_proven, \
       derivation.since, derivation.until, best.ended, best.steps, ",
    ", ",
    " from (select derivation, proven, proofs, ended, steps from \
       (select derivation, proven, ended, count(*) over () as steps, \
         sum(case when proven then 1 else 0 end) over (partition by derivation) as proofs, \
         row_number() over (partition by derivation order by ended desc, proven desc) as rank \
         from (select * from walk limit $4) bounded) ranked \
       where rank = 1 and derivation < $2 order by derivation desc limit $3) best \
     join derivation on derivation.id = best.derivation \
     join owner on owner.id = derivation.owner \
     left join artifact on artifact.id = derivation.output \
     order by best.derivation desc",
];

/// Containing
impl Lineage<'_> {
    /// Returns everything that was made of what a text names (as [`Lineage::find_artifacts`] has it), directly
    /// or through others, over all owners, and whatever made the thing itself; the newest first.
    ///
    /// # Errors
    /// [`Error::TooMuch`] if that is almost everything.
    pub async fn contains(
        self,
        kind: Kind,
        text: &str,
        page: &Page,
    ) -> Result<Paged<Carrier>, Error> {
        let before = page.after(i64::MAX)?;
        let mut session = self.ledger.database().reader().await?;
        let found = find(&mut session, kind, text).await?;
        let starts: Vec<i64> = found.iter().map(|it| it.id).collect();
        if starts.is_empty() {
            return Ok(Paged::new(page, Vec::new(), |_| 0));
        }
        let asked = walk(session.dialect(), &starts, before, page.rows());
        let rows: Vec<Row> = session.all(asked).await?;
        // All rows say how long the walk was; a page without rows has nothing that could be missing.
        if rows.first().is_some_and(|row| row.steps > MAX_STEPS) {
            return Err(Error::TooMuch { most: MAX_STEPS });
        }
        let location = self.ledger.database().location();
        Paged::new(page, rows, |row| row.id).try_map(|row| row.read(location))
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
    .bind(MAX_STEPS + 1)
}

impl Row {
    fn read(self, location: &Arc<str>) -> Result<Carrier, Error> {
        // It ends for whoever asked when the resource makes something else, or when what is on the
        // way is known to be made of something else, although the result is the same.
        let until = self.until.unwrap_or(i64::MAX).min(self.ended);
        let until = Some(until).filter(|until| *until < i64::MAX);
        Ok(Carrier {
            owner: self.owner.into(),
            resource: self.resource,
            artifact: self.artifact.read(location)?,
            proven: if until.is_none() {
                self.proven
            } else {
                self.ever_proven
            },
            current: until.is_none(),
            since: time(location, self.since)?,
            until: some_time(location, until)?,
        })
    }
}
