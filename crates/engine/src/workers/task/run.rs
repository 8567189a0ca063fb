//! One run of a task.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use tokio_util::sync::CancellationToken;

use super::outputs::{self, collect};
use super::{SUCCEEDED, Task, TaskStatus};
use crate::workers::child::{Child, Exit, Launch, StartError};
use crate::workers::command::environment;
use crate::workers::context::Context;
use crate::workers::source::{self, WorkDir};
use crate::workers::status::{Reporter, Verdict, explain, now, set_condition};

/// How long a command may take to end after it was asked to.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Why a task did not succeed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Exited(Exit),
    #[error("the command was stopped because it ran for longer than {0:?}")]
    TimedOut(Duration),
    #[error(transparent)]
    Start(#[from] StartError),
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
            Self::Start(_) => "CannotStart",
            Self::Source(_) => "SourceUnavailable",
            Self::Output(_) => "OutputMissing",
        }
    }
}

/// What one run came to, apart from being interrupted.
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

/// Runs the task and reports. A run that is stopped from outside reports nothing, so that it is
/// done again.
pub(super) async fn run(task: Arc<Task>, context: Arc<Context>, stop: CancellationToken) {
    let mut reporter = Reporter::new(&context.client, &*task);
    // What the cache had may be older than the last word of the run before this one.
    let known = match reporter.current().await {
        Ok(Some(current)) => current.status,
        Ok(None) => return,
        Err(_) => task.status.clone(),
    };
    let generation = task.metadata.generation;
    let log = context.places.log(
        "task",
        &task.namespace().unwrap_or_default(),
        &task.name_any(),
        &generation.unwrap_or_default().to_string(),
    );
    let mut status = TaskStatus {
        observed_generation: generation,
        start_time: None,
        completion_time: None,
        exit_code: None,
        log_tail: None,
        log_path: Some(log.display().to_string()),
        ..known.unwrap_or_default()
    };
    let _turn = match context.turns.clone().try_acquire_owned() {
        Ok(turn) => turn,
        Err(_) => {
            let waiting = Verdict::unknown("Waiting", "other tasks run");
            set_condition(&mut status.conditions, SUCCEEDED, generation, waiting);
            reporter.insist(&status, &stop).await;
            tokio::select! {
                turn = context.turns.clone().acquire_owned() => turn.expect("nobody closes it"),
                () = stop.cancelled() => return,
            }
        }
    };
    status.start_time = Some(now());
    let running = Verdict::unknown("Running", "the command runs");
    set_condition(&mut status.conditions, SUCCEEDED, generation, running);
    reporter.insist(&status, &stop).await;

    let Some(outcome) = execute(&task, &context, log, &stop).await else {
        return;
    };
    status.completion_time = Some(now());
    status.log_tail = outcome.log_tail.filter(|text| !text.is_empty());
    status.exit_code = outcome.exit.and_then(|exit| match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) => None,
    });
    let verdict = match outcome.result {
        Ok(outputs) => {
            status.succeeded_generation = generation;
            status.source = task.spec.source.clone();
            status.outputs = outputs;
            Verdict::yes("Succeeded", "the command succeeded")
        }
        Err(failure) => Verdict::no(failure.reason(), explain(&failure)),
    };
    set_condition(&mut status.conditions, SUCCEEDED, generation, verdict);
    reporter.insist(&status, &stop).await;
}

/// Runs the command; nothing when it was interrupted.
async fn execute(
    task: &Task,
    context: &Context,
    log: std::path::PathBuf,
    stop: &CancellationToken,
) -> Option<Outcome> {
    let spec = &task.spec;
    let work = match WorkDir::create(&context.places, spec.source.clone()).await {
        Ok(work) => work,
        Err(error) => return Some(Failure::from(error).into()),
    };
    let launch = Launch {
        command: spec.command.clone(),
        environment: environment(&context.options, &work, &spec.env, spec.source.as_ref()),
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
            let exit = child.stop(STOP_PATIENCE).await;
            return Some(ended(&child, exit, Err(Failure::TimedOut(timeout))));
        }
        () = stop.cancelled() => {
            child.stop(STOP_PATIENCE).await;
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
