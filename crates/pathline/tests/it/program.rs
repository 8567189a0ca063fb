//! Running the binary under test, so that nothing of it outlives the test.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pathline_testkit::Leash;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Far longer than anything here takes; only a hang is cut off by it.
const PATIENCE: Duration = Duration::from_secs(240);

/// Returns the binary, undisturbed by settings of whoever runs the tests.
pub(crate) fn pathline() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pathline"));
    for variable in ["DATA_DIR", "LISTEN", "KUBE_LISTEN", "CONFIG", "LOG"] {
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
        let directory = leash.directory().to_owned();
        let stderr = File::create(directory.join("stderr")).expect("a file for stderr");
        let temporary = directory.join("tmp");
        fs::create_dir_all(&temporary).expect("a directory for temporary files");
        let mut command = pathline();
        command
            .args(arguments)
            .current_dir(&directory)
            .env("TMPDIR", temporary);
        command.stdout(Stdio::piped()).stderr(stderr);
        let mut child = leash.spawn(&mut command).expect("the binary starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout was asked to be a pipe"));
        Self {
            leash,
            child,
            stdout,
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

    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.directory().join("stderr")).expect("stderr is text")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until stderr says something.
    pub(crate) fn wait_for_stderr(&self, what: &str) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while !self.stderr().contains(what) {
            assert!(
                std::time::Instant::now() < deadline,
                "no {what:?} in\n{}",
                self.stderr()
            );
            thread::yield_now();
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("process ids are positive i32");
        kill_process(Pid::from_raw(pid).expect("a process id"), signal).expect("it still runs");
    }

    /// Waits for the end, and returns how it ended and what is left of it.
    pub(crate) fn wait(self) -> (ExitStatus, Leash) {
        let Self {
            leash,
            mut child,
            stdout,
        } = self;
        // Held until the end, so that the binary can still write to it.
        let _stdout = stdout;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(child.wait()));
        match receiver.recv_timeout(PATIENCE) {
            Ok(status) => (status.expect("a child can be waited for"), leash),
            Err(_) => {
                let stderr = fs::read_to_string(leash.directory().join("stderr"));
                panic!("still running; stderr:\n{}", stderr.unwrap_or_default())
            }
        }
    }
}
