//! Derivations of one owner: which are new, which are only judged anew, which have ended.

use std::collections::HashMap;

use super::artifacts::Numbers;
use super::edges::Edges;
use super::prepared::Made;
use crate::database::{Session, sql};
use crate::error::Error;

/// The derivations of one owner.
pub(super) struct Derivations {
    owner: i64,
    /// Whatever is older may have been recorded before.
    known: i64,
    /// What each resource makes, as far as the tables say.
    current: HashMap<String, Row>,
}

/// A current derivation in the tables.
#[derive(sqlx::FromRow)]
struct Row {
    id: i64,
    resource: String,
    identity: i64,
    known: i64,
}

impl Derivations {
    /// Begins with an owner of whom nothing is known.
    pub(super) fn none(owner: i64) -> Self {
        Self {
            owner,
            known: i64::MIN,
            current: HashMap::new(),
        }
    }

    /// Reads what is current.
    pub(super) async fn load(session: &mut Session, owner: i64, known: i64) -> Result<Self, Error> {
        let asked = sql("select id, resource, identity, known from derivation \
             where owner = $1 and until is null");
        let rows: Vec<Row> = session.all(asked.bind(owner)).await?;
        let current = rows.into_iter().map(|row| (row.resource.clone(), row));
        Ok(Self {
            owner,
            known,
            current: current.collect(),
        })
    }

    /// Records one derivation; tells whether it was not recorded before.
    pub(super) async fn record(
        &mut self,
        session: &mut Session,
        numbers: &mut Numbers,
        edges: &mut Edges,
        made: &Made,
    ) -> Result<bool, Error> {
        if let Some(row) = self.current.get_mut(&made.resource)
            && row.identity == made.identity
        {
            if row.known >= made.time {
                return Ok(false);
            }
            row.known = made.time;
            edges.write(session).await?;
            judge_anew(session, row.id, made).await?;
            return Ok(true);
        }
        if made.time <= self.known && self.is_recorded(session, made).await? {
            return Ok(false);
        }
        if let Some(row) = self.current.remove(&made.resource) {
            end(session, row.id, made.time).await?;
        }
        let id = self.insert(session, numbers, made).await?;
        edges.add(id, self.owner, numbers, made);
        let row = Row {
            id,
            resource: made.resource.clone(),
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
        let mut ended = false;
        for row in self
            .current
            .values()
            .filter(|row| !is_current(&row.resource))
        {
            end(session, row.id, time).await?;
            ended = true;
        }
        Ok(ended)
    }

    async fn is_recorded(&self, session: &mut Session, made: &Made) -> Result<bool, Error> {
        let asked = sql(
            "select id from derivation where owner = $1 and since <= $2 and known >= $2 \
             and identity = $3 and resource = $4",
        )
        .bind(self.owner)
        .bind(made.time)
        .bind(made.identity)
        .bind(&made.resource);
        Ok(session.first::<(i64,)>(asked).await?.is_some())
    }

    async fn insert(
        &self,
        session: &mut Session,
        numbers: &mut Numbers,
        made: &Made,
    ) -> Result<i64, Error> {
        let output = made.output.map(|output| numbers.of(output));
        if let Some(output) = output
            && !numbers.is_first_output(output)
        {
            self.supersede(session, output, made).await?;
        }
        let insert = sql(
            "insert into derivation (owner, resource, template, template_generation, object_uid, \
             object_generation, output, identity, since, known) \
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) returning id",
        )
        .bind(self.owner)
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
    async fn supersede(
        &self,
        session: &mut Session,
        output: i64,
        made: &Made,
    ) -> Result<(), Error> {
        let update = sql("update derivation set superseded = $4 \
             where output = $1 and owner = $2 and resource = $3 and superseded is null")
        .bind(output)
        .bind(self.owner)
        .bind(&made.resource)
        .bind(made.time);
        session.run(update).await.map(drop)
    }
}

/// Takes over how well a derivation is proven now.
async fn judge_anew(session: &mut Session, derivation: i64, made: &Made) -> Result<(), Error> {
    let update = sql("update derivation set known = $2, object_generation = $3 where id = $1")
        .bind(derivation)
        .bind(made.time)
        .bind(made.object_generation);
    session.run(update).await?;
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

async fn end(session: &mut Session, derivation: i64, time: i64) -> Result<(), Error> {
    let update = sql("update derivation set until = $2 where id = $1")
        .bind(derivation)
        .bind(time);
    session.run(update).await.map(drop)
}
