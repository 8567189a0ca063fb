//! Listening for what other processes have committed.

use std::time::Duration;

use sqlx::postgres::PgListener;
use tokio::time::{sleep, timeout};

use super::RETRY_EVERY;
use crate::database::{CHANNEL, Database, Session, sql};
use crate::error::Error;

/// The interval at which a file is polled that other processes may write to, and a PostgreSQL whose
/// notifications may have got lost.
const POLL_FILE_EVERY: Duration = Duration::from_secs(1);
const POLL_POSTGRES_EVERY: Duration = Duration::from_secs(5);

/// Listens for commits of other processes.
pub(super) enum ChangeListener {
    File {
        database: Database,
        version: Option<i64>,
        session: Option<Session>,
    },
    Postgres {
        database: Database,
        listener: Option<PgListener>,
    },
}

impl ChangeListener {
    pub(super) fn new(database: &Database) -> Self {
        let database = database.clone();
        match database.listening() {
            Some(_) => Self::Postgres {
                database,
                listener: None,
            },
            None => Self::File {
                database,
                version: None,
                session: None,
            },
        }
    }

    /// Waits until there may be something new; false when the ledger is closed.
    pub(super) async fn listen(&mut self) -> bool {
        match self {
            Self::File {
                database,
                version,
                session,
            } => poll_file(database, version, session).await,
            Self::Postgres { database, listener } => listen_to_postgres(database, listener).await,
        }
    }
}

/// SQLite counts, for each connection, the commits of all others.
async fn poll_file(
    database: &Database,
    version: &mut Option<i64>,
    session: &mut Option<Session>,
) -> bool {
    loop {
        sleep(POLL_FILE_EVERY).await;
        let polling = match session {
            Some(session) => session,
            None => match database.reader().await {
                Ok(opened) => session.insert(opened),
                Err(Error::Closed) => return false,
                Err(_) => continue,
            },
        };
        match polling.only::<(i64,)>(sql("pragma data_version")).await {
            Ok((found,)) if Some(found) == *version => {}
            Ok((found,)) => {
                *version = Some(found);
                return true;
            }
            Err(_) => *session = None,
        }
    }
}

async fn listen_to_postgres(database: &Database, listener: &mut Option<PgListener>) -> bool {
    let Some(listening) = listener else {
        match connect(database).await {
            Ok(connected) => *listener = Some(connected),
            Err(sqlx::Error::PoolClosed) => return false,
            Err(_) => sleep(RETRY_EVERY).await,
        }
        // Something may have happened before anyone listened.
        return true;
    };
    match timeout(POLL_POSTGRES_EVERY, listening.try_recv()).await {
        // A notification, or a connection that was lost and is there again.
        Ok(Ok(_)) | Err(_) => true,
        Ok(Err(sqlx::Error::PoolClosed)) => false,
        Ok(Err(_)) => {
            *listener = None;
            sleep(RETRY_EVERY).await;
            true
        }
    }
}

async fn connect(database: &Database) -> Result<PgListener, sqlx::Error> {
    let pool = database.listening().expect("it is PostgreSQL");
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
