//! The workers of the embedded cluster: what runs tasks, processes, checkouts and commits.
//!
//! A laptop has no other controllers, so these deliver software for real without a container
//! runtime. On a real cluster only [`GitCommit`] is of use; see [`Kinds`].

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "the clock and the tasks of a test are the real ones"
    )
)]

mod child;
mod command;
mod context;
mod credentials;
mod explain;
mod git_commit;
mod git_repository;
mod identity;
mod keeper;
#[cfg(target_os = "linux")]
mod listeners;
mod log;
mod mounts;
mod orphans;
mod pause;
mod places;
mod ports;
mod process;
#[cfg(target_os = "linux")]
mod processes;
mod shortage;
mod slots;
mod source;
mod status;
mod task;
mod trash;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, CustomResourceExt};
use pathline_clock::Clock;
use pathline_kinds::workers::{GitCommit, GitRepository, Process, Task};
use pathline_remote::git::Git;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

pub use credentials::{Error as CredentialsError, remote};
pub use explain::{causes, explain};
pub use identity::Identity;
pub use keeper::{Keeper, keep};
pub use orphans::StillRunning;
pub use process::forget_runs;

use child::Launcher;
use context::{Context, control, reconcile_run};
use places::Places;
use slots::Slots;

/// Says why the workers stopped before they were told to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data directory cannot be used.
    #[error("cannot prepare the data directory `{}`", .directory.display())]
    DataDirectory {
        /// The data directory.
        directory: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// An earlier run left processes that cannot be ended.
    #[error("cannot take over from an earlier run")]
    Orphans(#[from] StillRunning),
}

/// The kinds to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// `GitRepository`; on a real cluster that is Flux's.
    pub git_repository: bool,
    /// `Task`; on a real cluster that is for Tekton or Jobs.
    pub task: bool,
    /// `Process`; on a real cluster that is for Deployments.
    pub process: bool,
    /// `GitCommit`.
    pub git_commit: bool,
}

impl Kinds {
    /// Everything, as the embedded cluster needs it.
    pub fn all() -> Self {
        Self {
            git_repository: true,
            task: true,
            process: true,
            git_commit: true,
        }
    }

    /// Returns the kinds that nobody else serves on a real cluster.
    pub fn on_a_real_cluster() -> Self {
        Self {
            git_repository: false,
            task: false,
            process: false,
            git_commit: true,
        }
    }

    /// The definitions of these kinds.
    pub fn crds(self) -> Vec<CustomResourceDefinition> {
        [
            (self.git_repository, GitRepository::crd()),
            (self.task, Task::crd()),
            (self.process, Process::crd()),
            (self.git_commit, GitCommit::crd()),
        ]
        .into_iter()
        .filter_map(|(served, crd)| served.then_some(crd))
        .collect()
    }
}

/// The pauses before a process that ended is started again.
#[derive(Clone, Copy, Debug)]
pub struct Restarts {
    /// The first pause; then twice as long each time.
    pub first_pause: Duration,
    /// The longest wait.
    pub longest_pause: Duration,
    /// After running for this long, the next wait is the first again.
    pub stable_after: Duration,
}

impl Default for Restarts {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            stable_after: Duration::from_secs(60),
        }
    }
}

/// The options of the workers.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory in which logs, artifacts and checkouts are kept. One Pathline at a time may
    /// use it.
    pub data_dir: PathBuf,
    /// The identity of the data directory; without one it is taken for an original.
    pub identity: Option<Identity>,
    /// The kinds to serve.
    pub kinds: Kinds,
    /// The `PATH` of commands.
    pub search_path: OsString,
    /// The program that commands find as `PATHLINE_BIN`.
    pub executable: PathBuf,
    /// The supervisor process that is started above every command.
    pub keeper: Keeper,
    /// The pauses before processes are started again.
    pub restarts: Restarts,
    /// The number of tasks that may run at a time; the others wait.
    pub max_tasks: usize,
    /// The clock by which status is dated.
    pub clock: Clock,
    /// Becomes true when the workers are prepared and begin to work.
    pub prepared: watch::Sender<bool>,
}

impl Options {
    /// Serves all kinds, with our own `PATH` and executable.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            identity: None,
            kinds: Kinds::all(),
            search_path: std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()),
            executable: std::env::current_exe().unwrap_or_else(|_| "pathline".into()),
            keeper: Keeper::default(),
            restarts: Restarts::default(),
            max_tasks: 8,
            clock: Clock::system(),
            prepared: watch::Sender::new(false),
        }
    }
}

impl Options {
    /// Returns where the original is, of a copy that must leave the world outside alone.
    fn copy_of(&self) -> Option<&str> {
        self.identity.as_ref()?.copy_of()
    }
}

/// Serves the kinds of `options` until `shutdown` is cancelled.
///
/// What an earlier run left behind is ended first. When this returns, no child is left. The kinds
/// must be installed before.
///
/// # Errors
///
/// Fails if the data directory cannot be used, or processes of an earlier run do not end.
pub async fn run(
    client: Client,
    options: Options,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let places = take_over(options.data_dir.clone(), options.identity.clone()).await?;
    let context = Arc::new(Context {
        client,
        launcher: Launcher {
            instance: places.instance().to_owned(),
            keeper: options.keeper.clone(),
            runs: places.runs(),
        },
        git: Git::new(places.git_cache()).with_clock(options.clock.clone()),
        slots: Slots::default(),
        turns: Arc::new(Semaphore::new(options.max_tasks)),
        schedule: git_repository::Schedule::default(),
        places,
        options,
    });
    let kinds = context.options.kinds;
    context.options.prepared.send_replace(true);
    tokio::join!(
        serve_git_repositories(&context, &shutdown),
        serve_if(
            kinds.task,
            control::<Task, _>(context.clone(), shutdown.clone(), reconcile_run)
        ),
        serve_if(
            kinds.process,
            control::<Process, _>(context.clone(), shutdown.clone(), reconcile_run)
        ),
        serve_if(
            kinds.git_commit,
            control(context.clone(), shutdown.clone(), git_commit::reconcile)
        ),
    );
    context.slots.stop_all().await;
    Ok(())
}

async fn serve_if(served: bool, work: impl Future<Output = ()>) {
    if served {
        work.await;
    }
}

async fn serve_git_repositories(context: &Arc<Context>, shutdown: &CancellationToken) {
    if !context.options.kinds.git_repository {
        return;
    }
    if let Err(error) = git_repository::sweep(context).await {
        let error = explain(&error);
        tracing::warn!(error, "cannot look for artifacts that nobody needs");
    }
    control(context.clone(), shutdown.clone(), git_repository::reconcile).await;
}

/// Makes the data directory ours: nothing of an earlier run is left running in it.
async fn take_over(data_dir: PathBuf, identity: Option<Identity>) -> Result<Places, Error> {
    let taken = tokio::task::spawn_blocking(move || {
        let unusable = |source| Error::DataDirectory {
            directory: data_dir.clone(),
            source,
        };
        let places = Places::prepare(&data_dir, identity).map_err(unusable)?;
        orphans::end_all(places.instance(), &places.runs())?;
        places.clear_work().map_err(unusable)?;
        Ok(places)
    });
    taken.await.expect("taking over does not panic")
}
