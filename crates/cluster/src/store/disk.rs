//! The SQLite file: a log with one row a revision.
//!
//! The rows after the floor are the history. Of the older ones, those that no later row replaces
//! are kept, so that reading the whole log in order gives the current state of every object.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteRow, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Row};

use super::object::{Collection, Event, EventKind, Key, Stored};
use super::state::State;

/// The version of the tables below, kept in SQLite's `user_version`.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE log (
        revision   INTEGER PRIMARY KEY,
        kind       INTEGER NOT NULL,
        api_group  TEXT NOT NULL,
        resource   TEXT NOT NULL,
        namespace  TEXT NOT NULL,
        name       TEXT NOT NULL,
        previous   INTEGER,
        body       BLOB NOT NULL
    ) STRICT;
    CREATE TABLE history (floor INTEGER NOT NULL) STRICT;
    INSERT INTO history VALUES (0);
    PRAGMA user_version = 1;
";

/// The reason for which the database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite refused.
    #[error("cannot use the database {}", .path.display())]
    Sqlite {
        /// The database file.
        path: PathBuf,
        /// The error of SQLite.
        #[source]
        source: sqlx::Error,
    },
    /// The file was written by a later version of this program.
    #[error(
        "the database {} has format {found}, this version knows formats up to {VERSION}; \
         use the version that wrote it, or another data directory",
        .path.display()
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// The format found in it.
        found: i64,
    },
    /// The log cannot be what this program wrote.
    #[error(
        "the database {} is damaged at revision {revision}: {what}; restore a copy of it",
        .path.display()
    )]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// The first revision that makes no sense.
        revision: u64,
        /// The fault that was found there.
        what: &'static str,
    },
}

/// The one connection to the database.
pub(super) struct Disk {
    path: PathBuf,
    connection: SqliteConnection,
    floor: u64,
}

impl Disk {
    /// Opens the file and makes its tables.
    pub(super) async fn open(path: &Path) -> Result<Self, Error> {
        let sqlite = |source| Error::Sqlite {
            path: path.to_owned(),
            source,
        };
        let mut connection = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // Every COMMIT syncs the log to the disk before it returns.
            .synchronous(SqliteSynchronous::Full)
            .pragma("journal_size_limit", "67108864")
            .busy_timeout(Duration::from_secs(5))
            .disable_statement_logging()
            .connect()
            .await
            .map_err(sqlite)?;
        let found: i64 = sqlx::query_scalar("PRAGMA user_version")
            .fetch_one(&mut connection)
            .await
            .map_err(sqlite)?;
        match found {
            0 => transact(&mut connection, async |connection| {
                sqlx::raw_sql(TABLES).execute(connection).await.map(drop)
            })
            .await
            .map_err(sqlite)?,
            VERSION => {}
            _ => {
                return Err(Error::Newer {
                    path: path.to_owned(),
                    found,
                });
            }
        }
        Ok(Self {
            path: path.to_owned(),
            connection,
            floor: 0,
        })
    }

    /// Replays the log into the state that it leads to.
    pub(super) async fn load(&mut self) -> Result<State, Error> {
        let sqlite = |source| Error::Sqlite {
            path: self.path.clone(),
            source,
        };
        let floor: i64 = sqlx::query_scalar("SELECT floor FROM history")
            .fetch_one(&mut self.connection)
            .await
            .map_err(sqlite)?;
        self.floor = floor.cast_unsigned();
        let mut state = State::at(self.floor);
        let mut rows =
            sqlx::query("SELECT * FROM log ORDER BY revision").fetch(&mut self.connection);
        while let Some(row) = rows.try_next().await.map_err(sqlite)? {
            let entry = Entry::read(&row).map_err(sqlite)?;
            let revision = entry.revision;
            entry
                .replay(&mut state, self.floor)
                .map_err(|what| Error::Damaged {
                    path: self.path.clone(),
                    revision,
                    what,
                })?;
        }
        drop(rows);
        Ok(state)
    }

    /// Adds events, and forgets the history up to `floor`, in one transaction. When this returns
    /// the disk has them; when it fails it has none of them.
    pub(super) async fn append(
        &mut self,
        events: &[Event],
        floor: Option<u64>,
    ) -> Result<(), sqlx::Error> {
        let old_floor = self.floor;
        transact(&mut self.connection, async |connection| {
            for event in events {
                insert(connection, event).await?;
            }
            match floor {
                Some(floor) => forget(connection, old_floor, floor).await,
                None => Ok(()),
            }
        })
        .await?;
        self.floor = floor.unwrap_or(old_floor);
        Ok(())
    }

    /// Writes so many bytes and takes them away again, to find out whether that works.
    pub(super) async fn probe(&mut self, bytes: usize) -> Result<(), sqlx::Error> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        transact(&mut self.connection, async |connection| {
            sqlx::raw_sql("CREATE TABLE IF NOT EXISTS probe (body BLOB NOT NULL) STRICT")
                .execute(&mut *connection)
                .await?;
            let insert = sqlx::query("INSERT INTO probe VALUES (zeroblob(?))").bind(bytes);
            insert.execute(connection).await.map(drop)
        })
        .await?;
        transact(&mut self.connection, async |connection| {
            let dropped = sqlx::raw_sql("DROP TABLE probe").execute(connection).await;
            dropped.map(drop)
        })
        .await
    }

    /// Forgets the history up to and including `floor`.
    pub(super) async fn forget(&mut self, floor: u64) -> Result<(), Error> {
        let forgotten = self.append(&[], Some(floor)).await;
        forgotten.map_err(|source| Error::Sqlite {
            path: self.path.clone(),
            source,
        })
    }

    /// Moves what is in the write-ahead log to the database file, and closes it.
    pub(super) async fn close(self) {
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the database was not closed cleanly; nothing is lost");
        }
    }
}

/// Runs `work` between BEGIN and COMMIT.
///
/// sqlx has transactions of its own, but they count nesting themselves and lose count when SQLite
/// rolls back by itself, as it does when the disk is full.
async fn transact(
    connection: &mut SqliteConnection,
    work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<(), sqlx::Error>,
) -> Result<(), sqlx::Error> {
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut *connection)
        .await?;
    let mut done = work(connection).await;
    if done.is_ok() {
        done = sqlx::query("COMMIT")
            .execute(&mut *connection)
            .await
            .map(drop);
    }
    if done.is_err() {
        // Fails only if SQLite has rolled back already.
        let _ = sqlx::query("ROLLBACK").execute(&mut *connection).await;
    }
    done
}

async fn insert(connection: &mut SqliteConnection, event: &Event) -> Result<(), sqlx::Error> {
    let Stored {
        key,
        revision,
        body,
        ..
    } = &*event.current;
    sqlx::query("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(revision.cast_signed())
        .bind(event.kind.code())
        .bind(&*key.collection.group)
        .bind(&*key.collection.resource)
        .bind(&*key.namespace)
        .bind(&*key.name)
        .bind(
            event
                .previous
                .as_ref()
                .map(|previous| previous.revision.cast_signed()),
        )
        .bind(&body[..])
        .execute(connection)
        .await
        .map(drop)
}

/// Drops the rows that only the history up to `floor` needed: the states its events replaced, and
/// its deletions.
async fn forget(
    connection: &mut SqliteConnection,
    old_floor: u64,
    floor: u64,
) -> Result<(), sqlx::Error> {
    let (old_floor, floor) = (old_floor.cast_signed(), floor.cast_signed());
    sqlx::query(
        "DELETE FROM log WHERE revision IN
           (SELECT previous FROM log WHERE revision > ? AND revision <= ?)",
    )
    .bind(old_floor)
    .bind(floor)
    .execute(&mut *connection)
    .await?;
    sqlx::query("DELETE FROM log WHERE revision > ? AND revision <= ? AND kind = ?")
        .bind(old_floor)
        .bind(floor)
        .bind(EventKind::Deleted.code())
        .execute(&mut *connection)
        .await?;
    sqlx::query("UPDATE history SET floor = ?")
        .bind(floor)
        .execute(connection)
        .await
        .map(drop)
}

/// One row of the log.
struct Entry {
    revision: u64,
    kind: i64,
    key: Key,
    previous: Option<u64>,
    body: Vec<u8>,
}

impl Entry {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let collection = Collection::new(row.try_get("api_group")?, row.try_get("resource")?);
        Ok(Self {
            revision: row.try_get::<i64, _>("revision")?.cast_unsigned(),
            kind: row.try_get("kind")?,
            key: Key::new(&collection, row.try_get("namespace")?, row.try_get("name")?),
            previous: row
                .try_get::<Option<i64>, _>("previous")?
                .map(i64::cast_unsigned),
            body: row.try_get("body")?,
        })
    }

    /// Takes the row in, checking that it follows from the ones before it.
    fn replay(self, state: &mut State, floor: u64) -> Result<(), &'static str> {
        let kind = EventKind::from_code(self.kind).ok_or("it is of an unknown kind")?;
        let stored = Stored::read(self.key, self.revision, Bytes::from(self.body));
        let stored = Arc::new(stored.map_err(|_| "its object is not JSON")?);
        if stored.revision <= floor {
            state.restore(stored);
            return Ok(());
        }
        if stored.revision != state.revision() + 1 {
            return Err("the revision before it is missing");
        }
        let previous = state.get(&stored.key).cloned();
        if previous.as_ref().map(|previous| previous.revision) != self.previous {
            return Err("the state it replaces is missing");
        }
        state.apply(Event {
            kind,
            current: stored,
            previous,
        });
        Ok(())
    }
}

impl EventKind {
    fn code(self) -> i64 {
        match self {
            Self::Added => 0,
            Self::Modified => 1,
            Self::Deleted => 2,
        }
    }

    fn from_code(code: i64) -> Option<Self> {
        [Self::Added, Self::Modified, Self::Deleted]
            .into_iter()
            .find(|kind| kind.code() == code)
    }
}
