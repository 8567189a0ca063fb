//! The writes of tokens.

use jiff::Timestamp;
use serde_json::json;

use super::{Permissions, Row, TOKEN, Token};
use crate::database::{sql, sql_of_parts};
use crate::error::Error;
use crate::topic::Topic;
use crate::writer::{Transaction, Write};

/// Makes a token; the answer is none if its name, or its hash, is taken.
pub(super) struct CreateToken {
    pub(super) name: String,
    pub(super) permissions: Permissions,
    /// In hexadecimal digits.
    pub(super) hash: String,
    pub(super) expires: Option<Timestamp>,
    pub(super) time: Timestamp,
}

/// Revokes a token; the answer is none if there is none of that name.
pub(super) struct RevokeToken {
    pub(super) name: String,
    pub(super) time: Timestamp,
}

/// Notes that a token was used. Nobody is notified of that.
pub(super) struct UseToken {
    pub(super) name: String,
    pub(super) time: Timestamp,
}

impl Write for CreateToken {
    type Group = ();
    type Answer = Option<Token>;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<Option<Token>, Error> {
        // A name that is taken is an answer, not a failure of the transaction that others share.
        let insert = sql_of_parts(&[
            "insert into token (name, permissions, hash, created, expires) \
             values ($1, $2, $3, $4, $5) on conflict do nothing returning ",
            TOKEN,
        ])
        .bind(&self.name)
        .bind(&self.permissions.to_stored())
        .bind(&self.hash)
        .bind(self.time)
        .bind(self.expires);
        let Some(row) = transaction.session().first::<Row>(insert).await? else {
            return Ok(None);
        };
        let subject = (Topic::Access, self.name.as_str());
        transaction
            .record_change(subject, self.time, &json!({"created": true}))
            .await?;
        row.read(transaction.location()).map(Some)
    }
}

impl Write for RevokeToken {
    type Group = ();
    type Answer = Option<Token>;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<Option<Token>, Error> {
        let revoke = sql("update token set revoked = $2 where name = $1 and revoked is null")
            .bind(&self.name)
            .bind(self.time);
        if transaction.session().run(revoke).await? > 0 {
            let subject = (Topic::Access, self.name.as_str());
            transaction
                .record_change(subject, self.time, &json!({"revoked": true}))
                .await?;
        }
        let asked = sql_of_parts(&["select ", TOKEN, " from token where name = $1"]);
        let row: Option<Row> = transaction.session().first(asked.bind(&self.name)).await?;
        row.map(|row| row.read(transaction.location())).transpose()
    }
}

impl Write for UseToken {
    type Group = ();
    type Answer = ();

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let update = sql("update token set last_used = $2 \
             where name = $1 and (last_used is null or last_used < $2)");
        let update = update.bind(&self.name).bind(self.time);
        transaction.session().run(update).await.map(drop)
    }
}
