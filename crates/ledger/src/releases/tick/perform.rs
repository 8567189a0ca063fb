//! The write that handles ticks.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_release::queue::{Flow, Holds, Transition};

use super::Ticked;
use super::batch::{Batch, Ticking, find};
use crate::database::sql;
use crate::error::Error;
use crate::releases::holds;
use crate::releases::queues::{OpenQueues, store};
use crate::writer::{Transaction, Write};

/// Lets environments take what is queued there.
pub(super) struct TickEnvironments {
    pub(super) flow: Flow,
    pub(super) environments: Vec<(String, Timestamp)>,
    pub(super) at: Timestamp,
}

impl Write for TickEnvironments {
    type Group = ();
    type Answer = Ticked;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<Ticked, Error> {
        let location = transaction.location().clone();
        let halts = holds::of_environments(transaction.session(), &location).await?;
        let ticking = self.ticking(transaction, &halts).await?;
        if ticking.is_empty() {
            return Ok(Ticked {
                moved: 0,
                is_done: true,
            });
        }
        let mut after = String::new();
        loop {
            let batch = find(transaction.session(), &ticking, &after).await?;
            let moved = self.take(transaction, &halts, &batch).await?;
            if batch.is_last {
                self.mark_handled(transaction, &ticking).await?;
            } else if moved == 0
                && let Some((last, _)) = batch.trackers.last_key_value()
            {
                // What does not move stays in front of the others, and must not keep them from their turn.
                after.clone_from(last);
                continue;
            }
            return Ok(Ticked {
                moved,
                is_done: batch.is_last,
            });
        }
    }
}

impl TickEnvironments {
    /// Returns the environments whose ticks are still to be handled.
    async fn ticking(
        &self,
        transaction: &mut Transaction<'_>,
        halts: &Holds,
    ) -> Result<Vec<Ticking>, Error> {
        let asked = sql("select name, handled from environment where handled is not null");
        let handled: Vec<(String, i64)> = transaction.session().all(asked).await?;
        let handled: BTreeMap<String, i64> = handled.into_iter().collect();
        let is_open = |(name, tick): &&(String, Timestamp)| {
            let handled = handled.get(name);
            handled.is_none_or(|handled| *handled < tick.as_microsecond())
        };
        let open = self.environments.iter().filter(is_open);
        Ok(open
            .filter_map(|it| Ticking::new(&self.flow, halts, it, self.at))
            .collect())
    }

    /// Lets the trackers of a batch move, and returns how many of them have.
    async fn take(
        &self,
        transaction: &mut Transaction<'_>,
        halts: &Holds,
        batch: &Batch,
    ) -> Result<usize, Error> {
        if batch.trackers.is_empty() {
            return Ok(0);
        }
        let uids: Vec<String> = batch.trackers.keys().cloned().collect();
        let mut asked: Vec<(OpenQueues, Vec<Transition>)> = Vec::new();
        for mut open in OpenQueues::all(transaction, &uids).await? {
            let environments = batch.trackers.get(&open.uid).into_iter().flatten();
            let environments: Vec<&str> = environments.map(String::as_str).collect();
            let setting = (&self.flow, halts);
            let transitions = open.queues.tick(setting, &environments, self.at);
            asked.push((open, transitions));
        }
        let all: Vec<_> = asked.iter().map(|(open, it)| (open, &it[..])).collect();
        store(transaction, &all, None, self.at).await?;
        Ok(asked.iter().filter(|(_, it)| !it.is_empty()).count())
    }

    async fn mark_handled(
        &self,
        transaction: &mut Transaction<'_>,
        ticking: &[Ticking],
    ) -> Result<(), Error> {
        for Ticking { name, tick, .. } in ticking {
            let mark = sql("insert into environment (name, handled) values ($1, $2) \
                 on conflict (name) do update set handled = excluded.handled");
            let mark = mark.bind(name).bind(*tick);
            transaction.session().run(mark).await?;
        }
        Ok(())
    }
}
