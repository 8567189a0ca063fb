//! Refusals: why something is not promoted.

use super::super::{EntryState, Environment, Flow, Queues};
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
        "release {release} has not soaked for `{environment}`; promoted now, it is deployed all the same"
    )]
    Soaking {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
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
        if let Some(state) = self.state(&name, release) {
            return NotPromoted::Otherwise {
                environment: name,
                release,
                state,
            };
        } else if self.has_got_to(flow, environment, release) {
            return NotPromoted::Soaking {
                environment: name,
                release,
            };
        }
        let mut all = flow.environments().iter().rev();
        let reached = all.find_map(|it| Some((it.name.clone(), self.state(&it.name, release)?)));
        NotPromoted::NotThere {
            environment: name,
            release,
            reached,
        }
    }
}
