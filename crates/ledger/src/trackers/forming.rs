//! Forming releases: the write of one, and of its first entries.

use jiff::Timestamp;
use pathline_release::Release;
use pathline_release::queue::Flow;
use pathline_release::tracker::Tracker;

use super::change::WhatHappened;
use super::stored::StoredTracker;
pub(crate) use super::write::find_by_uid;
use super::write::{integer, json, record};
use crate::database::sql;
use crate::error::Error;
use crate::releases::queues::{self, Named, OpenQueues, TrackerRef};
use crate::releases::{By, Formed, StoredRelease, What, find};
use crate::rows::unreadable;
use crate::topic::Topic;
use crate::writer::Transaction;

/// Stores a release of a tracker, and queues it in the first environment. Its image is described later.
pub(super) async fn store(
    transaction: &mut Transaction<'_>,
    tracker: &StoredTracker,
    release: &Release,
    by: Option<&By>,
    (flow, at): (&Flow, Timestamp),
) -> Result<StoredRelease, Error> {
    let location = transaction.location().clone();
    let of = TrackerRef::Uid(tracker.uid.clone());
    // Before the release is there: queues do not enter what they know.
    let opened = OpenQueues::one(transaction, &of, Named::default()).await?;
    let mut open = opened.ok_or_else(|| unreadable(&location, "tracker"))?;
    let id = insert(transaction, tracker, release, (by, at)).await?;
    open.formed(release.number, &id);
    let transitions = open.queues.enter(flow, release, at);
    open.store(transaction, &transitions, by, at).await?;
    let stored = find(transaction.session(), &location, &id).await?;
    stored.ok_or_else(|| unreadable(&location, "release"))
}

/// Stores a release, which is in no environment yet, and returns its id; `by` is the one who has asked for it.
pub(crate) async fn insert(
    transaction: &mut Transaction<'_>,
    tracker: &StoredTracker,
    release: &Release,
    (by, at): (Option<&By>, Timestamp),
) -> Result<String, Error> {
    let location = transaction.location().clone();
    let id = release.id(&tracker.uid);
    let number = |number| queues::number(&location, number);
    let who = by.map(|it| it.who.clone());
    let reason = by.and_then(|it| it.reason.clone());
    let insert = sql(
        "insert into release (id, tracker_uid, number, config_hash, config_commit, \
         image_repository, image_tag, image_digest, is_described, cause, previous, time, body, \
         formed_by, reason) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, false, $9, $10, $11, $12, $13, $14)",
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
    .bind(&json(release))
    .bind(who.as_deref())
    .bind(reason.as_deref());
    transaction.session().run(insert).await?;
    let what = What::Formed(Formed {
        tracker: tracker.name.clone(),
        tracker_uid: tracker.uid.clone(),
        number: release.number,
        cause: release.cause,
        repository: release.image.repository.clone(),
        tag: release.image.tag.clone(),
        digest: release.image.digest.clone(),
        by: who,
        reason,
    });
    let subject = (Topic::Releases, id.as_str());
    transaction.record_change(subject, at, &what).await?;
    Ok(id)
}

/// Stores the state of a tracker that somebody has had a release of. Whoever observes an earlier state is late.
pub(crate) async fn store_state(
    transaction: &mut Transaction<'_>,
    tracker: &StoredTracker,
    state: &Tracker,
) -> Result<(), Error> {
    let basis = state.basis();
    let update = sql("update tracker set state = $2, generation = $3, version = $4 where uid = $1")
        .bind(&tracker.uid)
        .bind(&json(state))
        .bind(integer(basis.generation))
        .bind(integer(basis.version));
    transaction.session().run(update).await.map(drop)
}

/// Records that somebody has had a release of a tracker.
pub(crate) async fn record_released(
    transaction: &mut Transaction<'_>,
    tracker: &StoredTracker,
    release: u64,
    (by, at): (&By, Timestamp),
) -> Result<(), Error> {
    let by = by.who.clone();
    let what = WhatHappened::Released { by, release };
    record(transaction, (&tracker.uid, &tracker.name), at, what).await
}
