//! One run of a task.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use pathline_kinds::workers::{Task, TaskStatus};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::SUCCEEDED;
use super::outputs::{self, collect};
use crate::child::{Child, Exit, Launch, StartError};
use crate::command::environment;
use crate::context::Context;
use crate::explain::explain;
use crate::mounts::{self, Mounts};
use crate::pause::Pause;
use crate::shortage::is_shortage;
use crate::source::{self, WorkDir};
use crate::status::{Occasion, Reporter, Verdict, now, set_condition};

/// The time that a command may take to end after it was asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason for which a task did not succeed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Exited(Exit),
    #[error("the command was stopped because it ran for longer than {0:?}")]
    TimedOut(Duration),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Variables(#[from] mounts::Error),
    #[error(transparent)]
    Source(#[from] source::Error),
    #[error(transparent)]
    Output(#[from] outputs::Error),
}

impl Failure {
    fn reason(&self) -> &'static str {
        match self {
            Self::Exited(_) => "Failed",
            Self::TimedOut(_) => "TimedOut",
            Self::Start(_) | Self::Variables(_) => "CannotStart",
            Self::Source(_) => "SourceUnavailable",
            Self::Output(_) => "OutputMissing",
        }
    }

    /// Tells whether neither the command nor what was declared is to blame, so that the same may succeed later.
    fn is_passing(&self) -> bool {
        match self {
            Self::Exited(exit) => *exit == Exit::Lost,
            Self::TimedOut(_) => false,
            Self::Start(StartError::Pathline(_)) | Self::Source(source::Error::Directory(_)) => {
                true
            }
            Self::Variables(error) => error.is_passing(),
            Self::Start(_) | Self::Source(_) | Self::Output(_) => is_shortage(self),
        }
    }
}

/// The outcome of one run, apart from being interrupted.
struct Outcome {
    result: Result<BTreeMap<String, String>, Failure>,
    exit: Option<Exit>,
    log_tail: Option<String>,
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self {
            result: Err(failure),
            exit: None,
            log_tail: None,
        }
    }
}

/// Runs the task and reports, and again after a failure that is not its own. A run that is stopped from
/// outside reports nothing, so that it is done again.
pub(super) async fn run(task: Arc<Task>, context: Arc<Context>, stop: CancellationToken) {
    let mut pause = Pause::new(&context.options.restarts);
    let Some(mut run) = Run::prepare(task, context, stop).await else {
        return;
    };
    while let Some(outcome) = run.once().await {
        match &outcome.result {
            Err(failure) if failure.is_passing() => {
                let wait = pause.after(Duration::ZERO);
                if run.put_off(failure, wait).await.is_none() {
                    return;
                }
            }
            _ => return run.finish(outcome).await,
        }
    }
}

/// One generation of a task.
struct Run {
    task: Arc<Task>,
    context: Arc<Context>,
    stop: CancellationToken,
    reporter: Reporter<Task>,
    status: TaskStatus,
    log: PathBuf,
}

impl Run {
    /// Returns nothing when the task was deleted.
    async fn prepare(
        task: Arc<Task>,
        context: Arc<Context>,
        stop: CancellationToken,
    ) -> Option<Self> {
        let mut reporter = Reporter::new(&context.client, &*task);
        // What the cache had may be older than the last word of the run before this one.
        let known = match reporter.current().await {
            Ok(current) => current?.status,
            Err(_) => task.status.clone(),
        };
        let generation = task.metadata.generation;
        let log = context.places.log(
            "task",
            &task.namespace().unwrap_or_default(),
            &task.name_any(),
            &generation.unwrap_or_default().to_string(),
        );
        let status = TaskStatus {
            observed_generation: generation,
            start_time: None,
            completion_time: None,
            exit_code: None,
            log_tail: None,
            log_path: Some(log.display().to_string()),
            ..known.unwrap_or_default()
        };
        Some(Self {
            task,
            context,
            stop,
            reporter,
            status,
            log,
        })
    }

    /// Runs the command when it is its turn; nothing when it was interrupted.
    async fn once(&mut self) -> Option<Outcome> {
        let _turn = self.turn().await?;
        self.status.start_time = Some(now(&self.context.options.clock));
        self.say(Verdict::unknown("Running", "the command runs"))
            .await;
        execute(&self.task, &self.context, self.log.clone(), &self.stop).await
    }

    async fn turn(&mut self) -> Option<OwnedSemaphorePermit> {
        let turns = self.context.turns.clone();
        if let Ok(turn) = turns.clone().try_acquire_owned() {
            return Some(turn);
        }
        self.say(Verdict::unknown("Waiting", "other tasks run"))
            .await;
        tokio::select! {
            turn = turns.acquire_owned() => Some(turn.expect("nobody closes it")),
            () = self.stop.cancelled() => None,
        }
    }

    /// Says why it is tried again, and waits until then; nothing when it was interrupted.
    async fn put_off(&mut self, failure: &Failure, wait: Duration) -> Option<()> {
        let message = format!("{}; trying again after {wait:?}", explain(failure));
        self.say(Verdict::unknown("Retrying", message)).await;
        let pause = tokio::time::sleep(wait);
        self.stop.run_until_cancelled(pause).await
    }

    async fn finish(&mut self, outcome: Outcome) {
        self.status.completion_time = Some(now(&self.context.options.clock));
        self.status.log_tail = outcome.log_tail.filter(|text| !text.is_empty());
        self.status.exit_code = outcome.exit.and_then(|exit| match exit {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) | Exit::Lost => None,
        });
        let verdict = match outcome.result {
            Ok(outputs) => {
                self.status.succeeded_generation = self.task.metadata.generation;
                self.status.source = self.task.spec.source.clone();
                self.status.outputs = outputs;
                Verdict::yes("Succeeded", "the command succeeded")
            }
            Err(failure) => Verdict::no(failure.reason(), explain(&failure)),
        };
        self.say(verdict).await;
    }

    async fn say(&mut self, verdict: Verdict) {
        let occasion = Occasion::new(self.task.metadata.generation, &self.context.options.clock);
        set_condition(&mut self.status.conditions, SUCCEEDED, &occasion, verdict);
        self.reporter.insist(&self.status, &self.stop).await;
    }
}

/// Runs the command; nothing when it was interrupted.
async fn execute(
    task: &Task,
    context: &Context,
    log: PathBuf,
    stop: &CancellationToken,
) -> Option<Outcome> {
    let spec = &task.spec;
    let work = match WorkDir::create(&context.places, spec.source.clone()).await {
        Ok(work) => work,
        Err(error) => return Some(Failure::from(error).into()),
    };
    let namespace = task.namespace().unwrap_or_default();
    let mounts = Mounts {
        client: &context.client,
        namespace: &namespace,
    };
    let variables = match mounts.variables(&spec.env).await {
        Ok(variables) => variables,
        Err(error) => return Some(Failure::from(error).into()),
    };
    let environment = environment(&context.options, &work, &variables, spec.source.as_ref());
    let environment = match environment {
        Ok(environment) => environment,
        Err(error) => return Some(Failure::from(error).into()),
    };
    let launch = Launch {
        command: spec.command.clone(),
        environment,
        directory: work.files(),
        log,
        log_limit: spec.log_limit.bytes(),
    };
    let mut child = match context.launcher.start(&launch).await {
        Ok(child) => child,
        Err(error) => return Some(Failure::from(error).into()),
    };
    let timeout = spec.timeout.duration();
    let exit = tokio::select! {
        exit = child.ended() => exit,
        () = tokio::time::sleep(timeout) => {
            let exit = child.stop(STOP_TIMEOUT).await;
            return Some(ended(&child, exit, Err(Failure::TimedOut(timeout))));
        }
        () = stop.cancelled() => {
            child.stop(STOP_TIMEOUT).await;
            return None;
        }
    };
    if exit != Exit::Code(0) {
        return Some(ended(&child, exit, Err(Failure::Exited(exit))));
    }
    let (outputs, artifacts) = (spec.outputs.clone(), context.places.artifacts());
    let collected = tokio::task::spawn_blocking(move || {
        collect(&outputs, &work.files(), &artifacts).map_err(Failure::from)
    });
    let result = collected.await.expect("collecting outputs does not panic");
    Some(ended(&child, exit, result))
}

fn ended(child: &Child, exit: Exit, result: Result<BTreeMap<String, String>, Failure>) -> Outcome {
    Outcome {
        result,
        exit: Some(exit),
        log_tail: Some(child.tail().text()),
    }
}
