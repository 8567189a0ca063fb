//! Derivations of one owner: which are new, which are only judged anew, which have ended.

use std::collections::HashMap;

use pathline_lineage::Evidence;

use super::artifacts::Numbers;
use super::edges::Edges;
use super::prepared::Made;
use crate::database::{Session, from_row, sql, sql_of_parts};
use crate::error::Error;

/// The current derivations of one owner, as far as the tables say.
#[derive(Default)]
pub(super) struct Derivations {
    current: HashMap<String, Row>,
}

from_row! {
    /// A current derivation in the tables.
    struct Row {
        id: i64,
        owner: i64,
        resource: String,
        /// The output, or the commit that the object of a sink wrote.
        output: Option<i64>,
        identity: i64,
        known: i64,
    }
}

impl Row {
    /// Tells whether this is what is recorded of a derivation. A commit may become known later; once it
    /// is, another one makes another derivation.
    //
    // The commit of a sink is no part of its identity: the object is seen first, and what it wrote
    // some time later, or never if the answer got lost.
    fn is_of(&self, made: &Made, commit: Option<i64>) -> bool {
        let is_same_commit = commit.is_none() || self.output.is_none() || self.output == commit;
        self.identity == made.identity && is_same_commit
    }
}

impl Derivations {
    /// Reads what is current, by owner.
    pub(super) async fn load(
        session: &mut Session,
        owners: &[i64],
    ) -> Result<HashMap<i64, Self>, Error> {
        let dialect = session.dialect();
        let asked = sql_of_parts(&[
            "select id, owner, resource, output, identity, known from derivation \
             where until is null and owner ",
            dialect.is_in_first(),
        ]);
        let mut derivations: HashMap<i64, Self> = HashMap::new();
        for row in session
            .all::<Row>(asked.bind(&dialect.list(owners)))
            .await?
        {
            let of_owner = derivations.entry(row.owner).or_default();
            of_owner.current.insert(row.resource.clone(), row);
        }
        Ok(derivations)
    }

    /// Records one derivation; tells whether it was not recorded before. Whatever is not newer than
    /// `known` may have been.
    pub(super) async fn record(
        &mut self,
        session: &mut Session,
        numbers: &mut Numbers,
        edges: &mut Edges,
        (owner, known): (i64, i64),
        made: &Made,
    ) -> Result<bool, Error> {
        let commit = made.commit.map(|commit| numbers.of(commit));
        if let Some(row) = self.current.get_mut(&made.resource)
            && row.is_of(made, commit)
        {
            let is_written = commit.is_some() && row.output.is_none();
            // An answer got lost, and all that has come since is told again: this is older than
            // what is known, and what it proves has been judged anew by something later.
            if row.known > made.time && !is_written {
                return Ok(false);
            }
            // The edges of this very derivation may still wait to be written with others; an update
            // before that would find none.
            if row.known == made.time && !is_written {
                edges.write(session).await?;
                return prove(session, row.id, made).await;
            }
            row.known = made.time;
            edges.write(session).await?;
            if is_written {
                row.output = put_out(session, numbers, owner, made).await?;
                write_commit(session, row).await?;
            }
            judge_anew(session, row.id, made).await?;
            return Ok(true);
        }
        // Only what is no newer than the newest that was ever recorded of this owner can be there
        // already, among those that have ended; so the usual case asks nothing.
        if made.time <= known && is_recorded(session, owner, made, commit).await? {
            return Ok(false);
        }
        // A resource makes one thing at a time. The old one ends before the new one is put out,
        // whose output may be the same: then `put_out` marks the old one as superseded as well.
        if let Some(row) = self.current.remove(&made.resource) {
            end(session, row.id, made.time).await?;
        }
        let output = put_out(session, numbers, owner, made).await?;
        let id = insert(session, owner, output, made).await?;
        edges.add(id, owner, numbers, made);
        let row = Row {
            id,
            owner,
            resource: made.resource.clone(),
            output,
            identity: made.identity,
            known: made.time,
        };
        self.current.insert(made.resource.clone(), row);
        Ok(true)
    }

    /// Ends what is no longer current; tells whether there was any.
    pub(super) async fn keep_only(
        &mut self,
        session: &mut Session,
        is_current: impl Fn(&str) -> bool,
        time: i64,
    ) -> Result<bool, Error> {
        let ended: Vec<Row> = self
            .current
            .extract_if(|resource, _| !is_current(resource))
            .map(|(_, row)| row)
            .collect();
        for row in &ended {
            end(session, row.id, time).await?;
        }
        Ok(!ended.is_empty())
    }
}

async fn is_recorded(
    session: &mut Session,
    owner: i64,
    made: &Made,
    commit: Option<i64>,
) -> Result<bool, Error> {
    // The time lies between `since` and `known`, for the same derivation is told each time that it is
    // judged anew. A commit that is not known yet (`$5 is null`) is that of any.
    let asked = sql(
        "select id from derivation where owner = $1 and since <= $2 and known >= $2 \
         and identity = $3 and resource = $4 and (output = $5 or $5 is null)",
    )
    .bind(owner)
    .bind(made.time)
    .bind(made.identity)
    .bind(&made.resource)
    .bind(commit);
    Ok(session.first::<(i64,)>(asked).await?.is_some())
}

/// Takes over the commit that an object wrote after it was made.
async fn write_commit(session: &mut Session, row: &Row) -> Result<(), Error> {
    let update = sql("update derivation set output = $2 where id = $1")
        .bind(row.id)
        .bind(row.output);
    session.run(update).await.map(drop)
}

/// Returns the number of what came out. Whatever made the same before has not made what is there now.
///
/// An artifact that this transaction has written first cannot be the output of anything, which spares
/// nearly every build an update that finds nothing.
async fn put_out(
    session: &mut Session,
    numbers: &mut Numbers,
    owner: i64,
    made: &Made,
) -> Result<Option<i64>, Error> {
    let output = made.result().map(|output| numbers.of(output));
    if let Some(output) = output
        && !numbers.is_first_output(output)
    {
        supersede(session, owner, output, made).await?;
    }
    Ok(output)
}

async fn insert(
    session: &mut Session,
    owner: i64,
    output: Option<i64>,
    made: &Made,
) -> Result<i64, Error> {
    let insert = sql(
        "insert into derivation (owner, resource, template, template_generation, object_uid, \
         object_generation, output, identity, since, known) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) returning id",
    )
    .bind(owner)
    .bind(&made.resource)
    .bind(&made.template)
    .bind(made.template_generation)
    .bind(&made.object_uid)
    .bind(made.object_generation)
    .bind(output)
    .bind(made.identity)
    .bind(made.time);
    let (id,) = session.only::<(i64,)>(insert).await?;
    Ok(id)
}

/// From now on the output is known to have been made in another way.
///
/// Of the same resource only: others that put out the same content have made it in their own way.
/// The first time counts, since whoever took it between two of them took it from the first.
async fn supersede(
    session: &mut Session,
    owner: i64,
    output: i64,
    made: &Made,
) -> Result<(), Error> {
    let update = sql("update derivation set superseded = $4 \
         where output = $1 and owner = $2 and resource = $3 and superseded is null")
    .bind(output)
    .bind(owner)
    .bind(&made.resource)
    .bind(made.time);
    session.run(update).await.map(drop)
}

/// Takes over how well a derivation is proven now.
async fn judge_anew(session: &mut Session, derivation: i64, made: &Made) -> Result<(), Error> {
    let update = sql("update derivation set known = $2, object_generation = $3 where id = $1")
        .bind(derivation)
        .bind(made.time)
        .bind(made.object_generation);
    session.run(update).await?;
    // An edge that is as well known as before keeps the time since when it is; `identity` says that
    // origins and inputs are the same ones, so only the evidence can differ.
    for from in &made.from {
        let update = sql("update edge set evidence = $3, known = $4 \
             where derivation = $1 and origin = $2 and evidence <> $3")
        .bind(derivation)
        .bind(&from.origin.to_string())
        .bind(&from.evidence.to_string())
        .bind(made.time);
        session.run(update).await?;
    }
    Ok(())
}

/// Takes over what a reconcile has proven that was only assumed earlier in the same one: before an
/// object is stamped anew, and after it. Tells whether there was any. That it is recorded twice
/// changes nothing.
async fn prove(session: &mut Session, derivation: i64, made: &Made) -> Result<bool, Error> {
    // Only towards proof: told again in the other order, the assumption would take the proof back.
    let assumed = Evidence::Assumed.to_string();
    let mut proven = 0;
    for from in made.from.iter().filter(|it| it.evidence.is_proof()) {
        let update = sql("update edge set evidence = $3 \
             where derivation = $1 and origin = $2 and evidence = $4")
        .bind(derivation)
        .bind(&from.origin.to_string())
        .bind(&from.evidence.to_string())
        .bind(&assumed);
        proven += session.run(update).await?;
    }
    if proven > 0 {
        let update = sql("update derivation set object_generation = $2 where id = $1")
            .bind(derivation)
            .bind(made.object_generation);
        session.run(update).await?;
    }
    Ok(proven > 0)
}

/// Ends a derivation, not before it began: clocks may be set back.
async fn end(session: &mut Session, derivation: i64, time: i64) -> Result<(), Error> {
    let update = sql("update derivation \
         set until = case when since > $2 then since else $2 end where id = $1")
    .bind(derivation)
    .bind(time);
    session.run(update).await.map(drop)
}
