//! Refusals: why something is not promoted.

use super::super::{EntryState, Environment, Flow, Queues};
use crate::name::TrackerName;
/// Says why a release is not promoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPromoted {
    /// There is no such environment.
    #[error("there is no environment `{0}`")]
    NoEnvironment(String),
    /// Nothing waits there, and nothing failed.
    #[error("no release waits to be promoted in `{environment}`")]
    Nothing {
        /// The environment.
        environment: String,
    },
    /// The release is not known.
    #[error("there is no release {0}")]
    NoRelease(u64),
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
    /// The release has not got to the environment.
    #[error("release {release} has not got to `{environment}`{}", told(reached.as_ref()))]
    NotThere {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
        /// The last environment that it has got to, and the state it is in there.
        reached: Option<(String, EntryState)>,
    },
    /// The release has got to the environment, and waits until it has soaked.
    #[error(
        "release {release} has not soaked for `{environment}`; \
         `pathline release promote {environment} {tracker} --release {release} --now` deploys it all the same"
    )]
    Soaking {
        /// The environment.
        environment: String,
        /// The tracker.
        tracker: TrackerName,
        /// The number of the release.
        release: u64,
    },
    /// The application keeps out of the environment.
    #[error("`{tracker}` keeps out of `{environment}`")]
    Omitted {
        /// The environment.
        environment: String,
        /// The tracker.
        tracker: TrackerName,
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
    /// A rollback has replaced the release.
    #[error(
        "release {rollback}, a rollback, came before release {release} in `{environment}`; \
         `pathline release rollback {environment} {tracker} --release {release}` deploys its content"
    )]
    RolledBack {
        /// The environment.
        environment: String,
        /// The tracker.
        tracker: TrackerName,
        /// The number of the release.
        release: u64,
        /// The number of the rollback.
        rollback: u64,
    },
    /// The release is a rollback of another environment.
    #[error("release {release} is a rollback, of `{only}` alone")]
    Alone {
        /// The number of the release.
        release: u64,
        /// The environment that it is for.
        only: String,
    },
    /// Another release is being deployed there.
    #[error("release {deploying} is being deployed in `{environment}`")]
    Busy {
        /// The environment.
        environment: String,
        /// The number of that release.
        deploying: u64,
    },
    /// The environment takes nothing, for the reason that is told.
    #[error("{0}")]
    Stopped(String),
    /// The tracker was deleted.
    #[error("the tracker was deleted")]
    Deleted,
}

fn told(reached: Option<&(String, EntryState)>) -> String {
    let told =
        |(environment, state): &(String, EntryState)| format!(": it is {state} in `{environment}`");
    reached.map(told).unwrap_or_default()
}

impl Queues {
    /// Says why a release is not promoted that is in another state, or has no entry.
    pub(super) fn refused(
        &self,
        flow: &Flow,
        environment: &Environment,
        release: u64,
    ) -> NotPromoted {
        let name = environment.name.clone();
        if let Some(only) = self.only(release).filter(|it| *it != name) {
            return NotPromoted::Alone {
                release,
                only: only.to_owned(),
            };
        } else if let Some(entry) = self.standing(&name, release) {
            let by = entry.superseded_by.filter(|it| self.is_rollback(*it));
            let newer = self.newest(&name, EntryState::Deployed);
            let newer = newer.filter(|it| *it > release && entry.state == EntryState::Deployed);
            return match by.or(newer) {
                Some(newer) => self.replaced(environment, release, newer),
                None => NotPromoted::Otherwise {
                    environment: name,
                    release,
                    state: entry.state,
                },
            };
        } else if self.is_omitted(environment, release) {
            return NotPromoted::Omitted {
                environment: name,
                tracker: self.tracker.clone(),
            };
        } else if self.has_got_to(flow, environment, release) {
            return NotPromoted::Soaking {
                environment: name,
                tracker: self.tracker.clone(),
                release,
            };
        }
        self.not_there(flow, environment, release)
    }

    /// Says how far a release has got on its way to an environment.
    pub(super) fn not_there(
        &self,
        flow: &Flow,
        environment: &Environment,
        release: u64,
    ) -> NotPromoted {
        let before = flow.environments().iter().rev();
        let mut before = before.filter(|it| it.position < environment.position);
        let reached = before.find_map(|it| Some((it.name.clone(), self.state(&it.name, release)?)));
        NotPromoted::NotThere {
            environment: environment.name.clone(),
            release,
            reached,
        }
    }

    /// Says that a newer release has replaced one in an environment.
    pub(super) fn replaced(
        &self,
        environment: &Environment,
        release: u64,
        newer: u64,
    ) -> NotPromoted {
        let name = environment.name.clone();
        match self.is_rollback(newer) {
            true => NotPromoted::RolledBack {
                environment: name,
                tracker: self.tracker.clone(),
                release,
                rollback: newer,
            },
            false => NotPromoted::Newer {
                state: self.state(&name, newer).unwrap_or_default(),
                environment: name,
                newer,
            },
        }
    }
}
