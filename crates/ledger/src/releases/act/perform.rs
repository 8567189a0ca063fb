//! The write that acts on queues.

use jiff::Timestamp;
use pathline_release::queue::{Flow, Hold, Holds, NotPromoted, NotRolledBack, Transition};

use super::{ActOutcome, By, QueueAction};
use crate::error::Error;
use crate::releases::change::What;
use crate::releases::queues::{Named, OpenQueues, TrackerRef};
use crate::releases::{find, holds};
use crate::rows::unreadable;
use crate::trackers::forming;
use crate::writer::{Transaction, Write};

/// Does something to the queues of a tracker.
pub(super) struct ActOnQueues {
    pub(super) tracker: TrackerRef,
    pub(super) flow: Flow,
    pub(super) action: QueueAction,
    pub(super) by: By,
    pub(super) at: Timestamp,
}

/// A change of queues that is done, and still to be stored.
#[derive(Default)]
struct Effect {
    transitions: Vec<Transition>,
    resumed: Option<Hold>,
}

/// The reasons for which nothing is done.
enum Refusal {
    NoEnvironment,
    NotPromoted(NotPromoted),
    NotHeld,
}

impl Write for ActOnQueues {
    type Group = ();
    type Answer = ActOutcome;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<ActOutcome, Error> {
        let opened = OpenQueues::one(transaction, &self.tracker, self.action.named()).await?;
        let Some(mut open) = opened else {
            return Ok(ActOutcome::Missing);
        };
        if let QueueAction::Rollback {
            environment,
            release,
        } = &self.action
        {
            let target = (environment.as_str(), *release);
            return self.roll_back(transaction, open, target).await;
        }
        let halts = self.halts(transaction).await?;
        let effect = match self.perform(&mut open, &halts) {
            Ok(effect) => effect,
            Err(refusal) => return Ok(refusal.into()),
        };
        let by = Some(&self.by).filter(|_| self.action.is_by_hand());
        open.store(transaction, &effect.transitions, by, self.at)
            .await?;
        self.record_hold(transaction, &open).await?;
        Ok(ActOutcome::Done {
            transitions: effect.transitions,
            formed: None,
            resumed: effect.resumed,
        })
    }
}

impl ActOnQueues {
    /// Reads the holds of environments as a whole, if they decide on the action.
    async fn halts(&self, transaction: &mut Transaction<'_>) -> Result<Holds, Error> {
        match self.action {
            QueueAction::Promote { now: true, .. } | QueueAction::Rollback { .. } => {
                let location = transaction.location().clone();
                holds::of_environments(transaction.session(), &location).await
            }
            _ => Ok(Holds::default()),
        }
    }

    /// Does everything but a rollback.
    fn perform(&self, open: &mut OpenQueues, halts: &Holds) -> Result<Effect, Refusal> {
        let (queues, flow, at) = (&mut open.queues, &self.flow, self.at);
        let mut resumed = None;
        let transitions = match self.action.clone() {
            QueueAction::Advance => queues.advance(flow, at),
            QueueAction::Expire => queues.expire(flow, at),
            QueueAction::Report {
                environment,
                release,
                attempt,
                report,
            } => queues.report(flow, (&environment, release), attempt, report, at),
            QueueAction::Live {
                environment,
                release,
                is_live,
            } => queues.live(flow, (&environment, release), is_live, at),
            QueueAction::Promote {
                environment,
                release,
                now,
            } => {
                let wanted = (environment.as_str(), release);
                let promoted = match now {
                    true => queues.promote_now((flow, halts), wanted, at),
                    false => queues.promote(flow, wanted, at),
                };
                promoted.map_err(Refusal::NotPromoted)?
            }
            QueueAction::Hold { environment } => {
                flow.get(&environment).ok_or(Refusal::NoEnvironment)?;
                queues.hold(&environment, self.hold());
                Vec::new()
            }
            QueueAction::Resume { environment } => {
                let hold = queues.resume(&environment);
                resumed = Some(hold.ok_or(Refusal::NotHeld)?);
                Vec::new()
            }
            still => {
                self.perform_still(open, still);
                Vec::new()
            }
        };
        Ok(Effect {
            transitions,
            resumed,
        })
    }

    /// Does what changes no state.
    fn perform_still(&self, open: &mut OpenQueues, action: QueueAction) {
        let (queues, at) = (&mut open.queues, self.at);
        match action {
            QueueAction::Checkpoint => queues.checkpoint(at),
            QueueAction::Restarted => queues.restarted(at),
            QueueAction::ReportRestore {
                environment,
                failed,
                attempt,
                report,
            } => queues.report_restore((&environment, failed), attempt, report, at),
            QueueAction::Note {
                environment,
                release,
                attempt,
                message,
            } => queues.note((&environment, release), attempt, message),
            _ => {}
        }
    }

    fn hold(&self) -> Hold {
        Hold {
            reason: self.by.reason.clone().unwrap_or_default(),
            by: self.by.who.clone(),
            since: self.at,
        }
    }

    /// Records that the tracker is held, or is no more.
    async fn record_hold(
        &self,
        transaction: &mut Transaction<'_>,
        open: &OpenQueues,
    ) -> Result<(), Error> {
        let (what, environment): (fn(_) -> What, _) = match &self.action {
            QueueAction::Hold { environment } | QueueAction::Rollback { environment, .. } => {
                (What::Held, environment)
            }
            QueueAction::Resume { environment } => (What::Resumed, environment),
            _ => return Ok(()),
        };
        let held = (environment.as_str(), Some(&open.name));
        holds::record(transaction, what, held, &self.by, self.at).await
    }

    /// Forms a release with the content of an older one, and begins to deploy it.
    async fn roll_back(
        &self,
        transaction: &mut Transaction<'_>,
        mut open: OpenQueues,
        (environment, release): (&str, Option<u64>),
    ) -> Result<ActOutcome, Error> {
        let halts = self.halts(transaction).await?;
        let wanted = (environment, release);
        let target = open
            .queues
            .rollback_target((&self.flow, &halts), wanted, self.at);
        let target = match target {
            Ok(target) => target,
            Err(refusal) => return Ok(ActOutcome::NotRolledBack(refusal)),
        };
        let Some(tracker) = forming::find_by_uid(transaction, &open.uid).await? else {
            return Ok(ActOutcome::NotRolledBack(NotRolledBack::Deleted));
        };
        let location = transaction.location().clone();
        let missing = || unreadable(&location, "release");
        let id = open.id(target).ok_or_else(missing)?.to_owned();
        let to = find(transaction.session(), &location, &id).await?;
        let to = to.ok_or_else(missing)?.release;
        let mut state = tracker.state.clone();
        let formed = state.roll_back(environment, &to, self.at);
        forming::store_state(transaction, &tracker, &state).await?;
        let by = Some(&self.by);
        let id = forming::insert(transaction, &tracker, &formed, (by, self.at)).await?;
        open.formed(formed.number, &id);
        let (reason, who) = (self.by.reason.clone(), self.by.who.clone());
        let hold = Hold::of_rollback(target, reason, who, self.at);
        let transitions = open.queues.roll_back(&self.flow, &formed, hold, self.at);
        open.store(transaction, &transitions, by, self.at).await?;
        self.record_hold(transaction, &open).await?;
        forming::record_released(transaction, &tracker, formed.number, (&self.by, self.at)).await?;
        let stored = find(transaction.session(), &location, &id).await?;
        Ok(ActOutcome::Done {
            transitions,
            formed: Some(Box::new(stored.ok_or_else(missing)?)),
            resumed: None,
        })
    }
}

impl QueueAction {
    /// Returns what has to be restored beside what always has.
    fn named(&self) -> Named<'_> {
        match self {
            Self::Promote { release, .. } => Named {
                release: *release,
                rollback_of: None,
            },
            Self::Note { release, .. } => Named {
                release: Some(*release),
                rollback_of: None,
            },
            Self::Rollback {
                environment,
                release,
            } => Named {
                release: *release,
                rollback_of: Some(environment),
            },
            _ => Named::default(),
        }
    }
}

impl From<Refusal> for ActOutcome {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoEnvironment => Self::NoEnvironment,
            Refusal::NotPromoted(refusal) => Self::NotPromoted(refusal),
            Refusal::NotHeld => Self::NotHeld,
        }
    }
}
