//! Followers of single owners: each has the lineage as it is now, whoever recorded it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use pathline_lineage::OwnerLineage;
use tokio::sync::watch;

use super::rows;
use crate::database::{Database, Session, from_row, sql};
use crate::error::Error;
use crate::topic::Topic;

/// The most owners that are looked at one by one after a round of changes.
const MAX_ONE_BY_ONE: i64 = 1000;

/// The owners that are followed, by uid.
#[derive(Default)]
pub(crate) struct Followers {
    lineages: Mutex<HashMap<String, Followed>>,
}

struct Followed {
    /// The sequence of the change that made the lineage what it is.
    changed: i64,
    lineage: watch::Sender<Option<Arc<OwnerLineage>>>,
}

from_row! {
    struct Row {
        lineage: String,
        changed: i64,
        gone: Option<i64>,
    }
}

impl Followers {
    /// Returns a receiver, which shows nothing before [`Followers::refresh`].
    pub(crate) fn subscribe(&self, uid: &str) -> watch::Receiver<Option<Arc<OwnerLineage>>> {
        let mut lineages = self.lineages.lock();
        let followed = lineages.entry(uid.to_owned()).or_insert_with(|| Followed {
            changed: -1,
            lineage: watch::Sender::new(None),
        });
        followed.lineage.subscribe()
    }

    /// Shows the lineage that the tables hold.
    pub(crate) async fn refresh(&self, database: &Database, uid: &str) -> Result<(), Error> {
        let asked = sql("select lineage, changed, gone from owner where uid = $1").bind(uid);
        let row: Option<Row> = database.reader().await?.first(asked).await?;
        let Some(row) = row else {
            return Ok(());
        };
        let lineage = match row.gone {
            Some(_) => None,
            None => Some(Arc::new(rows::lineage(database.location(), &row.lineage)?)),
        };
        let mut lineages = self.lineages.lock();
        let followed = lineages.get_mut(uid);
        // Two may refresh at the same time, and the one that read first may get here last.
        if let Some(followed) = followed.filter(|it| it.changed < row.changed) {
            followed.changed = row.changed;
            followed.lineage.send_replace(lineage);
        }
        Ok(())
    }

    /// Returns the followed owners that may have changed after a sequence.
    pub(crate) async fn changed(
        &self,
        session: &mut Session,
        after: i64,
    ) -> Result<Vec<String>, Error> {
        let followed = self.followed();
        if followed.len() <= 1 {
            return Ok(followed);
        }
        let asked = sql("select distinct subject from change \
             where topic = $1 and sequence > $2 limit $3")
        .bind(Topic::Lineage.as_str())
        .bind(after)
        .bind(MAX_ONE_BY_ONE);
        let changed: Vec<(String,)> = session.all(asked).await?;
        if i64::try_from(changed.len()) == Ok(MAX_ONE_BY_ONE) {
            return Ok(followed);
        }
        let changed = changed.into_iter().map(|(uid,)| uid);
        Ok(changed.filter(|uid| followed.contains(uid)).collect())
    }

    /// Forgets what nobody follows any more; returns what is left.
    fn followed(&self) -> Vec<String> {
        let mut lineages = self.lineages.lock();
        lineages.retain(|_, followed| followed.lineage.receiver_count() > 0);
        lineages.keys().cloned().collect()
    }
}
