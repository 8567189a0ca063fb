//! The truth about what is live: how long each release was, while somebody watched.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use pathline_release::queue::{EntryState, Environment, Flow, Transition};

use super::event::{Event, State};

/// The times for which releases were live.
#[derive(Default)]
pub(super) struct Truth {
    /// Whether what is deployed in an environment is live.
    live: BTreeMap<String, bool>,
    /// By environment and release.
    lived: BTreeMap<(String, u64), SignedDuration>,
}

impl Truth {
    /// Lets time pass in which somebody watches.
    pub(super) fn pass(&mut self, state: &State, time: SignedDuration) {
        for (environment, _) in self.live.iter().filter(|(_, is_live)| **is_live) {
            if let Some(release) = state.queues.newest(environment, EntryState::Deployed) {
                let lived = self.lived.entry((environment.clone(), release));
                *lived.or_default() += time;
            }
        }
    }

    /// Notes what has happened; an environment is named if a restoration has ended well there.
    pub(super) fn note(
        &mut self,
        state: &State,
        event: &Event,
        transitions: &[Transition],
        restored: Option<&str>,
    ) {
        for Transition {
            environment, to, ..
        } in transitions
        {
            match to {
                EntryState::Deploying => self.live.insert(environment.clone(), false),
                EntryState::Deployed => self.live.insert(environment.clone(), true),
                _ => None,
            };
        }
        let newest = |environment: &str, of| state.queues.newest(environment, of);
        if let Event::Live(environment, release, is_live) = event {
            let is_deploying = newest(environment, EntryState::Deploying).is_some();
            let is_deployed = newest(environment, EntryState::Deployed) == Some(*release);
            if is_deployed && !is_deploying {
                self.live.insert((*environment).to_owned(), *is_live);
            }
        }
        self.live
            .extend(restored.map(|environment| (environment.to_owned(), true)));
        self.live.retain(|name, _| state.flow.get(name).is_some());
    }

    /// Tells whether a release was live for long enough to enter an environment.
    pub(super) fn has_soaked(
        &self,
        (flow, environment): (&Flow, &Environment),
        release: u64,
        is_deployed: impl Fn(&str) -> bool,
    ) -> bool {
        let before = flow.environments().iter().rev();
        let mut before = before.filter(|it| it.position < environment.position);
        let Some(last) = before.find(|it| is_deployed(&it.name)) else {
            return true;
        };
        let beside = flow.environments().iter();
        let mut beside = beside.filter(|it| it.position == last.position && is_deployed(&it.name));
        beside.all(|it| {
            let lived = self.lived.get(&(it.name.clone(), release));
            lived.copied().unwrap_or_default() >= environment.soak
        })
    }
}
