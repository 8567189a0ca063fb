//! Access: the tokens of the REST API. Their secrets never come here, only hashes of them.

mod permissions;
mod write;

use std::sync::Arc;

use jiff::Timestamp;

pub use self::permissions::{NotAScope, Permission, Permissions};

use self::write::{CreateToken, RevokeToken, UseToken};
use crate::database::{from_row, sql_of_parts};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::rows::{some_time, time};

/// A token that was given out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Token {
    /// Its name; no two tokens ever have the same.
    pub name: String,
    /// The permissions of its bearer.
    pub permissions: Permissions,
    /// The time at which it was made.
    pub created: Timestamp,
    /// The time at which it ends, if it does.
    pub expires: Option<Timestamp>,
    /// The last time that it was used, as far as that was noted.
    pub last_used: Option<Timestamp>,
    /// The time at which it was revoked.
    pub revoked: Option<Timestamp>,
}

/// The hash of a token's secret.
pub type TokenHash = [u8; 32];

/// The columns of [`Row`].
const TOKEN: &str = "name, permissions, created, expires, last_used, revoked";

from_row! {
    struct Row {
        name: String,
        permissions: String,
        created: i64,
        expires: Option<i64>,
        last_used: Option<i64>,
        revoked: Option<i64>,
    }
}

/// The tokens, as [`Ledger::access`] hands them out.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    ledger: &'a Ledger,
}

impl<'a> Access<'a> {
    pub(crate) fn new(ledger: &'a Ledger) -> Self {
        Self { ledger }
    }
}

impl Access<'_> {
    /// Records a token by the hash of its secret. When this returns it is durable.
    ///
    /// # Errors
    /// [`Error::NameTaken`] if there is or was a token of that name.
    pub async fn create_token(
        self,
        name: &str,
        permissions: Permissions,
        hash: &TokenHash,
        expires: Option<Timestamp>,
        time: Timestamp,
    ) -> Result<Token, Error> {
        let create = CreateToken {
            name: name.to_owned(),
            permissions,
            hash: hexadecimal(hash),
            expires,
            time,
        };
        let created = self.ledger.write(create).await?;
        created.ok_or_else(|| Error::NameTaken(name.to_owned()))
    }

    /// Returns all tokens, by name, also those that are revoked.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn tokens(self) -> Result<Vec<Token>, Error> {
        let asked = sql_of_parts(&["select ", TOKEN, " from token order by name"]);
        let rows: Vec<Row> = self.ledger.database().reader().await?.all(asked).await?;
        let location = self.ledger.database().location();
        rows.into_iter().map(|row| row.read(location)).collect()
    }

    /// Returns the token whose secret has that hash, also if it is revoked or has expired.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn token_by_hash(self, hash: &TokenHash) -> Result<Option<Token>, Error> {
        let asked = sql_of_parts(&["select ", TOKEN, " from token where hash = $1"]);
        let asked = asked.bind(&hexadecimal(hash));
        let row: Option<Row> = self.ledger.database().reader().await?.first(asked).await?;
        row.map(|row| row.read(self.ledger.database().location()))
            .transpose()
    }

    /// Revokes a token; one that is revoked already stays as it is. Returns nothing if there is no
    /// token of that name.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn revoke_token(self, name: &str, time: Timestamp) -> Result<Option<Token>, Error> {
        let name = name.to_owned();
        self.ledger.write(RevokeToken { name, time }).await
    }

    /// Notes that a token was used. The latest time counts.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn used_token(self, name: &str, time: Timestamp) -> Result<(), Error> {
        let name = name.to_owned();
        self.ledger.write(UseToken { name, time }).await
    }
}

impl Row {
    fn read(self, location: &Arc<str>) -> Result<Token, Error> {
        Ok(Token {
            permissions: Permissions::from_stored(&self.permissions),
            created: time(location, self.created)?,
            expires: some_time(location, self.expires)?,
            last_used: some_time(location, self.last_used)?,
            revoked: some_time(location, self.revoked)?,
            name: self.name,
        })
    }
}

fn hexadecimal(hash: &TokenHash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
