//! The tasks that carry out deployments, and follow what soaks: just those that the queues want.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pathline_ledger::releases::TrackerQueues;
use pathline_release::environment::{DeployEnvironment, Environments};
use pathline_release::queue::Work;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::deployment::{Deployment, Purpose};
use super::environments::EnvironmentsReceiver;
use super::metrics::ReleasingMetrics;
use super::reporter::Reporter;
use super::tools::Tools;

/// The tasks that run.
pub(super) struct DeploymentTasks {
    tools: Arc<Tools>,
    environments: EnvironmentsReceiver,
    metrics: ReleasingMetrics,
    running: HashMap<TaskKey, Running>,
    tasks: JoinSet<()>,
    /// The trackers of which it was told that something is live, or is no longer: that is no change of a state, and nobody
    /// hears of it otherwise.
    told: mpsc::UnboundedReceiver<String>,
    tell: mpsc::UnboundedSender<String>,
}

/// Tells one task from another: the environment of a tracker, and what is done there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskKey {
    tracker_uid: String,
    environment: String,
    doing: Doing,
}

/// The reason to look at a tracker again.
pub(super) enum Next {
    /// The ledger was told whether something of it is live.
    Told(String),
    /// A task of it was broken off by a defect.
    BrokenOff(String),
}

/// The thing that a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Doing {
    /// It carries out a deployment.
    Deploying(Purpose),
    /// It follows whether a release is live.
    Following(u64),
}

/// A task that runs, or has ended and is not to be begun again: the ledger was told.
struct Running {
    environment: DeployEnvironment,
    handle: AbortHandle,
    /// Whether it has done its work: it is not cut off while it tells so and removes what is left.
    is_over: Arc<AtomicBool>,
}

impl DeploymentTasks {
    pub(super) fn new(
        tools: Arc<Tools>,
        environments: EnvironmentsReceiver,
        metrics: ReleasingMetrics,
    ) -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        Self {
            tools,
            environments,
            metrics,
            running: HashMap::new(),
            tasks: JoinSet::new(),
            told,
            tell,
        }
    }

    /// Lets just those tasks of a tracker run that there is work for, in the environments as they are now.
    pub(super) fn reconcile(
        &mut self,
        tracker: &TrackerQueues,
        work: &Work,
        environments: &Environments,
    ) {
        let wanted = wanted(tracker, work);
        self.running.retain(|key, running| {
            let is_same = environments.get(&key.environment) == Some(&running.environment);
            let is_wanted = is_same && wanted.contains(key);
            let is_kept = key.tracker_uid != tracker.uid || is_wanted;
            if !is_kept && !running.is_over.load(Ordering::Acquire) {
                running.handle.abort();
            }
            is_kept
        });
        for key in wanted {
            let environment = environments.get(&key.environment);
            if let Some(environment) = environment.filter(|_| !self.running.contains_key(&key)) {
                self.begin(tracker, key, environment.clone());
            }
        }
    }

    /// Waits until a tracker has to be looked at again, and returns it.
    pub(super) async fn next(&mut self) -> Next {
        loop {
            tokio::select! {
                Some(uid) = self.told.recv() => return Next::Told(uid),
                Some(ended) = self.tasks.join_next_with_id() => {
                    if let Some(uid) = self.ended(ended) {
                        return Next::BrokenOff(uid);
                    }
                }
            }
        }
    }

    /// Returns the tracker of a task that was broken off by a defect.
    fn ended(&mut self, ended: Result<(Id, ()), JoinError>) -> Option<String> {
        let error = ended.err().filter(|it| !it.is_cancelled())?;
        tracing::error!("a deployment was broken off: {error}");
        let key = self.key_of(error.id())?;
        self.running.remove(&key);
        Some(key.tracker_uid)
    }

    /// Ends all tasks, and waits until they have.
    pub(super) async fn shutdown(mut self) {
        self.tasks.shutdown().await;
    }

    fn key_of(&self, id: Id) -> Option<TaskKey> {
        let mut running = self.running.iter();
        let found = running.find(|(_, running)| running.handle.id() == id);
        found.map(|(key, _)| key.clone())
    }

    fn begin(&mut self, tracker: &TrackerQueues, key: TaskKey, environment: DeployEnvironment) {
        let purpose = match key.doing {
            Doing::Deploying(purpose) => purpose,
            Doing::Following(release) => Purpose::Deploy {
                release,
                attempt: 0,
            },
        };
        let deployment = Deployment {
            tracker_uid: tracker.uid.clone(),
            tracker: tracker.name.clone(),
            environment: Arc::new(environment.clone()),
            purpose,
        };
        let (tools, metrics) = (Arc::clone(&self.tools), self.metrics.clone());
        let environments = self.environments.clone();
        let tell = self.tell.clone();
        let mut reporter = Reporter::new(tools, environments, metrics, (deployment.clone(), tell));
        let is_over = reporter.is_over();
        let tools = Arc::clone(&self.tools);
        let handle = match key.doing {
            Doing::Deploying(_) => self.tasks.spawn(async move {
                Box::pin(deployment.run(&tools, &mut reporter)).await;
            }),
            Doing::Following(_) => self.tasks.spawn(async move {
                Box::pin(deployment.follow(&tools, &mut reporter)).await;
            }),
        };
        self.running.insert(
            key,
            Running {
                environment,
                handle,
                is_over,
            },
        );
    }
}

/// Returns the tasks that there is work for.
fn wanted(tracker: &TrackerQueues, work: &Work) -> Vec<TaskKey> {
    let key = |environment: &str, doing| TaskKey {
        tracker_uid: tracker.uid.clone(),
        environment: environment.to_owned(),
        doing,
    };
    let deploying = work.deploying.iter().map(|it| {
        let purpose = Purpose::Deploy {
            release: it.release,
            attempt: it.attempt,
        };
        key(&it.environment, Doing::Deploying(purpose))
    });
    let restoring = work.restoring.iter().map(|(environment, it)| {
        let purpose = Purpose::Restore {
            failed: it.failed,
            attempt: it.attempt,
            deployed: it.deployed,
        };
        key(environment, Doing::Deploying(purpose))
    });
    let soaking = work.soaking.iter();
    let soaking = soaking.map(|(environment, it)| key(environment, Doing::Following(*it)));
    deploying.chain(restoring).chain(soaking).collect()
}
