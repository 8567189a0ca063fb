//! Child processes that cannot outlive their purpose.
//!
//! A command leads a process group of its own, below a keeper of its own. When it exits, or is stopped, its
//! keeper ends everything that came from it. Should the keeper be killed, the group is, and whatever
//! still carries the mark of the run in its environment (on Linux, where that can be seen).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufReader, PipeReader, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use uuid::Uuid;

use super::keeper::{Keeper, Order, Report, Start, receive, send};
use super::log::{Log, Tail};
use super::orphans::{self, RunRecord};

/// Marks every process with the data directory it belongs to.
pub(crate) const INSTANCE_MARK: &str = "PATHLINE_INSTANCE";
/// Marks every process with the run it belongs to.
pub(crate) const RUN_MARK: &str = "PATHLINE_RUN";
/// The time-out for descendants of a command that has exited.
const DESCENDANTS_TIMEOUT: Duration = Duration::from_secs(20);
/// The time-out for the output of a command that has exited.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// A command with its directory, environment and log.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) command: Vec<String>,
    /// The whole environment, apart from the marks.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) log_limit: u64,
}

/// Starts children in the name of one data directory.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    pub(crate) instance: String,
    pub(crate) keeper: Keeper,
    /// The directory in which running groups are written down.
    pub(crate) runs: PathBuf,
}

/// The end of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
    /// Its keeper was killed, so nobody knows.
    Lost,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Lost => f.write_str("somebody killed the keeper of the command"),
        }
    }
}

/// A running child. Dropping it kills everything that came from it.
#[derive(Debug)]
pub(crate) struct Child {
    run: RunHandle,
    orders: UnixStream,
    ended: watch::Receiver<Option<Exit>>,
    tail: Tail,
}

/// The reason for which a command does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// There is no such program, it is none, or it does not take these arguments.
    #[error("the command cannot be started")]
    Command(#[source] io::Error),
    /// Nothing can be started.
    #[error("no command can be started now")]
    Pathline(#[from] io::Error),
}

impl Launcher {
    /// Starts the command.
    pub(crate) async fn start(&self, launch: &Launch) -> Result<Child, StartError> {
        let (launcher, launch) = (self.clone(), launch.clone());
        let started = tokio::task::spawn_blocking(move || launcher.start_blocking(launch));
        started.await.expect("starting a command does not panic")
    }

    fn start_blocking(&self, launch: Launch) -> Result<Child, StartError> {
        let log = Log::create(&launch.log, launch.log_limit)?;
        let tail = log.tail();
        let (output, input) = io::pipe()?;
        let written = copy_output(output, log)?;
        let (keeper, orders) = self.keeper.start(&self.instance, input)?;
        let mut keeping = Keeping {
            reports: BufReader::new(orders.try_clone()?),
            keeper,
        };
        let run = Uuid::new_v4().to_string();
        send(&orders, &Order::Start(Box::new(self.order(launch, &run))))?;
        let pid = keeping.started()?;
        // A group that is not written down is still found by its mark, so this may fail.
        let record = RunRecord::write(&self.runs, pid).ok();
        let (report, ended) = watch::channel(None);
        let handle = RunHandle {
            pid,
            keeper: Pid::from_child(&keeping.keeper),
            ended: ended.clone(),
        };
        thread::Builder::new()
            .name(format!("child-{pid}"))
            .spawn(move || {
                let exit = keeping.exited().unwrap_or_else(|| {
                    end_unkept(record.as_ref(), &run);
                    Exit::Lost
                });
                let _ = written.recv_timeout(OUTPUT_TIMEOUT);
                drop(record);
                report.send_replace(Some(exit));
            })?;
        Ok(Child {
            run: handle,
            orders,
            ended,
            tail,
        })
    }

    fn order(&self, launch: Launch, run: &str) -> Start {
        let mut environment = launch.environment;
        environment.insert(INSTANCE_MARK.into(), (&self.instance).into());
        environment.insert(RUN_MARK.into(), run.into());
        Start {
            command: launch.command,
            environment: environment.into_iter().collect(),
            directory: launch.directory.into(),
            descriptors: self.keeper.descriptors,
        }
    }
}

/// A keeper at work. Dropping it lets it end everything, and waits for that.
struct Keeping {
    keeper: std::process::Child,
    reports: BufReader<UnixStream>,
}

impl Keeping {
    /// Returns the number of the command.
    fn started(&mut self) -> Result<Pid, StartError> {
        let gone = || io::Error::other("its keeper is gone");
        match receive(&mut self.reports)? {
            Some(Report::Started(pid)) => Pid::from_raw(pid).ok_or_else(|| gone().into()),
            Some(Report::Refused { code, message }) => {
                let error = io::Error::new(io::ErrorKind::InvalidInput, message);
                let error = code.map_or(error, io::Error::from_raw_os_error);
                Err(StartError::Command(error))
            }
            Some(Report::Exited(_)) | None => Err(gone().into()),
        }
    }

    /// Waits until nothing is left of the command, and says how it ended; nothing if the keeper was
    /// killed.
    fn exited(&mut self) -> Option<Exit> {
        let Ok(Some(Report::Exited(exit))) = receive(&mut self.reports) else {
            return None;
        };
        let _ = self
            .reports
            .get_ref()
            .set_read_timeout(Some(DESCENDANTS_TIMEOUT));
        if receive::<Report>(&mut self.reports).is_err() {
            tracing::warn!(
                keeper = self.keeper.id(),
                "what a command left behind does not end"
            );
        }
        Some(exit)
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        let _ = self.reports.get_ref().shutdown(Shutdown::Both);
        let _ = self.keeper.wait();
    }
}

/// Ends what is left of a command whose keeper was killed, as far as it can be found.
fn end_unkept(record: Option<&RunRecord>, run: &str) {
    if let Some(record) = record {
        record.kill_group();
    }
    orphans::kill_marked(RUN_MARK, run);
}

impl Child {
    /// The process id of the child.
    pub(crate) fn pid(&self) -> i64 {
        self.run.pid.as_raw_nonzero().get().into()
    }

    /// Returns a handle to ask about the processes of this child.
    pub(crate) fn run(&self) -> RunHandle {
        self.run.clone()
    }

    /// The end of its output.
    pub(crate) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Waits until the child and everything it started is gone and its output is on disk.
    pub(crate) async fn ended(&mut self) -> Exit {
        let ended = self.ended.wait_for(Option::is_some).await;
        ended.ok().and_then(|exit| *exit).unwrap_or(Exit::Lost)
    }

    /// Asks the group to end, and kills everything after `timeout`.
    pub(crate) async fn stop(&mut self, timeout: Duration) -> Exit {
        self.order(&Order::Terminate);
        if let Ok(exit) = tokio::time::timeout(timeout, self.ended()).await {
            return exit;
        }
        self.order(&Order::Kill);
        self.ended().await
    }

    /// Tells the keeper; one that is gone has nothing left to do.
    fn order(&self, order: &Order) {
        let _ = send(&self.orders, order);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended.borrow().is_none() {
            self.order(&Order::Kill);
        }
    }
}

/// Identifies the processes of one child.
#[derive(Clone, Debug)]
pub(crate) struct RunHandle {
    pid: Pid,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "other processes can be seen on Linux only")
    )]
    keeper: Pid,
    ended: watch::Receiver<Option<Exit>>,
}

impl RunHandle {
    /// Returns whether the child itself still runs. One that waits to be reaped does not.
    pub(crate) fn is_running(&self) -> bool {
        self.ended.borrow().is_none() && orphans::is_alive(self.pid)
    }

    /// Returns the process that leads the group.
    #[cfg(target_os = "linux")]
    pub(crate) fn leader(&self) -> Pid {
        self.pid
    }

    /// Returns the process below which all others are.
    #[cfg(target_os = "linux")]
    pub(crate) fn keeper(&self) -> Pid {
        self.keeper
    }
}

/// Copies output to the log on a thread of its own, and says when it ended.
fn copy_output(mut output: PipeReader, mut log: Log) -> io::Result<mpsc::Receiver<()>> {
    let (done, written) = mpsc::channel::<()>();
    thread::Builder::new().name("child-output".into()).spawn(move || {
        let _done = done;
        let mut buffer = vec![0; 16 * 1024];
        let mut writable = true;
        while let Ok(count @ 1..) = output.read(&mut buffer) {
            match log.append(&buffer[..count]) {
                Err(error) if writable => {
                    writable = false;
                    tracing::warn!(%error, "cannot write the log of a child; its output is lost");
                }
                _ => {}
            }
        }
    })?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::tests::keeper;

    fn launcher(dir: &std::path::Path) -> Launcher {
        let runs = dir.join("runs");
        std::fs::create_dir_all(&runs).unwrap();
        Launcher {
            instance: Uuid::new_v4().to_string(),
            keeper: keeper(),
            runs,
        }
    }

    fn shell(dir: &std::path::Path, script: &str) -> Launch {
        let path = std::env::var_os("PATH").unwrap();
        Launch {
            command: ["sh", "-c", script].map(Into::into).to_vec(),
            environment: [("PATH".into(), path)].into(),
            directory: dir.to_owned(),
            log: dir.join("out.log"),
            log_limit: 1 << 20,
        }
    }

    /// Tells whether a process is there and not just waiting to be reaped.
    fn is_running(pid: &str) -> bool {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            !stat
                .rsplit(") ")
                .next()
                .unwrap_or_default()
                .starts_with('Z')
        })
    }

    #[tokio::test]
    async fn output_and_exit_code_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let launch = shell(dir.path(), "echo out; echo err >&2; exit 7");
        let mut child = launcher(dir.path()).start(&launch).await.unwrap();
        assert_eq!(child.ended().await, Exit::Code(7));
        assert_eq!(child.tail().text(), "out\nerr\n");
        assert_eq!(
            std::fs::read_to_string(dir.path().join("out.log")).unwrap(),
            "out\nerr\n"
        );
        assert_eq!(
            std::fs::read_dir(dir.path().join("runs")).unwrap().count(),
            0
        );
    }

    #[tokio::test]
    async fn background_children_do_not_survive_the_leader() {
        let dir = tempfile::tempdir().unwrap();
        let launch = shell(
            dir.path(),
            "sleep 600 & echo $!; env -i sleep 601 & echo $!",
        );
        let mut child = launcher(dir.path()).start(&launch).await.unwrap();
        assert_eq!(child.ended().await, Exit::Code(0));
        let pids = child.tail().text();
        assert_eq!(pids.lines().count(), 2);
        for pid in pids.lines() {
            assert!(!is_running(pid), "{pid} is still there");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_daemon_that_left_the_group_is_found_by_its_mark() {
        let dir = tempfile::tempdir().unwrap();
        let launch = shell(dir.path(), "setsid sh -c 'echo $$; exec sleep 602' & wait");
        let mut child = launcher(dir.path()).start(&launch).await.unwrap();
        while child.tail().text().lines().count() < 1 {
            tokio::task::yield_now().await;
        }
        let pid = child.tail().text().trim().to_owned();
        assert!(is_running(&pid));
        child.stop(Duration::from_secs(10)).await;
        assert!(!is_running(&pid), "{pid} is still there");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn hole_10_orphans_that_end_before_their_command_are_buried() {
        let dir = tempfile::tempdir().unwrap();
        let orphan = "env -i setsid sh -c 'true &';";
        let script = format!("{} echo ready; exec sleep 603", orphan.repeat(5));
        let launch = shell(dir.path(), &script);
        let mut child = launcher(dir.path()).start(&launch).await.unwrap();
        let below = || crate::processes::descendants(child.run().keeper());
        while child.tail().text().is_empty() || below().len() > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        child.stop(Duration::from_secs(10)).await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_command_whose_keeper_was_killed_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let launch = shell(dir.path(), "setsid sleep 604 & echo $!; exec sleep 605");
        let mut child = launcher(dir.path()).start(&launch).await.unwrap();
        while child.tail().text().is_empty() {
            tokio::task::yield_now().await;
        }
        let daemon = child.tail().text().trim().to_owned();
        let keeper = child.run().keeper();
        rustix::process::kill_process(keeper, rustix::process::Signal::KILL).unwrap();
        assert_eq!(child.ended().await, Exit::Lost);
        for pid in [daemon, child.pid().to_string()] {
            assert!(!is_running(&pid), "{pid} is still there");
        }
    }

    /// While a program takes the place of another, the process shows no environment.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_daemon_that_becomes_another_program_again_and_again_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let again = dir.path().join("again");
        std::fs::write(&again, "exec sh \"$0\"").unwrap();
        let script = format!("setsid sh -c 'echo $$; exec sh {}' & wait", again.display());
        for _ in 0..20 {
            let mut child = launcher(dir.path())
                .start(&shell(dir.path(), &script))
                .await
                .unwrap();
            while child.tail().text().lines().count() < 1 {
                tokio::task::yield_now().await;
            }
            let pid = child.tail().text().trim().to_owned();
            child.stop(Duration::from_secs(10)).await;
            assert!(!is_running(&pid), "{pid} is still there");
        }
    }

    #[tokio::test]
    async fn a_group_that_ignores_the_request_to_end_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let script =
            "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait; wait";
        let mut child = launcher(dir.path())
            .start(&shell(dir.path(), script))
            .await
            .unwrap();
        while child.tail().text().lines().count() < 1 {
            tokio::task::yield_now().await;
        }
        let pid = child.tail().text().trim().to_owned();
        assert_eq!(child.stop(Duration::from_millis(50)).await, Exit::Signal(9));
        assert!(!is_running(&pid), "{pid} is still there");
    }

    #[tokio::test]
    async fn children_see_nothing_of_our_environment() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = launcher(dir.path())
            .start(&shell(dir.path(), "env | cut -d= -f1 | sort"))
            .await
            .unwrap();
        child.ended().await;
        let names = child.tail().text();
        let expected = ["PATH", "PATHLINE_INSTANCE", "PATHLINE_RUN"];
        let extra: Vec<_> = names
            .lines()
            // The shell sets these itself.
            .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
            .collect();
        assert_eq!(extra, expected);
    }

    #[tokio::test]
    async fn children_have_the_limit_of_open_files_that_was_there_before_we_raised_ours() {
        let dir = tempfile::tempdir().unwrap();
        let mut launcher = launcher(dir.path());
        launcher.keeper.descriptors = Some(123);
        let launch = shell(dir.path(), "ulimit -Sn");
        let mut child = launcher.start(&launch).await.unwrap();
        child.ended().await;
        assert_eq!(child.tail().text(), "123\n");
    }

    #[tokio::test]
    async fn a_program_that_does_not_exist_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut launch = shell(dir.path(), "");
        launch.command = vec!["./no-such-program".into()];
        match launcher(dir.path()).start(&launch).await {
            Err(StartError::Command(error)) => assert_eq!(error.kind(), io::ErrorKind::NotFound),
            started => panic!("{started:?}"),
        }
    }
}
