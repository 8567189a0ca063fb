//! The two databases, and one way to talk to both.

mod dialect;
mod from_row;
mod migrations;
mod open;
mod session;
mod statement;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::{PgPool, SqlitePool};

pub(crate) use self::dialect::Dialect;
pub(crate) use self::from_row::from_row;
pub(crate) use self::session::Session;
pub(crate) use self::statement::{Rows, Statement, sql, sql_of_parts};

use crate::cluster::Claimed;
use crate::error::Error;
use crate::revision::Revisions;

/// The time that a connection may take to be had, and an answer to come, before the database counts
/// as away. PostgreSQL only: a file answers or fails by itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that a process may stand still within a transaction before PostgreSQL ends that: writers come one after the
/// other, so one that is frozen would hold up all. Others wait for their turn for [`ANSWER_TIMEOUT`], which is longer.
const STANDSTILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Moves the write-ahead log of SQLite to the file, unless others read for longer than a second.
const MOVE_LOG: &str = "pragma busy_timeout = 1000; pragma wal_checkpoint(truncate)";

/// Moves the log as [`MOVE_LOG`] does, and then waits for others as before.
const EMPTY_LOG: &str = "pragma busy_timeout = 1000; pragma wal_checkpoint(truncate); \
     pragma busy_timeout = 10000";

/// The channel that the listeners of PostgreSQL listen to.
pub(crate) const CHANNEL: &str = "pathline_ledger";

/// The connections to the database.
#[derive(Clone)]
pub(crate) struct Database {
    location: Arc<str>,
    pools: Pools,
    claimed: Claimed,
    revisions: Revisions,
    statements: Arc<AtomicU64>,
}

#[derive(Clone)]
enum Pools {
    /// SQLite has one writer at a time; readers never wait for it.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
    },
    Postgres(PgPool),
}

impl Database {
    /// Returns a connection for reading.
    pub(crate) async fn reader(&self) -> Result<Session, Error> {
        match &self.pools {
            Pools::Sqlite { readers, .. } => self.session(readers.acquire().await),
            Pools::Postgres(pool) => self.session(pool.acquire().await),
        }
    }

    /// Returns a connection for writing.
    pub(crate) async fn writer(&self) -> Result<Session, Error> {
        match &self.pools {
            Pools::Sqlite { writer, .. } => self.session(writer.acquire().await),
            Pools::Postgres(pool) => self.session(pool.acquire().await),
        }
    }

    /// Returns the pool to listen with, where the database can tell of changes by itself.
    pub(crate) fn listening(&self) -> Option<&PgPool> {
        match &self.pools {
            Pools::Sqlite { .. } => None,
            Pools::Postgres(pool) => Some(pool),
        }
    }

    /// Returns for which cluster the ledger is open.
    pub(crate) fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// Returns the revisions of the cluster that were seen.
    pub(crate) fn revisions(&self) -> &Revisions {
        &self.revisions
    }

    /// Returns where the database is, for messages.
    pub(crate) fn location(&self) -> &Arc<str> {
        &self.location
    }

    /// Empties the write-ahead log of SQLite, so that what was erased is in no file any more. While others read what was
    /// there before, it stays until it is emptied the next time.
    pub(crate) async fn empty_log(&self) {
        let Pools::Sqlite { writer, .. } = &self.pools else {
            return;
        };
        if let Err(error) = sqlx::raw_sql(EMPTY_LOG).execute(writer).await {
            tracing::warn!(%error, "cannot empty the log of the ledger; it is emptied later");
        }
    }

    /// Returns the number of statements that were sent.
    pub(crate) fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// Closes all connections once they are given back.
    pub(crate) async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                // The last connection moves the write-ahead log to the file, but somebody else may
                // have that one. If it cannot be moved now it stays, and nothing is lost.
                let _ = sqlx::raw_sql(MOVE_LOG).execute(writer).await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }

    fn session<C: Into<session::Connection>>(
        &self,
        acquired: Result<C, sqlx::Error>,
    ) -> Result<Session, Error> {
        let connection = acquired.map_err(|source| Error::of(&self.location, source))?;
        let statements = Arc::clone(&self.statements);
        let location = Arc::clone(&self.location);
        Ok(Session::new(location, connection.into(), statements))
    }
}
