//! A connection to either database.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Postgres, Sqlite};
use tokio::time::timeout;

use super::dialect::Dialect;
use super::statement::{Statement, Value, sql};
use super::{ANSWER_TIMEOUT, CHANNEL};
use crate::error::Error;

/// A value that can be read from a row of either database.
pub(crate) trait FromAnyRow:
    for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin
{
}

impl<T> FromAnyRow for T where
    T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin
{
}

/// A connection, which goes back to its pool when it is dropped.
pub(crate) struct Session {
    location: Arc<str>,
    connection: Connection,
    /// The number of statements of all sessions.
    statements: Arc<AtomicU64>,
}

pub(super) enum Connection {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
}

impl From<PoolConnection<Sqlite>> for Connection {
    fn from(connection: PoolConnection<Sqlite>) -> Self {
        Self::Sqlite(connection)
    }
}

impl From<PoolConnection<Postgres>> for Connection {
    fn from(connection: PoolConnection<Postgres>) -> Self {
        Self::Postgres(connection)
    }
}

/// Binds the values to a query of either database.
macro_rules! with_values {
    ($query:expr, $values:expr) => {{
        let mut query = $query;
        for value in $values {
            query = match value {
                Value::Integer(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
                Value::Boolean(truth) => query.bind(truth),
            };
        }
        query
    }};
}

impl Session {
    pub(super) fn new(
        location: Arc<str>,
        connection: Connection,
        statements: Arc<AtomicU64>,
    ) -> Self {
        Self {
            location,
            connection,
            statements,
        }
    }

    /// Returns which words the database understands.
    pub(crate) fn dialect(&self) -> Dialect {
        match self.connection {
            Connection::Sqlite(_) => Dialect::Sqlite,
            Connection::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Returns all rows of an answer.
    pub(crate) async fn all<T: FromAnyRow>(&mut self, asked: Statement) -> Result<Vec<T>, Error> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        let Statement { text, values } = asked;
        let answer = match &mut self.connection {
            Connection::Sqlite(connection) => {
                with_values!(sqlx::query_as(text), values)
                    .fetch_all(&mut **connection)
                    .await
            }
            Connection::Postgres(connection) => {
                let query = with_values!(sqlx::query_as(text), values);
                in_time(query.fetch_all(&mut **connection)).await
            }
        };
        self.checked(answer)
    }

    /// Returns the first row of an answer.
    pub(crate) async fn first<T: FromAnyRow>(
        &mut self,
        asked: Statement,
    ) -> Result<Option<T>, Error> {
        Ok(self.all(asked).await?.into_iter().next())
    }

    /// Returns the one row of an answer that always has one.
    pub(crate) async fn only<T: FromAnyRow>(&mut self, asked: Statement) -> Result<T, Error> {
        let answer = self.first(asked).await?;
        answer.ok_or_else(|| Error::of(&self.location, sqlx::Error::RowNotFound))
    }

    /// Does something and returns how many rows it touched.
    pub(crate) async fn run(&mut self, asked: Statement) -> Result<u64, Error> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        let Statement { text, values } = asked;
        let answer = match &mut self.connection {
            Connection::Sqlite(connection) => with_values!(sqlx::query(text), values)
                .execute(&mut **connection)
                .await
                .map(|done| done.rows_affected()),
            Connection::Postgres(connection) => {
                let query = with_values!(sqlx::query(text), values);
                let done = in_time(query.execute(&mut **connection)).await;
                done.map(|done| done.rows_affected())
            }
        };
        self.checked(answer)
    }

    /// Runs `work` in one transaction: all of it happens, or nothing does.
    ///
    /// Writers come one after the other on both databases, so that sequences become visible in
    /// their order. sqlx has transactions of its own, but they lose count when SQLite rolls back by
    /// itself, as it does when the disk is full.
    pub(crate) async fn transact<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.begin().await?;
        let mut done = work(self).await;
        if done.is_ok()
            && let Err(error) = self.run(sql("commit")).await
        {
            done = Err(error);
        }
        if done.is_err() && self.run(sql("rollback")).await.is_err() {
            self.discard();
        }
        done
    }

    /// Notifies the other processes, at the end of the transaction, that something has changed.
    pub(crate) async fn notify(&mut self) -> Result<(), Error> {
        if matches!(self.connection, Connection::Postgres(_)) {
            self.run(sql("select pg_notify($1, '')").bind(CHANNEL))
                .await?;
        }
        Ok(())
    }

    async fn begin(&mut self) -> Result<(), Error> {
        match self.connection {
            Connection::Sqlite(_) => self.run(sql("begin immediate")).await?,
            Connection::Postgres(_) => {
                self.run(sql("begin")).await?;
                let lock = sql("select pg_advisory_xact_lock(hashtext($1))").bind(CHANNEL);
                self.run(lock).await?
            }
        };
        Ok(())
    }

    fn checked<T>(&mut self, answer: Result<T, sqlx::Error>) -> Result<T, Error> {
        answer.map_err(|source| {
            let error = Error::of(&self.location, source);
            if matches!(error, Error::Unreachable { .. }) {
                self.discard();
            }
            error
        })
    }

    /// Keeps a connection in an unknown state from being used again.
    fn discard(&mut self) {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.close_on_drop(),
            Connection::Postgres(connection) => connection.close_on_drop(),
        }
    }
}

/// Waits for an answer, but not for ever.
async fn in_time<T>(
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = |_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    timeout(ANSWER_TIMEOUT, answer)
        .await
        .map_err(late)
        .flatten()
}
