//! Rotation of the key: everything is sealed anew, in one transaction.

use super::{SECRETS, SealedColumn, TOKEN, key_id, set_key_id, wrong};
use crate::database::{Statement, from_row, sql};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::sealed::SealKey;
use crate::writer::{Transaction, Write};

/// Seals everything with another key; returns how many secrets there are.
pub(crate) async fn reseal(ledger: &Ledger, old: &SealKey, new: &SealKey) -> Result<u64, Error> {
    let reseal = Reseal {
        old: old.clone(),
        new: new.clone(),
    };
    let count = ledger.write(reseal).await?;
    // What was sealed with the old key is of use to whoever has that one.
    ledger.database().empty_log().await;
    Ok(count)
}

struct Reseal {
    old: SealKey,
    new: SealKey,
}

from_row! {
    /// A secret, with the two parts of the key of its row.
    struct SealedRow {
        first: String,
        second: String,
        sealed: String,
    }
}

impl Write for Reseal {
    type Group = ();
    type Answer = u64;

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<u64, Error> {
        let known = key_id(transaction.session()).await?;
        // With the new key already: an earlier call has done it, and its answer got lost.
        let old = match known.as_deref() {
            Some(id) if id == self.new.id() => &self.new,
            Some(id) if id == self.old.id() => &self.old,
            None => &self.old,
            Some(_) => return Err(wrong(transaction.location())),
        };
        let tokens = sql(
            "select uid as first, cast(token_version as text) as second, token as sealed \
             from tracker where token <> 'forgotten'",
        );
        let set_token = sql("update tracker set token = $3 \
             where uid = $1 and cast(token_version as text) = $2");
        let mut count = self
            .column(transaction, old, TOKEN, tokens, &set_token)
            .await?;
        let secrets = sql(
            "select tracker_uid as first, config_hash as second, secrets as sealed \
             from configuration where secrets <> 'forgotten'",
        );
        let set_secrets = sql("update configuration set secrets = $3 \
             where tracker_uid = $1 and config_hash = $2");
        count += self
            .column(transaction, old, SECRETS, secrets, &set_secrets)
            .await?;
        set_key_id(transaction.session(), self.new.id()).await?;
        Ok(count)
    }
}

impl Reseal {
    async fn column(
        &self,
        transaction: &mut Transaction<'_>,
        old: &SealKey,
        column: SealedColumn,
        asked: Statement,
        set: &Statement,
    ) -> Result<u64, Error> {
        let rows: Vec<SealedRow> = transaction.session().all(asked).await?;
        let mut count = 0;
        for row in rows {
            let cell = column.of(&row.first, &row.second);
            let secret = old.open(&row.sealed, cell.row());
            let secret = secret.map_err(|_| wrong(transaction.location()))?;
            let sealed = cell.seal(&self.new, &secret)?;
            let set = set.clone().bind(&row.first).bind(&row.second);
            transaction.session().run(set.bind(&sealed)).await?;
            count += 1;
        }
        Ok(count)
    }
}
