//! Keeping one generation of a process running.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use pathline_clock::instant;
use pathline_kinds::workers::{Process, ProcessStatus, Running};
use tokio_util::sync::CancellationToken;

use super::port::{self, PORT_TAKEN, Taken};
use super::readiness::ReadinessWatch;
use crate::child::{Child, Exit, Launch};
use crate::command::environment;
use crate::context::Context;
use crate::explain::explain;
use crate::mounts::{self, Mounts};
use crate::pause::Pause;
use crate::source::WorkDir;
use crate::status::{Occasion, READY, Reporter, Verdict, now, set_condition};

/// The time between two looks at a port that somebody else has.
const PORT_PERIOD: Duration = Duration::from_secs(1);
/// The size to which the log of a process may grow.
const LOG_LIMIT: u64 = 1 << 20;

/// Starts the process, and again whenever it ends, until told to stop.
pub(super) async fn run(process: Arc<Process>, context: Arc<Context>, stop: CancellationToken) {
    let mut supervisor = Supervisor::new(process, context, stop.clone());
    supervisor.begin().await;
    let mut pause = Pause::new(&supervisor.context.options.restarts);
    while !stop.is_cancelled() {
        if supervisor.leave_port_to_original().await.is_none() {
            break;
        }
        let began = instant();
        let ended = match supervisor.start().await {
            Ok(Started {
                work,
                mut child,
                taken,
            }) => {
                let exit = supervisor.accompany(&mut child, taken.as_ref()).await;
                drop(work);
                match exit {
                    Some(exit) => supervisor.exited(exit).await,
                    None => return,
                }
            }
            Err(verdict) => verdict,
        };
        let is_taken = ended.reason == PORT_TAKEN;
        supervisor.has_port &= !is_taken;
        if pause.is_stable(began.elapsed()) {
            supervisor.status.crashes = 0;
        }
        supervisor.status.crashes += u32::from(!is_taken);
        let wait = pause.after(began.elapsed());
        supervisor.ended(ended, wait).await;
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(wait) => supervisor.status.restarts += 1,
            () = supervisor.port_freed(), if is_taken => supervisor.status.restarts += 1,
        }
    }
    supervisor.say_stopped().await;
}

/// A child that runs, with its directory.
struct Started {
    work: WorkDir,
    child: Child,
    /// The former holder of its port.
    taken: Option<Taken>,
}

struct Supervisor {
    process: Arc<Process>,
    context: Arc<Context>,
    reporter: Reporter<Process>,
    status: ProcessStatus,
    stop: CancellationToken,
    /// The end of the start before this one.
    last_end: Option<String>,
    /// True once nobody had its port for long enough that a copy may take it.
    has_port: bool,
}

impl Supervisor {
    fn new(process: Arc<Process>, context: Arc<Context>, stop: CancellationToken) -> Self {
        let reporter = Reporter::new(&context.client, &*process);
        Self {
            process,
            context,
            reporter,
            status: ProcessStatus::default(),
            stop,
            last_end: None,
            has_port: false,
        }
    }

    /// Says that nothing runs yet; whatever the status said is of another time.
    async fn begin(&mut self) {
        let known = self
            .reporter
            .current()
            .await
            .ok()
            .flatten()
            .and_then(|it| it.status);
        self.status = ProcessStatus {
            observed_generation: self.process.metadata.generation,
            conditions: known.map(|status| status.conditions).unwrap_or_default(),
            ..ProcessStatus::default()
        };
        self.say(Verdict::unknown("Starting", "it is being started"))
            .await;
    }

    /// Waits, in a copy of a data directory, until nobody else had the port for a while; nothing when it was
    /// told to stop. While the original replaces a process, nobody has its port for a moment.
    async fn leave_port_to_original(&mut self) -> Option<()> {
        let Some(verdict) = self.courtesy().filter(|_| !self.has_port) else {
            return Some(());
        };
        let enough = self.context.options.restarts.stable_after;
        let mut free_since = instant();
        while free_since.elapsed() < enough {
            let taken = port::occupant(&self.context, &self.process).await;
            if taken.is_some() {
                free_since = instant();
            }
            let holder = taken.map(|it| format!("; {}", it.message));
            let message = format!("{}{}", verdict.message, holder.unwrap_or_default());
            let waiting = Verdict {
                message,
                ..verdict.clone()
            };
            self.say(waiting).await;
            let pause = tokio::time::sleep(PORT_PERIOD.min(enough));
            self.stop.run_until_cancelled(pause).await?;
        }
        self.has_port = true;
        Some(())
    }

    /// Says what a process of a copy waits for, if it has a port that may be its original's.
    fn courtesy(&self) -> Option<Verdict> {
        let original = self.context.options.copy_of()?;
        let port = self.process.spec.readiness.as_ref()?.http_get.port;
        let wait = self.context.options.restarts.stable_after;
        let message = format!(
            "it is started when nobody else had port {port} for {wait:?}: the data directory is a copy of {original}; `pathline up --adopt` does not wait"
        );
        Some(Verdict::unknown("Waiting", message))
    }

    async fn start(&mut self) -> Result<Started, Verdict> {
        let taken = port::occupant(&self.context, &self.process).await;
        if let Some(taken) = &taken {
            self.say(taken.verdict()).await;
        }
        let spec = &self.process.spec;
        let work = WorkDir::create(&self.context.places, spec.source.clone())
            .await
            .map_err(|error| Verdict::no("SourceUnavailable", explain(&error)))?;
        let namespace = self.process.namespace().unwrap_or_default();
        let mounts = Mounts {
            client: &self.context.client,
            namespace: &namespace,
        };
        let unreadable = |error: mounts::Error| Verdict::no("CannotStart", explain(&error));
        let variables = mounts.variables(&spec.env).await.map_err(unreadable)?;
        let files = work.files();
        let written = mounts.write(&spec.volumes, &spec.volume_mounts, &files);
        written.await.map_err(unreadable)?;
        let options = &self.context.options;
        let environment = environment(options, &work, &variables, spec.source.as_ref());
        let launch = Launch {
            command: spec.command.clone(),
            environment: environment
                .map_err(|error| Verdict::no("CannotStart", explain(&error)))?,
            directory: work.files(),
            log: self.new_log(),
            log_limit: LOG_LIMIT,
        };
        let child = self.context.launcher.start(&launch).await;
        let child = child.map_err(|error| Verdict::no("CannotStart", explain(&error)))?;
        self.status.log_path = Some(launch.log.display().to_string());
        self.status.pid = Some(child.pid());
        self.status.started_at = Some(now(&self.context.options.clock));
        self.status.running = Some(Running {
            generation: self.process.metadata.generation.unwrap_or_default(),
            source: spec.source.clone(),
        });
        let starting = Verdict::unknown("Starting", self.starting());
        self.say(taken.as_ref().map_or(starting, Taken::verdict))
            .await;
        Ok(Started { work, child, taken })
    }

    fn starting(&self) -> String {
        match &self.last_end {
            Some(end) => format!("it was started again after {end}, and is not ready yet"),
            None => "it was started and is not ready yet".into(),
        }
    }

    /// A log for every start, so that the one of a crash is not written over.
    fn new_log(&self) -> PathBuf {
        let (namespace, name) = (
            self.process.namespace().unwrap_or_default(),
            self.process.name_any(),
        );
        let start = self
            .context
            .options
            .clock
            .now()
            .strftime("%Y%m%dT%H%M%S.%3fZ")
            .to_string();
        self.context
            .places
            .log("process", &namespace, &name, &start)
    }

    /// Watches over a child until it ends; nothing when it was stopped.
    async fn accompany(&mut self, child: &mut Child, taken: Option<&Taken>) -> Option<Exit> {
        let stop = self.stop.clone();
        let mut readiness = ReadinessWatch::new(&self.process, &self.context, child.run(), taken);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    self.stop(child).await;
                    return None;
                }
                exit = child.ended() => {
                    self.remember_log(child);
                    return Some(exit);
                }
                verdict = readiness.changed() => {
                    self.remember_log(child);
                    self.say(verdict).await;
                }
            }
        }
    }

    async fn stop(&mut self, child: &mut Child) {
        self.say(Verdict::unknown("Stopping", "it is being stopped"))
            .await;
        child.stop(self.process.spec.stop_timeout.duration()).await;
        self.remember_log(child);
        self.nothing_runs();
        self.say_stopped().await;
    }

    async fn say_stopped(&mut self) {
        self.say(Verdict::unknown("Stopped", "it was stopped"))
            .await;
    }

    /// Describes the end of a child, and who may be to blame for it.
    async fn exited(&mut self, exit: Exit) -> Verdict {
        self.last_end = Some(exit.to_string());
        match port::obstacle(&self.context, &self.process).await {
            Some(taken) => Verdict::no(PORT_TAKEN, format!("{exit}; {}", taken.message)),
            None => Verdict::no("Exited", exit.to_string()),
        }
    }

    /// Returns when nobody listens any more on the port of a process that does not run.
    async fn port_freed(&self) {
        loop {
            tokio::time::sleep(PORT_PERIOD).await;
            if port::obstacle(&self.context, &self.process).await.is_none() {
                return;
            }
        }
    }

    async fn ended(&mut self, verdict: Verdict, wait: Duration) {
        self.nothing_runs();
        let message = format!("{}; starting again after {wait:?}", verdict.message);
        self.say(Verdict { message, ..verdict }).await;
    }

    fn nothing_runs(&mut self) {
        self.status.pid = None;
        self.status.started_at = None;
        self.status.running = None;
    }

    fn remember_log(&mut self, child: &Child) {
        self.status.log_tail = Some(child.tail().text()).filter(|text| !text.is_empty());
    }

    async fn say(&mut self, verdict: Verdict) {
        let occasion = Occasion::new(
            self.process.metadata.generation,
            &self.context.options.clock,
        );
        set_condition(&mut self.status.conditions, READY, &occasion, verdict);
        self.reporter.insist(&self.status, &self.stop).await;
    }
}
