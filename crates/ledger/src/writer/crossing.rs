//! What git said: which commit a revision has that a delivery found.

use pathline_lineage::{Evidence, Origin};

use super::record::{Writing, tell};
use crate::change::What;
use crate::crossings::Crossing;
use crate::database::sql;
use crate::error::Error;

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

impl Writing<'_> {
    /// Records that a revision has a commit; of a delivery that nobody knows, nothing.
    ///
    /// It is true of the content, so it holds for every time that the delivery was at that revision.
    pub(super) async fn cross(&mut self, crossing: &Crossing) -> Result<(), Error> {
        let Some(owner) = self.owners.get(&crossing.delivery) else {
            return Ok(());
        };
        let written = &crossing.written;
        let url = written.url().unwrap_or_default();
        let origin = Origin::owner(format!("git:{url} {}", written.shown()));
        let mut added = 0;
        for insert in EDGES {
            let insert = sql(insert)
                .bind(self.numbers.of(crossing.found.id()))
                .bind(owner.row.id)
                .bind(&origin.to_string())
                .bind(self.numbers.of(written.id()))
                .bind(&Evidence::Git.to_string())
                .bind(crossing.time);
            added += self.session.run(insert).await?;
        }
        if added == 0 {
            return Ok(());
        }
        tell(self.session, owner, crossing.time, &What::default()).await
    }
}
