//! Events, and what they do to both state machines.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pathline_release::Release;
use pathline_release::clauses::Clause;
use pathline_release::queue::{Flow, Hold, Holds, Queues, Report, Transition};
use pathline_release::tracker::{Cycle, Outcome, Tracker};

/// An input of the state machines, as a log would have it.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Cycle(Box<Cycle>),
    Request,
    Tick(Vec<&'static str>),
    /// An environment, a release, an attempt, and whether it is ready.
    Report(&'static str, u64, u32, bool),
    /// The same of a restoration.
    Restored(&'static str, u64, u32, bool),
    Live(&'static str, u64, bool),
    Promote(&'static str, Option<u64>),
    PromoteNow(&'static str, Option<u64>),
    Rollback(&'static str, Option<u64>),
    Hold(&'static str),
    Resume(&'static str),
    /// An environment as a whole is held, or no more.
    Halt(&'static str, bool),
    Arrange(Box<Flow>),
    Advance,
    Expire,
    Checkpoint,
    Restart,
    Delete,
}

/// Both state machines, and what is given to them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct State {
    pub(super) tracker: Tracker,
    pub(super) queues: Queues,
    pub(super) flow: Flow,
    pub(super) halts: Holds,
    pub(super) releases: BTreeMap<u64, Release>,
}

/// The consequences of an event.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    pub(super) outcome: Option<Outcome>,
    pub(super) formed: Option<Release>,
    pub(super) transitions: Vec<Transition>,
}

impl State {
    pub(super) fn new(flow: Flow, dropped: Option<Clause>) -> Self {
        let name = "a.b".parse().expect("a name");
        Self {
            tracker: Tracker::new(SignedDuration::ZERO).without(dropped),
            queues: Queues::new(name).without(dropped),
            flow,
            halts: Holds::default(),
            releases: BTreeMap::new(),
        }
    }

    pub(super) fn take(&mut self, event: &Event, at: Timestamp) -> Consequences {
        let mut consequences = Consequences::default();
        match event {
            Event::Cycle(cycle) => {
                let outcome = self.tracker.observe((**cycle).clone(), at);
                consequences.formed.clone_from(&outcome.release);
                consequences.outcome = Some(outcome);
            }
            Event::Request => consequences.formed = self.tracker.request(at).ok(),
            Event::Rollback(environment, release) => {
                let target = (*environment, *release);
                let target = self
                    .queues
                    .rollback_target((&self.flow, &self.halts), target, at)
                    .ok();
                let target = target.and_then(|it| self.releases.get(&it));
                let form = |target| self.tracker.roll_back(environment, target, at);
                consequences.formed = target.map(form);
            }
            Event::Halt(environment, true) => self.halts.hold(environment, mk_hold(at)),
            Event::Halt(environment, false) => drop(self.halts.resume(environment)),
            Event::Arrange(flow) => self.flow.clone_from(flow),
            Event::Delete => self.tracker.delete(),
            _ => {}
        }
        let formed = consequences.formed.as_ref();
        self.releases
            .extend(formed.map(|it| (it.number, it.clone())));
        let setting = (&self.flow, &self.halts);
        consequences.transitions = apply(&mut self.queues, setting, event, formed, at);
        consequences
    }

    /// Writes the state down and reads it again, as a restart does.
    pub(super) fn stored(&self, dropped: Option<Clause>) -> Self {
        let tracker = serde_json::to_string(&self.tracker).expect("it can be written");
        let queues = serde_json::to_string(&self.queues).expect("it can be written");
        let tracker: Tracker = serde_json::from_str(&tracker).expect("it can be read");
        let queues: Queues = serde_json::from_str(&queues).expect("it can be read");
        Self {
            tracker: tracker.without(dropped),
            queues: queues.without(dropped),
            ..self.clone()
        }
    }
}

/// Does to queues what an event does; a release is given if one was formed.
pub(super) fn apply(
    queues: &mut Queues,
    (flow, halts): (&Flow, &Holds),
    event: &Event,
    formed: Option<&Release>,
    at: Timestamp,
) -> Vec<Transition> {
    match event {
        Event::Cycle(_) | Event::Request => {
            formed.map_or_else(Vec::new, |it| queues.enter(flow, it, at))
        }
        Event::Rollback(..) => {
            formed.map_or_else(Vec::new, |it| queues.roll_back(flow, it, mk_hold(at), at))
        }
        Event::Tick(environments) => queues.tick((flow, halts), environments, at),
        Event::Report(environment, release, attempt, is_ready) => {
            let of_release = (*environment, *release);
            queues.report(flow, of_release, *attempt, mk_report(*is_ready), at)
        }
        Event::Restored(environment, release, attempt, is_ready) => {
            let of_release = (*environment, *release);
            queues.report_restore(of_release, *attempt, mk_report(*is_ready), at);
            Vec::new()
        }
        Event::Live(environment, release, is_live) => {
            queues.live(flow, (environment, *release), *is_live, at)
        }
        Event::Promote(environment, release) => {
            let promoted = queues.promote(flow, (environment, *release), at);
            promoted.unwrap_or_default()
        }
        Event::PromoteNow(environment, release) => {
            let promoted = queues.promote_now((flow, halts), (environment, *release), at);
            promoted.unwrap_or_default()
        }
        Event::Arrange(_) | Event::Advance => queues.advance(flow, at),
        Event::Expire => queues.expire(flow, at),
        Event::Delete => queues.delete(at),
        Event::Hold(environment) => {
            queues.hold(environment, mk_hold(at));
            Vec::new()
        }
        Event::Resume(environment) => {
            queues.resume(environment);
            Vec::new()
        }
        Event::Checkpoint => {
            queues.checkpoint(at);
            Vec::new()
        }
        Event::Restart => {
            queues.restarted(at);
            Vec::new()
        }
        Event::Halt(..) => Vec::new(),
    }
}

fn mk_hold(since: Timestamp) -> Hold {
    Hold {
        reason: "why".to_owned(),
        by: "ann".to_owned(),
        since,
    }
}

fn mk_report(is_ready: bool) -> Report {
    match is_ready {
        true => Report::Ready,
        false => Report::Failed("it failed".to_owned()),
    }
}
