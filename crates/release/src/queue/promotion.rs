//! Promotion: what somebody does by hand.

use jiff::Timestamp;

use super::{EntryState, Queues, Transition};
use crate::clauses::Clause;

/// Says why a release is not promoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPromoted {
    /// Nothing is held there, and nothing failed.
    #[error("no release waits to be promoted in `{environment}`")]
    Nothing {
        /// The environment.
        environment: String,
    },
    /// The release is in another state.
    #[error("release {release} is {state} in `{environment}`")]
    Otherwise {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
        /// The state it is in.
        state: EntryState,
    },
    /// A newer release is there already.
    #[error("release {newer} is newer, and {state} in `{environment}`")]
    Newer {
        /// The environment.
        environment: String,
        /// The number of the newer release.
        newer: u64,
        /// The state it is in.
        state: EntryState,
    },
    /// The tracker was deleted.
    #[error("the tracker was deleted")]
    Deleted,
}

impl Queues {
    /// Queues a release that is held, or once more one that failed; without a number, the newest one of them.
    ///
    /// # Errors
    /// If there is no such release, or a newer one is queued, deploying or deployed there.
    pub fn promote(
        &mut self,
        environment: &str,
        release: Option<u64>,
        at: Timestamp,
    ) -> Result<Vec<Transition>, NotPromoted> {
        if self.is_deleted {
            return Err(NotPromoted::Deleted);
        }
        let newest = |state| self.newest(environment, state);
        let found = release
            .or_else(|| newest(EntryState::Held))
            .or_else(|| newest(EntryState::Failed));
        let nothing = || NotPromoted::Nothing {
            environment: environment.to_owned(),
        };
        let release = found.ok_or_else(nothing)?;
        let state = self.entry(environment, release).ok_or_else(nothing)?.state;
        if !matches!(state, EntryState::Held | EntryState::Failed) {
            return Err(NotPromoted::Otherwise {
                environment: environment.to_owned(),
                release,
                state,
            });
        }
        let newer = self.newer_than(environment, release);
        let newer = newer.filter(|_| !self.clauses.is_dropped(Clause::PromoteNewest));
        if let Some(newer) = newer {
            let state = self.entry(environment, newer).map(|it| it.state);
            return Err(NotPromoted::Newer {
                environment: environment.to_owned(),
                newer,
                state: state.unwrap_or_default(),
            });
        }
        let mut transitions = Vec::new();
        self.queue(environment, release, at, &mut transitions);
        if let Some(entry) = self.entry_mut(environment, release) {
            entry.is_promoted = true;
            entry.attempt += u32::from(state == EntryState::Failed);
            entry.message = None;
        }
        Ok(transitions)
    }
}
