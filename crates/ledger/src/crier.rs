//! Telling those who wait that something was recorded, by this process or another.
//!
//! The table of changes is what counts. A commit of this process, a notification of PostgreSQL, and
//! a clock for whatever gets lost only say that it is time to look there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use pathline_lineage::Track;
use sqlx::postgres::PgListener;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::database::{CHANNEL, Database, Session, sql};
use crate::error::Error;
use crate::rows;

/// How often one looks at a file that other processes may write to, and at a PostgreSQL whose
/// notifications may have got lost.
const LOOK_AT_FILE: Duration = Duration::from_secs(1);
const LOOK_AT_POSTGRES: Duration = Duration::from_secs(5);
/// How long to wait before looking again at a database that was away.
const AGAIN: Duration = Duration::from_secs(1);
/// The most owners that are looked at one by one after a round of changes.
const ONE_BY_ONE: usize = 1000;

/// Who follows what.
#[derive(Default)]
pub(crate) struct Followers {
    tracks: Mutex<HashMap<String, Followed>>,
    pub(crate) bell: watch::Sender<i64>,
    pub(crate) token_bell: watch::Sender<u64>,
}

struct Followed {
    /// The sequence of the change that made the track what it is.
    changed: i64,
    track: watch::Sender<Option<Arc<Track>>>,
}

/// Looks for changes and tells of them.
pub(crate) struct Crier {
    database: Database,
    followers: Arc<Followers>,
    told: i64,
    tokens: Tokens,
}

/// What tells one state of the tokens from another.
type Tokens = (i64, i64);

#[derive(sqlx::FromRow)]
struct Row {
    track: String,
    changed: i64,
    gone: Option<i64>,
}

impl Followers {
    /// Returns a receiver, which shows nothing before [`Followers::refresh`].
    pub(crate) fn subscribe(&self, uid: &str) -> watch::Receiver<Option<Arc<Track>>> {
        let mut tracks = self.tracks.lock();
        let followed = tracks.entry(uid.to_owned()).or_insert_with(|| Followed {
            changed: -1,
            track: watch::Sender::new(None),
        });
        followed.track.subscribe()
    }

    /// Shows the track that the tables hold.
    pub(crate) async fn refresh(&self, database: &Database, uid: &str) -> Result<(), Error> {
        let asked = sql("select track, changed, gone from owner where uid = $1").bind(uid);
        let row: Option<Row> = database.reader().await?.first(asked).await?;
        let Some(row) = row else {
            return Ok(());
        };
        let track = match row.gone {
            Some(_) => None,
            None => Some(Arc::new(rows::track(database.place(), &row.track)?)),
        };
        let mut tracks = self.tracks.lock();
        let followed = tracks.get_mut(uid);
        if let Some(followed) = followed.filter(|it| it.changed < row.changed) {
            followed.changed = row.changed;
            followed.track.send_replace(track);
        }
        Ok(())
    }

    /// Forgets what nobody follows any more; returns what is left.
    fn followed(&self) -> Vec<String> {
        let mut tracks = self.tracks.lock();
        tracks.retain(|_, followed| followed.track.receiver_count() > 0);
        tracks.keys().cloned().collect()
    }
}

impl Crier {
    /// Begins with what is there.
    pub(crate) async fn new(database: Database, followers: Arc<Followers>) -> Result<Self, Error> {
        let mut session = database.reader().await?;
        let told = newest(&mut session).await?;
        let tokens = tokens(&mut session).await?;
        drop(session);
        followers.bell.send_replace(told);
        Ok(Self {
            database,
            followers,
            told,
            tokens,
        })
    }

    /// Looks whenever there may be something new.
    pub(crate) async fn run(mut self, mut nudge: watch::Receiver<()>) {
        let mut ear = Ear::new(&self.database);
        loop {
            let heard = tokio::select! {
                changed = nudge.changed() => changed.is_ok(),
                heard = ear.hear() => heard,
            };
            if !heard {
                return;
            }
            while let Err(error) = self.look().await {
                if matches!(error, Error::Closed) {
                    return;
                }
                tracing::warn!(%error, "cannot look for changes in the ledger; trying again");
                sleep(AGAIN).await;
            }
        }
    }

    async fn look(&mut self) -> Result<(), Error> {
        let mut session = self.database.reader().await?;
        let newest = newest(&mut session).await?;
        let tokens = tokens(&mut session).await?;
        if newest > self.told {
            let changed = self.changed_among_followed(&mut session).await?;
            drop(session);
            for uid in changed {
                self.followers.refresh(&self.database, &uid).await?;
            }
            self.told = newest;
            self.followers.bell.send_replace(newest);
        }
        if tokens != self.tokens {
            self.tokens = tokens;
            self.followers.token_bell.send_modify(|rung| *rung += 1);
        }
        Ok(())
    }

    /// Returns the followed owners that may have changed.
    async fn changed_among_followed(&self, session: &mut Session) -> Result<Vec<String>, Error> {
        let followed = self.followers.followed();
        if followed.len() <= 1 {
            return Ok(followed);
        }
        let asked = sql(
            "select distinct owner.uid from change join owner on owner.id = change.owner \
             where change.sequence > $1 limit $2",
        )
        .bind(self.told)
        .bind(i64::try_from(ONE_BY_ONE).expect("it is small"));
        let changed: Vec<(String,)> = session.all(asked).await?;
        if changed.len() == ONE_BY_ONE {
            return Ok(followed);
        }
        let changed = changed.into_iter().map(|(uid,)| uid);
        Ok(changed.filter(|uid| followed.contains(uid)).collect())
    }
}

/// Hears of what other processes did.
enum Ear {
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

impl Ear {
    fn new(database: &Database) -> Self {
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
    async fn hear(&mut self) -> bool {
        match self {
            Self::File {
                database,
                version,
                session,
            } => hear_file(database, version, session).await,
            Self::Postgres { database, listener } => hear_postgres(database, listener).await,
        }
    }
}

/// SQLite counts, for each connection, the commits of all others.
async fn hear_file(
    database: &Database,
    version: &mut Option<i64>,
    session: &mut Option<Session>,
) -> bool {
    loop {
        sleep(LOOK_AT_FILE).await;
        let looking = match session {
            Some(session) => session,
            None => match database.reader().await {
                Ok(opened) => session.insert(opened),
                Err(Error::Closed) => return false,
                Err(_) => continue,
            },
        };
        match looking.only::<(i64,)>(sql("pragma data_version")).await {
            Ok((found,)) if Some(found) == *version => {}
            Ok((found,)) => {
                *version = Some(found);
                return true;
            }
            Err(_) => *session = None,
        }
    }
}

async fn hear_postgres(database: &Database, listener: &mut Option<PgListener>) -> bool {
    if listener.is_none() {
        match listen(database).await {
            Ok(listening) => *listener = Some(listening),
            Err(sqlx::Error::PoolClosed) => return false,
            Err(_) => {
                sleep(AGAIN).await;
                return true;
            }
        }
        // Something may have happened before anyone listened.
        return true;
    }
    let Some(listening) = listener else {
        return true;
    };
    match timeout(LOOK_AT_POSTGRES, listening.try_recv()).await {
        // A notification, or a connection that was lost and is there again.
        Ok(Ok(_)) | Err(_) => true,
        Ok(Err(sqlx::Error::PoolClosed)) => false,
        Ok(Err(_)) => {
            *listener = None;
            sleep(AGAIN).await;
            true
        }
    }
}

async fn listen(database: &Database) -> Result<PgListener, sqlx::Error> {
    let pool = database.listening().expect("it is PostgreSQL");
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

async fn newest(session: &mut Session) -> Result<i64, Error> {
    let asked = sql("select coalesce(max(sequence), 0) from change");
    Ok(session.only::<(i64,)>(asked).await?.0)
}

async fn tokens(session: &mut Session) -> Result<Tokens, Error> {
    session
        .only(sql("select count(*), count(revoked) from token"))
        .await
}
