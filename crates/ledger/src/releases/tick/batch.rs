//! The trackers that a tick can move, found by indexes.
//!
//! This only narrows: whatever it finds is asked again by the rules. It must find everything that they would move.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_release::queue::{Flow, Holds};

use super::BATCH;
use crate::database::{Session, Statement, sql};
use crate::error::Error;

/// An environment that ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ticking {
    pub(super) name: String,
    /// The instant of the tick: what was queued later is not taken.
    pub(super) tick: Timestamp,
    /// Whether the environment takes nothing but rollbacks now.
    pub(super) is_stopped: bool,
}

/// Trackers that can move, each with the environments that can take something of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) trackers: BTreeMap<String, Vec<String>>,
    /// Whether there are no others after them.
    pub(super) is_last: bool,
}

impl Ticking {
    /// Returns an environment that ticks; nothing if it is not there.
    pub(super) fn new(
        flow: &Flow,
        halts: &Holds,
        (name, tick): &(String, Timestamp),
        at: Timestamp,
    ) -> Option<Self> {
        let environment = flow.get(name)?;
        let is_frozen = environment.freezes.iter().any(|it| it.contains(at));
        Some(Self {
            name: name.clone(),
            tick: *tick,
            is_stopped: is_frozen || halts.get(name).is_some(),
        })
    }

    /// Returns the questions for the uids of trackers after one.
    fn questions(&self, after: &str) -> impl Iterator<Item = Statement> {
        let queued = (!self.is_stopped).then(|| queued(self, after));
        queued.into_iter().chain([rollbacks(self, after)])
    }
}

/// Finds a batch of trackers after a uid.
pub(super) async fn find(
    session: &mut Session,
    ticking: &[Ticking],
    after: &str,
) -> Result<Batch, Error> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Of a question that has more answers it is known up to its last one who is meant.
    let mut known_until: Option<String> = None;
    for environment in ticking {
        for asked in environment.questions(after) {
            let uids: Vec<(String,)> = session.all(asked).await?;
            if let Some((last,)) = uids.last().filter(|_| uids.len() >= BATCH) {
                let until = known_until
                    .take()
                    .map_or(last.clone(), |it| it.min(last.clone()));
                known_until = Some(until);
            }
            for (uid,) in uids {
                let environments = found.entry(uid).or_default();
                if !environments.contains(&environment.name) {
                    environments.push(environment.name.clone());
                }
            }
        }
    }
    if let Some(until) = &known_until {
        found.retain(|uid, _| uid <= until);
    }
    let is_whole = known_until.is_none() && found.len() <= BATCH;
    Ok(Batch {
        trackers: found.into_iter().take(BATCH).collect(),
        is_last: is_whole,
    })
}

/// Returns the question for trackers of which something is queued, and nothing is being deployed.
pub(super) fn queued(environment: &Ticking, after: &str) -> Statement {
    sql("select entry.tracker_uid from entry \
         where entry.state = 'queued' and entry.environment = $1 and entry.since <= $2 \
           and entry.tracker_uid > $3 \
           and not exists (select 1 from entry busy where busy.tracker_uid = entry.tracker_uid \
             and busy.state = 'deploying' and busy.environment = $1) \
           and not exists (select 1 from hold where hold.tracker_uid = entry.tracker_uid \
             and hold.environment = $1) \
         order by entry.tracker_uid limit $4")
    .bind(&environment.name)
    .bind(environment.tick)
    .bind(after)
    .bind(BATCH as i64)
}

/// Returns the question for trackers of which a rollback is queued: nothing stops those.
pub(super) fn rollbacks(environment: &Ticking, after: &str) -> Statement {
    sql("select release.tracker_uid from release \
         where release.cause = 'rollback' and release.tracker_uid > $3 \
           and exists (select 1 from entry where entry.tracker_uid = release.tracker_uid \
             and entry.number = release.number and entry.environment = $1 \
             and entry.state = 'queued' and entry.since <= $2) \
           and not exists (select 1 from entry busy where busy.tracker_uid = release.tracker_uid \
             and busy.state = 'deploying' and busy.environment = $1) \
         order by release.tracker_uid limit $4")
    .bind(&environment.name)
    .bind(environment.tick)
    .bind(after)
    .bind(BATCH as i64)
}
