//! Tells the ledger how deployments go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pathline_ledger::releases::{By, QueueAction, TrackerRef};
use pathline_release::application::Secrets;
use pathline_release::queue::Report;
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::deployment::{Deployment, Purpose};
use super::environments::EnvironmentsReceiver;
use super::metrics::ReleasingMetrics;
use super::releaser::BY;
use super::tidy;
use super::tools::Tools;

/// The pause after the ledger did not take a report for the first time.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause after the ledger did not take a report.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Tells the ledger how one deployment goes.
pub(super) struct Reporter {
    tools: Arc<Tools>,
    environments: EnvironmentsReceiver,
    metrics: ReleasingMetrics,
    deployment: Deployment,
    /// The texts of the configuration that no message may have.
    secrets: Vec<Zeroizing<String>>,
    /// Those who want to know that the ledger was told whether something is live.
    told: mpsc::UnboundedSender<String>,
    /// The last note.
    noted: Option<String>,
    /// The last word on whether it is live.
    is_live: Option<bool>,
    /// Whether the deployment is over, but for its report and what is to be removed.
    is_over: Arc<AtomicBool>,
}

impl Reporter {
    pub(super) fn new(
        tools: Arc<Tools>,
        environments: EnvironmentsReceiver,
        metrics: ReleasingMetrics,
        (deployment, told): (Deployment, mpsc::UnboundedSender<String>),
    ) -> Self {
        Self {
            tools,
            environments,
            metrics,
            deployment,
            secrets: Vec::new(),
            told,
            noted: None,
            is_live: None,
            is_over: Arc::default(),
        }
    }

    /// Returns what tells whether the deployment is over, but for its report and what is to be removed.
    pub(super) fn is_over(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_over)
    }

    /// Keeps secrets out of all messages from now on: what runs may say them.
    pub(super) fn keep_secret(&mut self, secrets: &Secrets) {
        self.secrets = secrets.texts();
    }

    /// Returns a message without secrets.
    fn scrubbed(&self, message: String) -> String {
        let secrets = self.secrets.iter();
        secrets.fold(message, |message, it| {
            message.replace(it.trim(), "[redacted]")
        })
    }

    /// Tells whether a release that soaks is live, if that was not told.
    pub(super) async fn tell_live(&mut self, is_live: bool) {
        if self.is_live == Some(is_live) {
            return;
        }
        let environment = self.environment();
        if let Purpose::Deploy { release, .. } = self.deployment.purpose {
            self.act(&QueueAction::Live {
                environment,
                release,
                is_live,
            })
            .await;
        }
        // Whoever listens is stopped together with this.
        let _ = self.told.send(self.deployment.tracker_uid.clone());
        self.is_live = Some(is_live);
    }

    /// Notes what is to be known while a deployment is under way, if that was not noted; a restoration has no place for
    /// it.
    pub(super) async fn note(&mut self, message: Option<String>) {
        let Purpose::Deploy { release, attempt } = self.deployment.purpose else {
            return;
        };
        let message = message.map(|it| self.scrubbed(it));
        if self.noted == message {
            return;
        }
        if let Some(message) = &message {
            let (tracker, environment) = (&self.deployment.tracker, self.environment());
            tracing::info!(%tracker, environment, release, "{message}");
        }
        self.noted.clone_from(&message);
        self.act(&QueueAction::Note {
            environment: self.environment(),
            release,
            attempt,
            message,
        })
        .await;
    }

    /// Tells that a deployment has ended, and what is to be known about what is live.
    pub(super) async fn end(&mut self, report: Report, note: Option<String>) {
        let environment = self.environment();
        let report = match report {
            Report::Ready => Report::Ready,
            Report::Failed(message) => Report::Failed(self.scrubbed(message)),
        };
        let is_ready = report == Report::Ready;
        self.log(&report);
        // Before the report: whoever reads it does not want the deployment any more.
        self.is_over.store(true, Ordering::Release);
        match self.deployment.purpose {
            Purpose::Deploy { release, attempt } => {
                self.metrics.ended(&environment, is_ready);
                self.act(&QueueAction::Report {
                    environment,
                    release,
                    attempt,
                    report,
                })
                .await;
                // After the report, which takes back what was noted while it was under way.
                self.noted = None;
                if is_ready && note.is_some() {
                    self.note(note).await;
                }
                if is_ready {
                    tidy::tidy(&self.tools, &self.deployment, release).await;
                }
            }
            Purpose::Restore {
                failed, attempt, ..
            } => {
                self.act(&QueueAction::ReportRestore {
                    environment,
                    failed,
                    attempt,
                    report,
                })
                .await;
            }
        }
    }

    fn log(&self, report: &Report) {
        let (tracker, environment) = (&self.deployment.tracker, self.environment());
        let (release, verb) = match self.deployment.purpose {
            Purpose::Deploy { release, .. } => (release, "deployed"),
            Purpose::Restore { deployed, .. } => (deployed, "restored"),
        };
        match report {
            Report::Ready => tracing::info!(%tracker, environment, release, "{verb}"),
            Report::Failed(message) => {
                tracing::warn!(%tracker, environment, release, "not {verb}: {message}");
            }
        }
    }

    fn environment(&self) -> String {
        self.deployment.environment.environment.name.clone()
    }

    /// Tells the ledger, as often as it takes: a report must not get lost.
    async fn act(&self, action: &QueueAction) {
        let mut pause = FIRST_PAUSE;
        while let Err(error) = self.try_to_act(action).await {
            tracing::warn!("a report cannot be written down; trying again: {error}");
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(MAX_PAUSE);
        }
    }

    async fn try_to_act(&self, action: &QueueAction) -> Result<(), pathline_ledger::Error> {
        let environments = self.environments.borrow().clone().unwrap_or_default();
        let tracker = TrackerRef::Uid(self.deployment.tracker_uid.clone());
        let (releases, by) = (self.tools.ledger.releases(), By::new(BY, None));
        let (flow, now) = (environments.flow(), self.tools.clock.now());
        let acted = releases.act(tracker, flow, action.clone(), &by, now).await;
        acted.map(drop)
    }
}
