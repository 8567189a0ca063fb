//! Work: what queues want from whoever deploys.

use jiff::Timestamp;

use super::{EntryState, Flow, Queues, Restoring};

/// The work that the queues of one tracker have now, and when there is more of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The deployments that are to be carried out, or are.
    pub deploying: Vec<Deploying>,
    /// The restorations that are to be carried out, or are, each with its environment.
    pub restoring: Vec<(String, Restoring)>,
    /// The releases that soak, each with an environment in which it counts whether they are live.
    pub soaking: Vec<(String, u64)>,
    /// The first instant at which something is over: a soak, or the time in which a deployment has to become ready.
    pub next: Option<Timestamp>,
}

/// A deployment that is to be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Deploying {
    /// The environment.
    pub environment: String,
    /// The number of the release.
    pub release: u64,
    /// The attempt, which reports have to name.
    pub attempt: u32,
}

impl Queues {
    /// Returns the work of an instant. Environments that are not in the flow have none.
    pub fn work(&self, flow: &Flow, now: Timestamp) -> Work {
        let mut work = Work {
            next: self.next_soak(flow, now),
            ..Work::default()
        };
        for environment in flow.environments() {
            let name = environment.name.as_str();
            let mut note_deadline = |since: Timestamp| {
                let deadline = since.checked_add(environment.ready_timeout);
                let deadline = deadline.unwrap_or(Timestamp::MAX);
                work.next = Some(work.next.map_or(deadline, |next| next.min(deadline)));
            };
            let deploying = self.entries(name);
            let deploying = deploying.filter(|(_, it)| it.state == EntryState::Deploying);
            for (release, entry) in deploying {
                note_deadline(entry.since);
                work.deploying.push(Deploying {
                    environment: name.to_owned(),
                    release,
                    attempt: entry.attempt,
                });
            }
            if let Some(restoring) = self.restoring(name) {
                note_deadline(restoring.since);
                work.restoring.push((name.to_owned(), restoring));
            }
        }
        work.soaking = self.soaking(flow);
        work
    }

    /// Returns the releases that have to be live for a while before an environment takes them, and where.
    fn soaking(&self, flow: &Flow) -> Vec<(String, u64)> {
        let mut soaking = Vec::new();
        let environments = flow.environments().iter();
        for environment in environments.filter(|it| it.soak.is_positive()) {
            for release in self.arriving(flow, environment) {
                let position = self.deployed_before(flow, environment, release);
                let places = position.into_iter().flat_map(|it| flow.at(it));
                let is_deployed =
                    |name: &str| self.state(name, release) == Some(EntryState::Deployed);
                let places = places.filter(|it| is_deployed(&it.name));
                soaking.extend(places.map(|it| (it.name.clone(), release)));
            }
        }
        soaking.sort_unstable();
        soaking.dedup();
        soaking
    }
}
