//! Running the binary under test, so that nothing of it outlives the test.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use pathline_testkit::Leash;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(240);

/// Returns the binary, undisturbed by settings of whoever runs the tests.
pub(crate) fn pathline() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pathline"));
    let settings = [
        "DATA_DIR",
        "LISTEN",
        "KUBE_LISTEN",
        "CONFIG",
        "LOG",
        "LEDGER",
        "SERVER",
        "TOKEN",
        "TRACKERS",
        "SEAL_KEY",
    ];
    for variable in settings {
        command.env_remove(format!("PATHLINE_{variable}"));
    }
    command
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null());
    command
}

/// Runs the binary to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    pathline()
        .args(arguments)
        .output()
        .expect("the binary runs")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("stdout is text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("stderr is text")
}

/// A binary that keeps running, with a scratch directory of its own.
pub(crate) struct Running {
    leash: Leash,
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: Receiver<String>,
    told: String,
}

/// The output and the status of a binary that ran.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
    pub(crate) leash: Leash,
}

impl Running {
    /// Starts the binary with these arguments, in its scratch directory.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(
            Leash::new("pathline-it-").expect("a scratch directory"),
            arguments,
        )
    }

    /// Starts the binary in the scratch directory of one that ran before.
    pub(crate) fn start_in(leash: Leash, arguments: &[&str]) -> Self {
        let mut command = pathline();
        command.args(arguments);
        Self::spawn(leash, command)
    }

    /// Starts any program in a scratch directory.
    pub(crate) fn spawn(leash: Leash, mut command: Command) -> Self {
        let directory = leash.directory().to_owned();
        let temporary = directory.join("tmp");
        fs::create_dir_all(&temporary).expect("a directory for temporary files");
        command.current_dir(&directory).env("TMPDIR", temporary);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = leash.spawn(&mut command).expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout was asked to be a pipe"));
        let stderr = lines(child.stderr.take().expect("stderr was asked to be a pipe"));
        Self {
            leash,
            child,
            stdout,
            stderr,
            told: String::new(),
        }
    }

    /// Waits for one line on stdout.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("stdout is text");
        line
    }

    /// Returns all that is still written to stdout until it is closed.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.stdout
            .read_to_string(&mut rest)
            .expect("stdout is text");
        rest
    }

    /// Waits for one line of JSON on stdout.
    pub(crate) fn json(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("no JSON but {line:?}; stderr:\n{}", self.stderr()))
    }

    pub(crate) fn directory(&self) -> &Path {
        self.leash.directory()
    }

    /// Returns the directory that it takes for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.directory().join("tmp")
    }

    /// Returns what it has said on stderr up to now.
    pub(crate) fn stderr(&mut self) -> &str {
        self.told.extend(self.stderr.try_iter());
        &self.told
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until stderr says something.
    pub(crate) fn wait_for_stderr(&mut self, what: &str) {
        while !self.told.contains(what) {
            match self.stderr.recv_timeout(TIMEOUT) {
                Ok(line) => self.told += &line,
                Err(_) => panic!("no {what:?} in\n{}", self.told),
            }
        }
    }

    /// Waits until stderr says something once more.
    pub(crate) fn wait_for_next(&mut self, what: &str) {
        loop {
            match self.stderr.recv_timeout(TIMEOUT) {
                Ok(line) => self.told += &line,
                Err(_) => panic!("no further {what:?} in\n{}", self.told),
            }
            if self
                .told
                .lines()
                .next_back()
                .is_some_and(|it| it.contains(what))
            {
                return;
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("process ids are positive i32");
        kill_process(Pid::from_raw(pid).expect("a process id"), signal).expect("it still runs");
    }

    /// Asserts that it has not ended.
    pub(crate) fn assert_running(&mut self) {
        let ended = self.child.try_wait().expect("a child can be asked");
        assert!(
            ended.is_none(),
            "it ended with {ended:?}:\n{}",
            self.stderr()
        );
    }

    /// Waits for the end.
    pub(crate) fn wait(self) -> Ended {
        // Stdout is held until the end, so that the binary can still write to it.
        let Self {
            leash,
            mut child,
            stdout: _stdout,
            stderr,
            mut told,
        } = self;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(child.wait()));
        let Ok(status) = receiver.recv_timeout(TIMEOUT) else {
            told.extend(stderr.try_iter());
            panic!("still running; stderr:\n{told}")
        };
        told.extend(stderr.iter());
        let code = status.expect("a child can be waited for").code();
        Ended {
            code,
            stderr: told,
            leash,
        }
    }
}

/// A `pathline up` that is stopped in order when it is dropped, also when a test fails.
///
/// The commands that it runs lead process groups of its own, which only Pathline ends.
pub(crate) struct StoppedOnDrop(Option<Running>);

impl StoppedOnDrop {
    pub(crate) fn new(running: Running) -> Self {
        Self(Some(running))
    }
}

impl Drop for StoppedOnDrop {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.signal(Signal::TERM);
            running.wait();
        }
    }
}

/// Passes lines on as they come, so that nobody has to look for them again and again.
fn lines(stderr: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if sender.send(line + "\n").is_err() {
                break;
            }
        }
    });
    receiver
}
