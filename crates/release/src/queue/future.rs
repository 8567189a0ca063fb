//! The future: what happens if nobody does anything, deployments take no time, and what is live stays live.
//!
//! It is played by the rules themselves, so that it is what they do.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{EntryState, Environment, Flow, Holds, Queues, Report, Transition};

/// The time that a tick may take.
const MOMENT: SignedDuration = SignedDuration::from_secs(1);

/// The future of one release.
#[derive(Clone, Debug)]
pub(super) struct Future {
    /// The instant at which it is queued in each environment where it is not yet.
    pub(super) queued: BTreeMap<String, Timestamp>,
    /// The instant at which each environment takes it.
    pub(super) taken: BTreeMap<String, Timestamp>,
    /// The queues when nothing happens any more.
    pub(super) queues: Queues,
}

impl Queues {
    /// Plays the future from an instant on.
    pub(super) fn future(
        &self,
        (flow, halts): (&Flow, &Holds),
        release: u64,
        now: Timestamp,
    ) -> Future {
        let mut future = Future {
            queued: BTreeMap::new(),
            taken: BTreeMap::new(),
            queues: self.clone(),
        };
        let mut transitions = future.queues.advance(flow, now);
        transitions.extend(future.queues.become_ready(flow, now));
        future.note(release, transitions, now);
        future.catch_up((flow, halts), release, now);
        let mut at = now;
        // Each step enters a release somewhere, or takes one: there cannot be more.
        for _ in 0..2 * self.releases.len() * flow.environments().len() {
            let Some(next) = future.queues.next_step((flow, halts), at) else {
                break;
            };
            at = next;
            future.step((flow, halts), release, at);
        }
        future
    }

    /// Ends all deployments well.
    fn become_ready(&mut self, flow: &Flow, at: Timestamp) -> Vec<Transition> {
        let mut transitions = Vec::new();
        for environment in flow.environments() {
            let name = environment.name.as_str();
            for release in self.all_in(name, |it| it == EntryState::Deploying) {
                let attempt = self.entry(name, release).map(|it| it.attempt);
                let attempt = attempt.unwrap_or_default();
                let of_release = (name, release);
                transitions.extend(self.report(flow, of_release, attempt, Report::Ready, at));
            }
        }
        transitions
    }

    /// Returns the next instant at which something is taken, or has soaked.
    fn next_step(&self, (flow, halts): (&Flow, &Holds), at: Timestamp) -> Option<Timestamp> {
        let environments = flow.environments().iter();
        let taken = environments.filter_map(|environment| {
            let queued = self.newest(&environment.name, EntryState::Queued)?;
            self.next_tick(environment, queued, halts, at)
        });
        taken.chain(self.next_soak(flow, at)).min()
    }

    /// Returns the first tick of an environment after an instant at which nothing keeps it from taking a release.
    fn next_tick(
        &self,
        environment: &Environment,
        release: u64,
        halts: &Holds,
        at: Timestamp,
    ) -> Option<Timestamp> {
        let mut tick = environment.timeline.next_after(at)?;
        while let Some(stop) = self.stop_of(environment, release, halts, tick) {
            let until = stop.until()?;
            tick = environment.timeline.next_after(just_before(until))?;
        }
        Some(tick)
    }
}

impl Future {
    /// Plays the tick of a moment ago: whoever asks then may be faster than whoever takes what is queued.
    fn catch_up(&mut self, (flow, halts): (&Flow, &Holds), release: u64, now: Timestamp) {
        let Ok(moment) = now.checked_sub(MOMENT) else {
            return;
        };
        let ticks = flow.environments().iter();
        let ticks = ticks.filter_map(|it| it.timeline.next_after(moment));
        if let Some(tick) = ticks.filter(|it| *it < now).min() {
            self.step((flow, halts), release, tick);
        }
    }

    fn step(&mut self, (flow, halts): (&Flow, &Holds), release: u64, at: Timestamp) {
        let environments = flow.environments().iter();
        let ticking = environments.filter(|it| it.timeline.next_after(just_before(at)) == Some(at));
        let ticking: Vec<_> = ticking.map(|it| it.name.as_str()).collect();
        let mut transitions = self.queues.tick((flow, halts), &ticking, at);
        transitions.extend(self.queues.become_ready(flow, at));
        self.note(release, transitions, at);
    }

    /// Notes what happens to the release.
    fn note(&mut self, release: u64, transitions: Vec<Transition>, at: Timestamp) {
        let of_release = transitions.into_iter().filter(|it| it.release == release);
        for Transition {
            environment, to, ..
        } in of_release
        {
            match to {
                EntryState::Queued => self.queued.insert(environment, at),
                EntryState::Deploying => self.taken.insert(environment, at),
                _ => None,
            };
        }
    }
}

/// Returns the last instant before one.
pub(super) fn just_before(at: Timestamp) -> Timestamp {
    let before = at.checked_sub(SignedDuration::from_nanos(1));
    before.unwrap_or(Timestamp::MIN)
}
