//! Notifying subscribers that something was recorded, by this process or another.
//!
//! The table of changes is what counts. A commit of this process, a notification of PostgreSQL, and
//! a clock for whatever gets lost only say that it is time to look there.

mod listener;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use self::listener::ChangeListener;
use crate::database::{Database, Session, from_row, sql};
use crate::error::Error;
use crate::lineage::Followers;
use crate::topic::Topic;

/// The time to wait before looking again at a database that was away.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// Subscribers of topics, and followers of single owners.
#[derive(Default)]
pub(crate) struct Subscribers {
    /// The sequence of the newest change of each topic, in the order of [`Topic::ALL`].
    newest: [watch::Sender<i64>; Topic::ALL.len()],
    pub(crate) followers: Followers,
}

impl Subscribers {
    /// Returns the sender of a topic.
    pub(crate) fn of(&self, topic: Topic) -> &watch::Sender<i64> {
        &self.newest[topic as usize]
    }
}

/// Looks for changes and notifies those who have subscribed to their topics.
pub(crate) struct ChangeNotifier {
    database: Database,
    subscribers: Arc<Subscribers>,
    /// The newest change of any topic that subscribers were notified of.
    notified: i64,
}

from_row! {
    /// The newest change of a topic.
    struct Newest {
        topic: String,
        sequence: i64,
    }
}

impl ChangeNotifier {
    /// Begins with what is there.
    pub(crate) async fn new(
        database: Database,
        subscribers: Arc<Subscribers>,
    ) -> Result<Self, Error> {
        let mut notifier = Self {
            database,
            subscribers,
            notified: 0,
        };
        notifier.look().await?;
        Ok(notifier)
    }

    /// Looks whenever there may be something new.
    pub(crate) async fn run(mut self, mut committed: watch::Receiver<()>) {
        let mut listener = ChangeListener::new(&self.database);
        loop {
            let goes_on = tokio::select! {
                changed = committed.changed() => changed.is_ok(),
                goes_on = listener.listen() => goes_on,
            };
            if !goes_on {
                return;
            }
            while let Err(error) = self.look().await {
                if matches!(error, Error::Closed) {
                    return;
                }
                tracing::warn!(%error, "cannot look for changes in the ledger; trying again");
                sleep(RETRY_EVERY).await;
            }
        }
    }

    async fn look(&mut self) -> Result<(), Error> {
        let mut session = self.database.reader().await?;
        match self.database.check_claim(&mut session).await {
            // Nobody is notified of what happens to another cluster.
            Err(Error::OfAnother { .. }) => return Ok(()),
            checked => checked?,
        }
        let newest = newest(&mut session, self.notified).await?;
        let of = |topic: Topic| newest.iter().find(|it| it.topic == topic.as_str());
        if of(Topic::Lineage).is_some() {
            let followers = &self.subscribers.followers;
            let changed = followers.changed(&mut session, self.notified).await?;
            drop(session);
            // Followers first: whoever is woken by the topic finds them up to date.
            for uid in changed {
                followers.refresh(&self.database, &uid).await?;
            }
        }
        for topic in Topic::ALL {
            if let Some(newest) = of(topic) {
                self.subscribers.of(topic).send_replace(newest.sequence);
                self.notified = self.notified.max(newest.sequence);
            }
        }
        Ok(())
    }
}

async fn newest(session: &mut Session, after: i64) -> Result<Vec<Newest>, Error> {
    let asked = sql("select topic, max(sequence) as sequence from change \
         where sequence > $1 group by topic");
    session.all(asked.bind(after)).await
}
