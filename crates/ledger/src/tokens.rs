//! Tokens of the doors. Their secrets never come here, only hashes of them.

use std::sync::Arc;

use jiff::Timestamp;

use crate::database::sql;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::rows::{from_word, some_time, time};
use crate::scope::Scope;

/// A token that was given out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Token {
    /// What it is called; no two tokens ever have one name.
    pub name: String,
    /// What its bearer may do.
    pub scope: Scope,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends, if it does.
    pub expires: Option<Timestamp>,
    /// When it was last used, as far as that was noted.
    pub last_used: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

#[derive(sqlx::FromRow)]
struct Row {
    name: String,
    scope: String,
    created: i64,
    expires: Option<i64>,
    last_used: Option<i64>,
    revoked: Option<i64>,
}

/// The hash of a token's secret.
pub type TokenHash = [u8; 32];

/// Tokens
impl Ledger {
    /// Records a token by the hash of its secret.
    ///
    /// # Errors
    /// [`Error::NameTaken`] if there is or was a token of that name.
    pub async fn create_token(
        &self,
        name: &str,
        scope: Scope,
        hash: &TokenHash,
        expires: Option<Timestamp>,
        time: Timestamp,
    ) -> Result<Token, Error> {
        let insert = sql(
            "insert into token (name, scope, hash, created, expires) values ($1, $2, $3, $4, $5) \
             returning name, scope, created, expires, last_used, revoked",
        )
        .bind(name)
        .bind(&scope.to_string())
        .bind(&hexadecimal(hash))
        .bind(time)
        .bind(expires);
        let mut session = self.database().writer().await?;
        let created = session
            .transact(async |session| {
                let row: Row = session.only(insert).await?;
                session.announce().await?;
                row.read(self.database().place())
            })
            .await;
        self.nudge();
        created.map_err(|error| match error.is_duplicate() {
            true => Error::NameTaken(name.to_owned()),
            false => error,
        })
    }

    /// Returns all tokens, by name, also those that are revoked.
    pub async fn tokens(&self) -> Result<Vec<Token>, Error> {
        let asked = sql(
            "select name, scope, created, expires, last_used, revoked from token order by name",
        );
        let rows: Vec<Row> = self.database().reader().await?.all(asked).await?;
        let place = self.database().place();
        rows.into_iter().map(|row| row.read(place)).collect()
    }

    /// Returns the token whose secret has that hash, also if it is revoked or has expired.
    pub async fn token_by_hash(&self, hash: &TokenHash) -> Result<Option<Token>, Error> {
        let asked = sql(
            "select name, scope, created, expires, last_used, revoked from token where hash = $1",
        );
        let asked = asked.bind(&hexadecimal(hash));
        let row: Option<Row> = self.database().reader().await?.first(asked).await?;
        row.map(|row| row.read(self.database().place())).transpose()
    }

    /// Revokes a token; one that is revoked already stays as it is. Returns nothing if there is no
    /// token of that name.
    pub async fn revoke_token(&self, name: &str, time: Timestamp) -> Result<Option<Token>, Error> {
        let revoke = sql(
            "update token set revoked = coalesce(revoked, $2) where name = $1 \
             returning name, scope, created, expires, last_used, revoked",
        );
        let revoke = revoke.bind(name).bind(time);
        let mut session = self.database().writer().await?;
        let revoked = session
            .transact(async |session| {
                let row: Option<Row> = session.first(revoke).await?;
                session.announce().await?;
                row.map(|row| row.read(self.database().place())).transpose()
            })
            .await;
        self.nudge();
        revoked
    }

    /// Notes that a token was used. The latest time counts.
    pub async fn used_token(&self, name: &str, time: Timestamp) -> Result<(), Error> {
        let update = sql("update token set last_used = $2 \
             where name = $1 and (last_used is null or last_used < $2)");
        let mut session = self.database().writer().await?;
        session.run(update.bind(name).bind(time)).await.map(drop)
    }
}

impl Row {
    fn read(self, place: &Arc<str>) -> Result<Token, Error> {
        Ok(Token {
            scope: from_word(place, "scope", &self.scope)?,
            created: time(place, self.created)?,
            expires: some_time(place, self.expires)?,
            last_used: some_time(place, self.last_used)?,
            revoked: some_time(place, self.revoked)?,
            name: self.name,
        })
    }
}

fn hexadecimal(hash: &TokenHash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
