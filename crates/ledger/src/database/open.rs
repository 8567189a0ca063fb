//! Opening the databases, and bringing their tables up to date.

use std::error::Error as Cause;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlitePool};

use super::{ANSWER_TIMEOUT, Database, Pools, STANDSTILL_TIMEOUT, migrations};
use crate::cluster::Claimed;
use crate::error::Error;
use crate::location::Location;
use crate::revision::Revisions;

/// The time that a writer waits for another process that writes to the same file.
const BUSY: Duration = Duration::from_secs(10);
/// The most connections that read a file at the same time, and that PostgreSQL is given.
const READERS: u32 = 4;
const CONNECTIONS: u32 = 10;
/// A connection that was used this long ago is believed to be still there.
const FRESH: Duration = Duration::from_secs(1);
/// Up to this size a file is read once when it is opened, to see whether it is sound.
const CHECKED_BYTES: u64 = 256 << 20;

impl Database {
    /// Opens the database, making it and its tables if need be.
    pub(crate) async fn open(location: &Location) -> Result<Self, Error> {
        let name = Arc::from(location.to_string());
        let pools = match location {
            Location::File(path) => open_file(&name, path).await?,
            Location::Postgres(url) => open_postgres(&name, url).await?,
        };
        Ok(Self {
            location: name,
            pools,
            claimed: Claimed::default(),
            revisions: Revisions::default(),
            statements: Arc::default(),
        })
    }
}

async fn open_file(location: &Arc<str>, path: &Path) -> Result<Pools, Error> {
    let alone = alone(path).await.and_then(|alone| {
        make_private(path)?;
        Ok(alone)
    });
    let alone = alone.map_err(|source| Error::Open {
        location: Arc::clone(location),
        hint: "its directory must exist and be writable",
        source: Arc::new(source),
    })?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // Every COMMIT syncs the log to the disk before it returns.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .pragma("journal_size_limit", "67108864")
        // Secrets that are erased are gone, also from pages that are not in use.
        .pragma("secure_delete", "on")
        .disable_statement_logging();
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(BUSY * 3)
        .connect_with(options.clone())
        .await
        .map_err(|source| Error::of(location, source))?;
    check(location, &writer, path).await?;
    migrated(location, migrations::sqlite().run(&writer).await)?;
    drop(alone);
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(BUSY)
        .connect_lazy_with(options.pragma("query_only", "on"));
    Ok(Pools::Sqlite { writer, readers })
}

/// Waits until no other process makes or changes the tables; they wait until the lock is dropped.
///
/// The lock has a file of its own, for closing the ledger's would take SQLite's locks away.
async fn alone(path: &Path) -> std::io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    let lock = private().truncate(false).open(name)?;
    let waiting = async || loop {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    };
    tokio::time::timeout(BUSY, waiting()).await??;
    Ok(lock)
}

/// Lets nobody but this user read the ledger.
fn make_private(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        return std::fs::set_permissions(path, Permissions::from_mode(0o600));
    }
    private().create_new(true).open(path).map(drop)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

async fn check(location: &Arc<str>, pool: &SqlitePool, path: &Path) -> Result<(), Error> {
    if path.metadata().is_ok_and(|file| file.len() > CHECKED_BYTES) {
        return Ok(());
    }
    let found: String = sqlx::query_scalar("pragma quick_check(1)")
        .fetch_one(pool)
        .await
        .map_err(|source| Error::of(location, source))?;
    if found == "ok" {
        return Ok(());
    }
    Err(Error::Damaged {
        location: Arc::clone(location),
        what: found,
    })
}

async fn open_postgres(location: &Arc<str>, url: &str) -> Result<Pools, Error> {
    let cannot = |hint, source: Arc<dyn Cause + Send + Sync>| Error::Open {
        location: Arc::clone(location),
        hint,
        source,
    };
    let [answer, standstill] =
        [ANSWER_TIMEOUT, STANDSTILL_TIMEOUT].map(|it| it.as_millis().to_string());
    let options = Location::connect_options(url)
        .map_err(|source| cannot("look at its URL", Arc::new(source)))?
        .application_name("pathline")
        .options([
            ("statement_timeout", &answer),
            ("idle_in_transaction_session_timeout", &standstill),
        ])
        .disable_statement_logging();
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ANSWER_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > FRESH {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_with(options)
        .await
        .map_err(|source| {
            cannot(
                "is PostgreSQL running there, does the database exist, may this user use it?",
                Arc::new(source),
            )
        })?;
    // It holds an advisory lock meanwhile, so that replicas may start together.
    migrated(location, migrations::postgres().run(&pool).await)?;
    Ok(Pools::Postgres(pool))
}

fn migrated(location: &Arc<str>, outcome: Result<(), MigrateError>) -> Result<(), Error> {
    outcome.map_err(|error| match error {
        MigrateError::VersionMissing(found) => Error::Newer {
            location: Arc::clone(location),
            found,
        },
        MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => {
            Error::of(location, source)
        }
        other => Error::Open {
            location: Arc::clone(location),
            hint: "its tables are not those of Pathline; was it edited by hand?",
            source: Arc::new(other),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::sql;

    /// A search of a small file would not notice: hardly anything is left over in one.
    #[tokio::test]
    async fn file_is_written_so_that_erased_content_is_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::File(directory.path().join("ledger.db"));
        let database = Database::open(&location).await.unwrap();
        let mut session = database.writer().await.unwrap();
        let asked = sql("pragma secure_delete");
        assert_eq!(session.only::<(i64,)>(asked).await.unwrap(), (1,));
    }
}
