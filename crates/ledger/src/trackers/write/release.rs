//! The write of a release, and of its first entries.

use jiff::Timestamp;
use pathline_release::Release;
use pathline_release::queue::Flow;

use super::super::stored::StoredTracker;
use super::json;
use crate::database::sql;
use crate::error::Error;
use crate::releases::{Formed, StoredRelease, What, find, queues};
use crate::rows::unreadable;
use crate::topic::Topic;
use crate::writer::Transaction;

/// Stores a release of a tracker, and queues it in the first environment. Its image is described later.
pub(super) async fn store(
    transaction: &mut Transaction<'_>,
    tracker: &StoredTracker,
    release: &Release,
    (flow, at): (&Flow, Timestamp),
) -> Result<StoredRelease, Error> {
    let location = transaction.location().clone();
    let id = release.id(&tracker.uid);
    let session = transaction.session();
    let of_tracker = (&tracker.name, tracker.uid.as_str());
    let mut queues = queues::restore(session, &location, of_tracker).await?;
    let number = |number| queues::number(&location, number);
    let insert = sql(
        "insert into release (id, tracker_uid, number, config_hash, config_commit, \
         image_repository, image_tag, image_digest, is_described, cause, previous, time, body) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, false, $9, $10, $11, $12)",
    )
    .bind(&id)
    .bind(&tracker.uid)
    .bind(number(release.number)?)
    .bind(&release.configuration.config_hash)
    .bind(&release.configuration.commit)
    .bind(&release.image.repository)
    .bind(&release.image.tag)
    .bind(&release.image.digest)
    .bind(release.cause.as_str())
    .bind(release.previous.map(number).transpose()?)
    .bind(release.at)
    .bind(&json(release));
    session.run(insert).await?;
    let transitions = queues.enter(flow, release, at);
    let entered = (&queues, &transitions[..]);
    queues::store(session, &location, &tracker.uid, entered).await?;
    let what = What {
        formed: Formed {
            tracker: tracker.name.clone(),
            tracker_uid: tracker.uid.clone(),
            number: release.number,
            cause: release.cause,
            repository: release.image.repository.clone(),
            tag: release.image.tag.clone(),
            digest: release.image.digest.clone(),
        },
    };
    let subject = (Topic::Releases, id.as_str());
    transaction.record_change(subject, at, &what).await?;
    let stored = find(transaction.session(), &location, &id).await?;
    stored.ok_or_else(|| unreadable(&location, "release"))
}
