//! The promise of `why`: if nothing else happens, a release is taken exactly when it says.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pathline_release::queue::{EntryState, Queues, Report, Transition};

use super::check::{Checked, require};
use super::event::State;
use super::flows;

/// The time that is waited for what is promised.
const HORIZON: i64 = 150;

/// Checks what is promised for a release, second by second.
pub(super) fn check(state: &State, release: u64, now: Timestamp) -> Checked {
    let setting = (&state.flow, &state.halts);
    let promised = state.queues.why(setting, release, now);
    let taken = play(state, release, now);
    let end = now + SignedDuration::from_secs(HORIZON);
    for why in promised {
        let is_deploying = why.state == Some(EntryState::Deploying);
        let expected = why.earliest.filter(|it| *it <= end && !is_deploying);
        let found = taken.get(&why.environment).copied();
        require(found == expected, || {
            format!("release {release} is taken at {found:?}, and not as promised: {why:?}")
        })?;
    }
    Ok(())
}

/// Returns when each environment takes a release.
fn play(state: &State, release: u64, now: Timestamp) -> BTreeMap<String, Timestamp> {
    let mut queues = state.queues.clone();
    let mut taken = BTreeMap::new();
    queues.advance(&state.flow, now);
    become_ready(&mut queues, state, now);
    for second in 1..=HORIZON {
        let at = now + SignedDuration::from_secs(second);
        let names = state.flow.environments().iter().map(|it| it.name.as_str());
        let ticking: Vec<_> = names.filter(|it| flows::ticks(it, at)).collect();
        let transitions = queues.tick((&state.flow, &state.halts), &ticking, at);
        let is_taken = |it: &&Transition| it.release == release && it.to == EntryState::Deploying;
        let of_release = transitions.iter().filter(is_taken);
        taken.extend(of_release.map(|it| (it.environment.clone(), at)));
        if !transitions.is_empty() {
            become_ready(&mut queues, state, at);
        }
    }
    taken
}

fn become_ready(queues: &mut Queues, state: &State, at: Timestamp) {
    for environment in state.flow.environments() {
        let name = environment.name.as_str();
        if let Some(release) = queues.newest(name, EntryState::Deploying) {
            let attempt = queues.entry(name, release).map(|it| it.attempt);
            let of_release = (name, release);
            let attempt = attempt.unwrap_or_default();
            queues.report(&state.flow, of_release, attempt, Report::Ready, at);
        }
    }
}
