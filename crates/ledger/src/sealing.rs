//! Sealing: which columns hold secrets, and the key that they are sealed with.
//!
//! The ledger knows the id of that key. It is compared within each transaction that seals something, so that
//! everything in the ledger is always sealed with one key, whoever rotates it meanwhile.

mod reseal;

use std::fmt;
use std::sync::Arc;

pub(crate) use self::reseal::reseal;

use crate::database::{Session, sql};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::sealed::{Row, SealKey, SecretText};
use crate::writer::{Transaction, Write};

/// The column with the tokens of trackers; a row is known by its uid and the version of the token.
pub(crate) const TOKEN: SealedColumn = SealedColumn {
    table: "tracker",
    column: "token",
};

/// The column with the secrets of configurations; a row is known by the uid of its tracker and its hash.
pub(crate) const SECRETS: SealedColumn = SealedColumn {
    table: "configuration",
    column: "secrets",
};

/// Stands where a secret was whose key is lost. What is sealed is longer, and never a word.
pub(crate) const FORGOTTEN: &str = "forgotten";

/// A column that holds secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SealedColumn {
    table: &'static str,
    column: &'static str,
}

/// A row of a column that holds secrets.
pub(crate) struct SealedCell {
    column: SealedColumn,
    key: String,
}

/// The key of a handle to the ledger, if it has one.
#[derive(Clone)]
pub(crate) struct Sealing {
    location: Arc<str>,
    /// Shared, since whoever asks for something holds a handle.
    key: Option<Arc<SealKey>>,
}

impl SealedColumn {
    /// Returns the row with a key of two parts, the first of which has no slash.
    pub(crate) fn of(self, first: &str, second: impl fmt::Display) -> SealedCell {
        SealedCell {
            column: self,
            key: format!("{first}/{second}"),
        }
    }
}

impl SealedCell {
    fn row(&self) -> Row<'_> {
        Row {
            table: self.column.table,
            column: self.column.column,
            key: &self.key,
        }
    }

    fn seal(&self, key: &SealKey, secret: &SecretText) -> Result<String, Error> {
        let sealed = key.seal(secret, self.row());
        sealed.map_err(|_| Error::NoRandomness)
    }
}

impl Sealing {
    pub(crate) fn new(location: &Arc<str>) -> Self {
        Self {
            location: Arc::clone(location),
            key: None,
        }
    }

    pub(crate) fn with(&self, key: SealKey) -> Self {
        Self {
            location: Arc::clone(&self.location),
            key: Some(Arc::new(key)),
        }
    }

    /// Returns the key, which has to be there.
    pub(crate) fn key(&self) -> Result<&SealKey, Error> {
        let location = || Arc::clone(&self.location);
        let key = self.key.as_deref();
        key.ok_or_else(|| Error::NoSealKey {
            location: location(),
        })
    }

    /// Opens what a row holds.
    pub(crate) fn open(&self, sealed: &str, cell: &SealedCell) -> Result<SecretText, Error> {
        let opened = self.key()?.open(sealed, cell.row());
        opened.map_err(|_| self.wrong())
    }

    /// Seals a secret for a row, within the transaction that stores it.
    pub(crate) async fn seal(
        &self,
        transaction: &mut Transaction<'_>,
        secret: &SecretText,
        cell: &SealedCell,
    ) -> Result<String, Error> {
        let key = self.key()?;
        if key_id(transaction.session()).await?.as_deref() != Some(key.id()) {
            return Err(self.wrong());
        }
        cell.seal(key, secret)
    }

    fn wrong(&self) -> Error {
        wrong(&self.location)
    }
}

/// Notes the id of a key, unless secrets are sealed with another one.
pub(crate) async fn adopt(ledger: &Ledger, key: &SealKey) -> Result<(), Error> {
    let known = key_id(&mut ledger.database().reader().await?).await?;
    if known.as_deref() == Some(key.id()) {
        return Ok(());
    }
    let id = key.id().to_owned();
    ledger.write(AdoptKey { id }).await
}

/// Notes the id of the key that secrets will be sealed with.
struct AdoptKey {
    id: String,
}

impl Write for AdoptKey {
    type Group = ();
    type Answer = ();

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let session = transaction.session();
        let is_other = key_id(session).await?.is_some_and(|it| it != self.id);
        if is_other && has_secrets(session).await? {
            return Err(wrong(transaction.location()));
        }
        set_key_id(session, &self.id).await
    }
}

async fn key_id(session: &mut Session) -> Result<Option<String>, Error> {
    let row = session
        .first::<(String,)>(sql("select key_id from seal"))
        .await?;
    Ok(row.map(|(id,)| id))
}

async fn set_key_id(session: &mut Session, id: &str) -> Result<(), Error> {
    let set = sql("insert into seal (only_one, key_id) values (1, $1) \
         on conflict (only_one) do update set key_id = excluded.key_id");
    session.run(set.bind(id)).await.map(drop)
}

async fn has_secrets(session: &mut Session) -> Result<bool, Error> {
    let asked = sql("select count(*) from \
         (select 1 from tracker where token <> 'forgotten' \
          union all select 1 from configuration where secrets <> 'forgotten' limit 1) secret");
    Ok(session.only::<(i64,)>(asked).await?.0 > 0)
}

fn wrong(location: &Arc<str>) -> Error {
    Error::WrongSealKey {
        location: Arc::clone(location),
    }
}
