//! Edges: the inputs of derivations, written together.

use pathline_lineage::Origin;

use super::artifacts::Numbers;
use super::prepared::Made;
use crate::database::{Rows, Session};
use crate::error::Error;

const INSERT: Rows = Rows {
    before: "insert into edge \
             (derivation, origin, input, scope, evidence, offered, known) values ",
    columns: 7,
    after: "",
};

/// Edges that this transaction has yet to write.
#[derive(Default)]
pub(super) struct Edges {
    waiting: Vec<Edge>,
}

struct Edge {
    derivation: i64,
    origin: String,
    input: i64,
    scope: i64,
    evidence: String,
    offered: bool,
    known: i64,
}

impl Edges {
    /// Adds the edges of a new derivation.
    pub(super) fn add(&mut self, derivation: i64, owner: i64, numbers: &Numbers, made: &Made) {
        self.waiting.extend(made.from.iter().map(|from| Edge {
            derivation,
            origin: from.origin.to_string(),
            input: numbers.of(from.input),
            scope: match from.origin {
                Origin::Owner(_) => 0,
                Origin::Resource(_) => owner,
            },
            evidence: from.evidence.to_string(),
            offered: from.offered,
            known: made.time,
        }));
    }

    /// Writes the edges that wait, in as few statements as possible.
    pub(super) async fn write(&mut self, session: &mut Session) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        for (insert, chunk) in INSERT.chunks(&waiting) {
            let insert = chunk.iter().fold(insert, |insert, edge| {
                insert
                    .bind(edge.derivation)
                    .bind(&edge.origin)
                    .bind(edge.input)
                    .bind(edge.scope)
                    .bind(&edge.evidence)
                    .bind(edge.offered)
                    .bind(edge.known)
            });
            session.run(insert).await?;
        }
        Ok(())
    }
}
