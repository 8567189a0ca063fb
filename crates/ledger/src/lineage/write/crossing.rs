//! The write for what git said: which commit a revision has that a delivery found.

use std::sync::Arc;

use pathline_lineage::{Evidence, Origin};

use super::super::change::What;
use super::super::crossings::Crossing;
use super::LineageGroup;
use crate::database::sql;
use crate::error::Error;
use crate::writer::{Transaction, Write};

/// An edge to whatever has the revision as its output, or was given it.
const EDGES: [&str; 2] = [
    "insert into edge (derivation, origin, input, scope, evidence, offered, known) \
     select id, $3, $4, 0, $5, false, $6 from derivation where output = $1 and owner = $2 \
     on conflict do nothing",
    "insert into edge (derivation, origin, input, scope, evidence, offered, known) \
     select derivation.id, $3, $4, 0, $5, false, $6 \
     from edge given join derivation on derivation.id = given.derivation \
     where given.input = $1 and given.scope = 0 and derivation.owner = $2 \
     on conflict do nothing",
];

impl Write for Crossing {
    type Group = LineageGroup;
    type Answer = ();

    fn join(&self, group: &mut LineageGroup) {
        group.name_owner(&self.delivery);
        for artifact in [&self.found, &self.written] {
            group.name_artifact(&Arc::new(artifact.clone()), self.time);
        }
    }

    /// Of a delivery that is not known, nothing is recorded.
    ///
    /// That a revision has a commit is true of the content, so it holds for every time that the
    /// delivery was at that revision.
    async fn execute(
        &self,
        group: &mut LineageGroup,
        transaction: &mut Transaction<'_>,
    ) -> Result<(), Error> {
        let Some(owner) = group.owners.get(&self.delivery) else {
            return Ok(());
        };
        let url = self.written.url().unwrap_or_default();
        let origin = Origin::owner(format!("git:{url} {}", self.written.shown()));
        let mut added = 0;
        for insert in EDGES {
            let insert = sql(insert)
                .bind(group.numbers.of(self.found.id()))
                .bind(owner.row.id)
                .bind(&origin.to_string())
                .bind(group.numbers.of(self.written.id()))
                .bind(&Evidence::Git.to_string())
                .bind(self.time);
            added += transaction.session().run(insert).await?;
        }
        if added == 0 {
            return Ok(());
        }
        owner
            .record_change(transaction, self.time, &What::default())
            .await
    }
}
