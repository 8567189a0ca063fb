//! A program at the other end: the server's side of git, on this machine or behind ssh.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use gix::url::{ArgumentSafety, Scheme};
use pathline_clock::instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::guard::{Guard, timed_out};
use super::{Service, Version};
use crate::SECRET_VARIABLES;

/// The most bytes of stderr that are kept: as many as help.
const MAX_STDERR_BYTES: usize = 2000;
/// The bytes that a pipe takes at once when it takes any (`PIPE_BUF` of POSIX is 512 or more).
const PIPE_BYTES: usize = 512;
/// The time-out for a program to exit by itself when its output is not wanted any more.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The variables that tell git where a repository is: those of this program are not meant.
const LOCAL_VARIABLES: [&str; 13] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PROTOCOL",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// A running program, with all that it started. It is ended when this is dropped.
pub(in crate::git) struct Process {
    pipes: BufReader<Pipes>,
    child: Child,
}

impl Process {
    /// Starts the service for a `file://` or `ssh://` URL.
    pub(super) fn start(
        url: &gix::Url,
        service: Service,
        version: Version,
        guard: Rc<Guard>,
    ) -> io::Result<Self> {
        let mut command = match url.scheme {
            Scheme::Ssh => over_ssh(url, service)?,
            _ => on_this_machine(url, service),
        };
        for name in LOCAL_VARIABLES.into_iter().chain(SECRET_VARIABLES) {
            command.env_remove(name);
        }
        if version == Version::V2 {
            command.env("GIT_PROTOCOL", "version=2");
        }
        // A group of its own, so that what it starts ends with it.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|failed| {
                let program = command.get_program().display();
                io::Error::new(failed.kind(), format!("cannot start `{program}`: {failed}"))
            })?;
        let pipes = Pipes {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().expect("it is piped"),
            stderr: child.stderr.take(),
            stderr_text: Vec::new(),
            guard,
        };
        let pipes = BufReader::with_capacity(64 << 10, pipes);
        Ok(Self { pipes, child })
    }

    /// Gives the program a moment to end by itself.
    pub(super) fn finish(mut self) {
        self.pipes.get_mut().close();
    }

    /// Sends a request.
    pub(super) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.pipes.get_mut().write_all(request)
    }
}

impl Read for Process {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pipes.read(buffer)
    }
}

impl BufRead for Process {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.pipes.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.pipes.consume(count);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It was not waited for yet, so its number cannot be another one's.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// The three pipes of a program. None of them is ever waited for beyond the deadline.
struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    stderr_text: Vec<u8>,
    guard: Rc<Guard>,
}

impl Pipes {
    /// Ends the input and waits for the end of the output, for a moment.
    fn close(&mut self) {
        self.stdin = None;
        let mut rest = [0; 4096];
        let end = instant() + self.guard.remaining().unwrap_or_default().min(EXIT_TIMEOUT);
        while let Some(left) = end.checked_duration_since(instant())
            && let Ok(true) = wait_for(&[(self.stdout.as_fd(), PollFlags::IN)], left)
            && let Ok(1..) = self.stdout.read(&mut rest)
        {}
    }

    /// Keeps the beginning of what the program complains about.
    fn read_stderr(&mut self) -> io::Result<()> {
        let Some(stderr) = &mut self.stderr else {
            return Ok(());
        };
        if !wait_for(&[(stderr.as_fd(), PollFlags::IN)], Duration::ZERO)? {
            return Ok(());
        }
        let mut buffer = [0; 4096];
        let count = stderr.read(&mut buffer)?;
        let room = MAX_STDERR_BYTES - self.stderr_text.len();
        self.stderr_text
            .extend_from_slice(&buffer[..count.min(room)]);
        if count == 0 {
            self.stderr = None;
        }
        Ok(())
    }

    /// Explains why there is no more to read.
    fn ended(&mut self) -> io::Error {
        let end = instant() + self.guard.remaining().unwrap_or_default().min(EXIT_TIMEOUT);
        while let Some(left) = end.checked_duration_since(instant())
            && let Some(stderr) = &self.stderr
            && let Ok(true) = wait_for(&[(stderr.as_fd(), PollFlags::IN)], left)
            && self.read_stderr().is_ok()
            && self.stderr_text.len() < MAX_STDERR_BYTES
        {}
        let said = String::from_utf8_lossy(&self.stderr_text);
        let said = said.trim().replace('\n', "; ");
        let told = match said.as_str() {
            "" => "the connection was closed".to_owned(),
            said => format!("the connection was closed: {said}"),
        };
        io::Error::new(io::ErrorKind::UnexpectedEof, told)
    }
}

impl Read for Pipes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.guard.remaining()?;
            let mut wanted = vec![(self.stdout.as_fd(), PollFlags::IN)];
            wanted.extend(self.stderr.iter().map(|it| (it.as_fd(), PollFlags::IN)));
            if !wait_for(&wanted, left)? {
                return Err(timed_out());
            }
            self.read_stderr()?;
            if wait_for(&[(self.stdout.as_fd(), PollFlags::IN)], Duration::ZERO)? {
                let count = self.stdout.read(buffer)?;
                self.guard.spend(count)?;
                return if count > 0 {
                    Ok(count)
                } else {
                    Err(self.ended())
                };
            }
        }
    }
}

impl Write for Pipes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let left = self.guard.remaining()?;
            let Some(input) = &self.stdin else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            let mut wanted = vec![(input.as_fd(), PollFlags::OUT)];
            wanted.extend(self.stderr.iter().map(|it| (it.as_fd(), PollFlags::IN)));
            if !wait_for(&wanted, left)? {
                return Err(timed_out());
            }
            if wait_for(&[(input.as_fd(), PollFlags::OUT)], Duration::ZERO)? {
                let piece = &bytes[..bytes.len().min(PIPE_BYTES)];
                let written = self.stdin.as_mut().map(|it| it.write(piece));
                return match written {
                    Some(Err(failed)) if failed.kind() == io::ErrorKind::BrokenPipe => {
                        Err(self.ended())
                    }
                    other => other.unwrap_or(Ok(0)),
                };
            }
            self.read_stderr()?;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until one of the pipes is ready, and tells whether one is.
fn wait_for(pipes: &[(BorrowedFd<'_>, PollFlags)], timeout: Duration) -> io::Result<bool> {
    let end = instant() + timeout;
    let mut pipes: Vec<_> = pipes
        .iter()
        .map(|(pipe, what)| PollFd::from_borrowed_fd(*pipe, *what))
        .collect();
    loop {
        let left = end.saturating_duration_since(instant());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut pipes, Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(failed) => return Err(failed.into()),
        }
    }
}

fn on_this_machine(url: &gix::Url, service: Service) -> Command {
    let mut command = Command::new("git");
    command
        .arg(service.command())
        .arg(std::ffi::OsStr::from_bytes(&url.path));
    command
}

/// Nobody is asked for a password, and ssh gives up rather than hang.
fn over_ssh(url: &gix::Url, service: Service) -> io::Result<Command> {
    let refused = |what| io::Error::other(format!("the {what} looks like an option of ssh"));
    let ArgumentSafety::Usable(host) = url.host_as_argument() else {
        return Err(refused("host"));
    };
    let destination = match url.user_as_argument() {
        ArgumentSafety::Usable(user) => format!("{user}@{host}"),
        ArgumentSafety::Absent => host.to_owned(),
        ArgumentSafety::Dangerous(_) => return Err(refused("user")),
    };
    let path = gix::url::expand_path::for_shell(url.path.clone());
    if path.starts_with(b"-") {
        return Err(refused("path"));
    }
    let mut command = Command::new("ssh");
    command
        .args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=20"])
        .args(["-o", "ServerAliveInterval=20", "-o", "SendEnv=GIT_PROTOCOL"])
        .envs([("LANG", "C"), ("LC_ALL", "C")]);
    if let Some(port) = url.port {
        command.args(["-p", &port.to_string()]);
    }
    command.args([&destination, service.name()]);
    command.arg(std::ffi::OsStr::from_bytes(&gix::quote::single(
        path.as_ref(),
    )));
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the arguments of ssh, after the options that are always the same.
    fn arguments(url: &str) -> io::Result<Vec<String>> {
        let url = gix::url::parse(url).map_err(io::Error::other)?;
        let command = over_ssh(&url, Service::ReceivePack)?;
        let arguments = command
            .get_args()
            .map(|it| it.to_string_lossy().into_owned());
        let all: Vec<_> = arguments.collect();
        assert_eq!(all[..2], ["-o", "BatchMode=yes"], "nobody is asked");
        Ok(all[8..].to_vec())
    }

    #[test]
    fn ssh_is_told_user_host_port_and_quoted_path() -> io::Result<()> {
        let service = "git-receive-pack";
        for (url, expected) in [
            (
                "ssh://example.org/a.git",
                &["example.org", service, "'/a.git'"][..],
            ),
            (
                "git@example.org:a/b",
                &["git@example.org", service, "'a/b'"],
            ),
            (
                "ssh://example.org/it's",
                &["example.org", service, "'/it'\\''s'"],
            ),
            (
                "example.org:a;b $(c)",
                &["example.org", service, "'a;b $(c)'"],
            ),
            (
                "ssh://example.org/~me/a",
                &["example.org", service, "'~me/a'"],
            ),
            (
                "ssh://git@example.org:2222/a",
                &["-p", "2222", "git@example.org", service, "'/a'"],
            ),
        ] {
            assert_eq!(arguments(url)?, expected, "{url}");
        }
        Ok(())
    }

    #[test]
    fn url_cannot_pass_options_to_ssh() {
        for url in [
            "ssh://-oProxyCommand=date/a",
            "ssh://-oProxyCommand=date@example.org/a",
            "example.org:-a",
            "-oProxyCommand=date:a",
        ] {
            assert!(arguments(url).is_err(), "{url}");
        }
    }
}
