//! Child processes that cannot outlive their purpose.
//!
//! A child leads a process group of its own. When it exits, or is stopped, everything in its group
//! is killed, and so is whatever left the group but still carries the mark of the run in its
//! environment (on Linux, where that can be seen).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;
use uuid::Uuid;

use super::leftovers::{self, RunRecord};
use super::log::{Log, Tail};

/// Marks every process with the data directory it belongs to.
pub(crate) const INSTANCE_MARK: &str = "PATHLINE_INSTANCE";
/// Marks every process with the run it belongs to.
pub(crate) const RUN_MARK: &str = "PATHLINE_RUN";
/// How long the output of a dead group may take to end.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(2);

/// What to run, and with what.
#[derive(Debug)]
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
    /// Where running groups are written down.
    pub(crate) runs: PathBuf,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// A running child. Dropping it kills its group.
#[derive(Debug)]
pub(crate) struct Child {
    run: RunHandle,
    ended: watch::Receiver<Option<Exit>>,
    tail: Tail,
}

impl Launcher {
    /// Starts the command. Fails when the program cannot be run at all.
    pub(crate) fn start(&self, launch: &Launch) -> io::Result<Child> {
        let (program, arguments) = launch
            .command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"))?;
        let log = Log::create(&launch.log, launch.log_limit)?;
        let tail = log.tail();
        let run = Uuid::new_v4().to_string();
        let (output, input) = io::pipe()?;
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(&launch.environment)
            .env(INSTANCE_MARK, &self.instance)
            .env(RUN_MARK, &run)
            .current_dir(&launch.directory)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(input.try_clone()?)
            .stderr(input)
            .spawn()?;
        let pid = Pid::from_child(&child);
        // A group that is not written down is still found by its mark, so this may fail.
        let record = RunRecord::write(&self.runs, pid).ok();
        let group = Group {
            pid,
            reaped: Arc::default(),
        };
        let (report, ended) = watch::channel(None);
        let written = copy_output(output, log)?;
        let watched = group.clone();
        let handle = RunHandle {
            group,
            mark: format!("{RUN_MARK}={run}"),
        };
        thread::Builder::new()
            .name(format!("child-{pid}"))
            .spawn(move || {
                let exit = watched.wait(child);
                leftovers::kill_marked(RUN_MARK, &run);
                leftovers::wait_for_group(pid);
                let _ = written.recv_timeout(OUTPUT_PATIENCE);
                drop(record);
                report.send_replace(Some(exit));
            })?;
        Ok(Child {
            run: handle,
            ended,
            tail,
        })
    }
}

impl Child {
    /// The process id of the child.
    pub(crate) fn pid(&self) -> i64 {
        self.run.group.pid.as_raw_nonzero().get().into()
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
        ended
            .ok()
            .and_then(|exit| *exit)
            .unwrap_or(Exit::Signal(Signal::KILL.as_raw()))
    }

    /// Asks the group to end, and kills it after `patience`.
    pub(crate) async fn stop(&mut self, patience: Duration) -> Exit {
        self.run.group.signal(Signal::TERM);
        if let Ok(exit) = tokio::time::timeout(patience, self.ended()).await {
            return exit;
        }
        self.run.group.signal(Signal::KILL);
        self.ended().await
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended.borrow().is_none() {
            self.run.group.signal(Signal::KILL);
        }
    }
}

/// Identifies the processes of one child.
#[derive(Clone, Debug)]
pub(crate) struct RunHandle {
    group: Group,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "environments can be seen on Linux only")
    )]
    mark: String,
}

impl RunHandle {
    /// Returns whether the child itself still runs. One that waits to be reaped does not.
    pub(crate) fn is_running(&self) -> bool {
        let reaped = self.group.reaped.lock();
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !*reaped && matches!(waitid(WaitId::Pid(self.group.pid), peek), Ok(None))
    }

    /// Returns the process that leads the group.
    #[cfg(target_os = "linux")]
    pub(crate) fn leader(&self) -> Pid {
        self.group.pid
    }

    /// Returns the entry that all its processes have in their environment.
    #[cfg(target_os = "linux")]
    pub(crate) fn mark(&self) -> &[u8] {
        self.mark.as_bytes()
    }
}

/// A process group whose id is ours for as long as its leader is not reaped.
#[derive(Clone, Debug)]
struct Group {
    pid: Pid,
    reaped: Arc<Mutex<bool>>,
}

impl Group {
    fn signal(&self, signal: Signal) {
        let reaped = self.reaped.lock();
        if !*reaped {
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Waits for the leader and kills what is left of its group before the id can be used again.
    fn wait(&self, mut leader: std::process::Child) -> Exit {
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.pid), peek) {}
        let mut reaped = self.reaped.lock();
        let _ = kill_process_group(self.pid, Signal::KILL);
        let status = leader.wait();
        *reaped = true;
        status.map_or(Exit::Signal(Signal::KILL.as_raw()), Into::into)
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

    fn launcher(dir: &std::path::Path) -> Launcher {
        let runs = dir.join("runs");
        std::fs::create_dir_all(&runs).unwrap();
        Launcher {
            instance: Uuid::new_v4().to_string(),
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

    /// Whether a process is there and not just waiting to be reaped.
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
        let mut child = launcher(dir.path()).start(&launch).unwrap();
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
        let mut child = launcher(dir.path()).start(&launch).unwrap();
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
        let mut child = launcher(dir.path()).start(&launch).unwrap();
        while child.tail().text().lines().count() < 1 {
            tokio::task::yield_now().await;
        }
        let pid = child.tail().text().trim().to_owned();
        assert!(is_running(&pid));
        child.stop(Duration::from_secs(10)).await;
        assert!(!is_running(&pid), "{pid} is still there");
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
    async fn a_program_that_does_not_exist_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut launch = shell(dir.path(), "");
        launch.command = vec!["./no-such-program".into()];
        let error = launcher(dir.path()).start(&launch).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
